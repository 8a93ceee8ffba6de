// The machine that a graph is built for: tiles, memory, clock and the figures
// that planners read. A value; cheap to copy.
#pragma once

#include <poplar/IpuLinkConfiguration.hpp>
#include <poplar/IpuLinkTopology.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/TargetType.hpp>
#include <poplar/Type.hpp>
#include <poplar/TypeConversion.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace poplar {

namespace internal {
struct Access;
struct TargetData;
} // namespace internal

class Target {
public:
  Target() = default;
  // Reads what serialize() wrote; throws poplar_error for anything else.
  explicit Target(std::istream &stream);
  void serialize(std::ostream &stream) const;

  // A host CPU: one tile, one worker context and no memory limit per IPU.
  static Target createCPUTarget(bool accurateHalf = false,
                                unsigned numIPUs = 1);
  // IPU hardware: a whole system, by name ("bow-pod16"), or `numIPUs` of it or
  // of an architecture ("ipu1", "ipu2", "ipu21"). Options, over which the
  // environment variable POPLAR_TARGET_OPTIONS goes: gatewayMode,
  // instanceSize, ipuLinkConfiguration, ipuLinkDomainSize, ipuLinkTopology,
  // syncConfiguration.
  static Target createIPUTarget(StringRef system,
                                const OptionFlags &options = {});
  static Target createIPUTarget(unsigned numIPUs, StringRef systemOrArch,
                                const OptionFlags &options = {});
  static Target createIPUTarget(unsigned numIPUs, unsigned tilesPerIPU,
                                StringRef systemOrArch,
                                const OptionFlags &options = {});
  // The same machine with fewer IPUs or tiles.
  Target createVirtualTarget(unsigned numIPUs, unsigned tilesPerIPU) const;

  TargetType getTargetType() const;
  // The name of the system, or of the architecture if no system was named.
  StringRef getTargetSystemString() const;
  StringRef getTargetArchString() const;
  unsigned getNumIPUs() const;
  unsigned getTilesPerIPU() const;
  unsigned getNumTiles() const;
  unsigned getNumWorkerContexts() const;
  unsigned getBytesPerTile() const;
  std::uint64_t getMemoryBytes() const;
  double getTileClockFrequency() const; // Hz

  unsigned getExchangeBytesPerCycle() const;
  unsigned getMemcpyBytesPerCycle() const;
  unsigned getMinIPUSyncDelay() const;
  unsigned getMaxIPUSyncDelay() const;
  unsigned getGlobalSyncCycles() const;
  unsigned getTilesPerSharedExchangeBus() const;
  bool supportsExchangeBusSharing() const;

  unsigned getTypeSize(const Type &type) const;
  unsigned getVectorWidth(const Type &type) const;
  unsigned getFloatVectorWidth() const;
  unsigned getHalfVectorWidth() const;
  unsigned getQuarterVectorWidth() const;
  unsigned getDataPathWidth() const; // bits
  unsigned getAtomicStoreGranularity() const;
  unsigned getNumStrideBits() const;
  unsigned getRptCountMax() const;
  std::vector<std::size_t> getMemoryElementOffsets() const;
  unsigned getInterleavedMemoryElementIndex() const;

  // The units for convolutions and matrix products. 0 units: these types are
  // not supported.
  unsigned getFp16InFp16OutConvUnitsPerTile() const;
  unsigned getFp16InFp32OutConvUnitsPerTile() const;
  unsigned getFp32InFp32OutConvUnitsPerTile() const;
  unsigned getFp16ConvUnitMaxPipelineDepth() const;
  unsigned getFp32ConvUnitMaxPipelineDepth() const;
  unsigned getFp16ConvUnitInputLoadElemsPerCycle() const;
  unsigned getFp32ConvUnitInputLoadElemsPerCycle() const;
  unsigned getNumConvUnits(const Type &activationType,
                           const Type &partialsType) const;
  unsigned getWeightsPerConvUnit(const Type &activationType) const;
  unsigned getConvUnitInputLoadElemsPerCycle(const Type &activationType) const;
  unsigned getConvUnitMaxPipelineDepth(const Type &partialsType) const;
  unsigned getConvUnitCoeffLoadBytesPerCycle() const;

  // Where tiles meet the host: exchange blocks (XB) of several contexts, each
  // of which serves a run of tiles.
  unsigned getNumTilesPerXBContext() const;
  unsigned getNumContextsPerXB() const;
  unsigned getTileHostExchangeXB(unsigned tile) const;

  // The system that the IPUs are part of.
  IpuLinkConfiguration getIpuLinkConfiguration() const;
  IpuLinkTopology getIpuLinkTopology() const;
  unsigned getIpuLinkDomainSize() const; // IPUs
  unsigned getInstanceSize() const;      // IPUs of one process
  bool getGatewayMode() const;

  // The register that says which floating point events stop a tile: invalid
  // operation, division by zero, overflow; then stochastic rounding, and NaN
  // instead of the largest value on overflow.
  unsigned makeFpIctlValue(bool inv, bool div0, bool oflo, bool esr,
                           bool nanoo) const;
  unsigned getFpIctlRegIndex() const;
  unsigned getDbgDataRegIndex() const;

  // The largest and the lowest value of a type as an arithmetic C++ type T.
  // Throws poplar_error if T cannot represent it exactly.
  template <typename T> T getTypeLimitsMaxAs(const Type &type) const;
  template <typename T> T getTypeLimitsLowestAs(const Type &type) const;

  std::size_t hash() const;

  friend bool operator==(const Target &a, const Target &b) {
    return a.isSame(b);
  }
  friend bool operator!=(const Target &a, const Target &b) { return !(a == b); }
  friend bool operator<(const Target &a, const Target &b) {
    return a.isLess(b);
  }

private:
  friend struct internal::Access;
  explicit Target(std::shared_ptr<const internal::TargetData> data)
      : data_(std::move(data)) {}
  const internal::TargetData &data() const;
  bool isSame(const Target &other) const;
  bool isLess(const Target &other) const;

  std::shared_ptr<const internal::TargetData> data_;
};

} // namespace poplar
