// The IPU Model: a device described by the fields below, all of which may be
// changed before createDevice().
#pragma once

#include <poplar/Device.hpp>
#include <poplar/OptionFlags.hpp>

#include <climits>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace poplar {

namespace internal {
struct TargetData;
} // namespace internal

struct IPUModel {
  enum class RelativeSyncDelayType {
    AUTO,     // tiles further from the controller wait longer
    NO_DELAY, // every tile as the nearest one
  };

  // "ipu1", "ipu2" or "ipu21", or "ipu:" and a system or the path of its file,
  // whose chip is modelled; sets the fields to the chip's figures. Throws
  // invalid_machine_model for any other.
  explicit IPUModel(const char *IPUVersion = "ipu2");

  // Halves are always 16-bit, whatever `accurateHalf`.
  Device createDevice(OptionFlags options = {}, bool accurateHalf = false,
                      unsigned deviceManagerId = UINT_MAX) const;

  bool operator==(const IPUModel &other) const;
  bool operator!=(const IPUModel &other) const { return !(*this == other); }

  std::string IPUVersion; // changing it later changes nothing
  unsigned numIPUs;
  unsigned tilesPerIPU;
  RelativeSyncDelayType relativeSyncDelay;
  unsigned minIPUSyncDelay; // cycles
  unsigned globalSyncCycles;
  unsigned numWorkerContexts;
  unsigned memoryBytesPerTile;
  double tileClockFrequency; // Hz
  unsigned exchangeBytesPerCycle;
  unsigned memcpyBytesPerCycle;
  unsigned tilesPerSharedExchangeBus;
  unsigned dataPathWidth; // bits
  unsigned numStrideBits;
  unsigned interleavedMemoryElementIndex;
  std::vector<std::size_t> memoryElementOffsets;
  // Kept for programs that set it: code sizes are always estimated.
  bool compileIPUCode;

private:
  // What the fields leave out, as it was at construction.
  std::shared_ptr<const internal::TargetData> chip_;
};

} // namespace poplar
