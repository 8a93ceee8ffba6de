// The machine that a graph is built for: tiles, memory, clock and the figures
// that planners read. A value; cheap to copy.
#pragma once

#include <poplar/OptionFlags.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/TargetType.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <cstdint>
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

  // A host CPU: one tile, one worker context and no memory limit per IPU.
  static Target createCPUTarget(bool accurateHalf = false,
                                unsigned numIPUs = 1);
  // IPU hardware, by the name of its architecture: "ipu1", "ipu2", "ipu21".
  static Target createIPUTarget(unsigned numIPUs, StringRef systemOrArch,
                                const OptionFlags &options = {});
  static Target createIPUTarget(unsigned numIPUs, unsigned tilesPerIPU,
                                StringRef systemOrArch,
                                const OptionFlags &options = {});
  // The same machine with fewer IPUs or tiles.
  Target createVirtualTarget(unsigned numIPUs, unsigned tilesPerIPU) const;

  TargetType getTargetType() const;
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

  unsigned getFp16InFp16OutConvUnitsPerTile() const;
  unsigned getFp16InFp32OutConvUnitsPerTile() const;
  unsigned getFp32InFp32OutConvUnitsPerTile() const;
  unsigned getFp16ConvUnitMaxPipelineDepth() const;
  unsigned getFp32ConvUnitMaxPipelineDepth() const;
  unsigned getConvUnitCoeffLoadBytesPerCycle() const;

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
