// The IPU Model: a device described by the fields below, all of which may be
// changed before createDevice().
#pragma once

#include <poplar/Device.hpp>
#include <poplar/OptionFlags.hpp>

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

namespace poplar {

struct IPUModel {
  enum class RelativeSyncDelayType {
    AUTO,     // tiles further from the controller wait longer
    NO_DELAY, // every tile as the nearest one
  };

  // "ipu1", "ipu2" or "ipu21"; sets the fields to that architecture's figures.
  // Throws invalid_machine_model for any other.
  explicit IPUModel(const char *IPUVersion = "ipu2");

  // Halves are always 16-bit, whatever `accurateHalf`.
  Device createDevice(OptionFlags options = {}, bool accurateHalf = false,
                      unsigned deviceManagerId = UINT_MAX) const;

  bool operator==(const IPUModel &other) const;
  bool operator!=(const IPUModel &other) const { return !(*this == other); }

  std::string IPUVersion; // fixed at construction
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
};

} // namespace poplar
