// A step of the machine: what a leaf of the program tree becomes before it is
// priced. Copies and host transfers use the vertex groups' runs of tiles too.
#pragma once

#include "model/Collectives.hpp"
#include <poplar/internal/VertexGroup.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace poplar::model {

enum class StepKind : std::uint8_t {
  Execute,        // exchange, then vertices
  Exchange,       // a copy between tiles of one IPU, or inside tiles
  GlobalExchange, // a copy between IPUs
  HostToDevice,
  DeviceToHost,
  RemoteToDevice, // from a remote buffer
  DeviceToRemote,
  Sync,       // of the tiles of each IPU, without data
  GlobalSync, // of all IPUs, without data
};

// The tiles of an IPU that a step occupies: those that compute, those that only
// move data (TransferTiles.hpp), or all. Each sort has a clock of its own.
enum class Lane : std::uint8_t { Compute, Transfer, Both };

// Bytes that one IPU sends to another.
struct IpuFlow {
  unsigned from = 0;
  unsigned to = 0;
  std::uint64_t bytes = 0;
};

// What a step costs one IPU, in cycles. Durations are those of the slowest
// tile; the sums run over the IPU's tiles.
struct IpuStepCost {
  unsigned ipu = 0;
  std::uint64_t exchange = 0;
  std::uint64_t compute = 0;
  std::uint64_t globalExchange = 0;
  std::uint64_t hostExchange = 0;
  std::uint64_t control = 0;
  std::uint64_t tileExchange = 0; // sum
  std::uint64_t tileCompute = 0;  // sum, idle worker contexts included
  std::uint64_t threadCycles = 0; // sum, idle worker contexts excluded
  std::uint64_t bytes = 0;        // sum received, or sent to the host
  std::uint64_t maxTileBytes = 0;
  unsigned computeTiles = 0;  // tiles with vertices
  unsigned exchangeTiles = 0; // tiles that send or receive
};

struct Step {
  StepKind kind = StepKind::Execute;
  Lane lane = Lane::Compute;
  std::size_t id = 0; // counted over the program, for tables beside the steps
  std::string name;
  std::vector<const internal::TileRun *> runs;
  std::vector<internal::TileRun> ownRuns; // what `runs` points to, for copies
  std::vector<IpuFlow> flows;             // of a GlobalExchange
  // Of a GlobalExchange that stands for all rounds of a collective: what they
  // cost together.
  std::optional<CollectiveCost> collective;
  std::uint64_t controlCycles = 0; // of each IPU taking part
  std::uint64_t waitCycles = 0;    // of a transfer, for the host
  bool isRearrangement = false;    // of a stream copy
  std::vector<IpuStepCost> costs;  // one per IPU taking part, ascending

  Step() = default;
  Step(Step &&) = default;
  Step &operator=(Step &&) = default;

  bool isCopy() const {
    return kind == StepKind::Exchange || kind == StepKind::GlobalExchange;
  }
  bool isHostTransfer() const {
    return kind == StepKind::HostToDevice || kind == StepKind::DeviceToHost;
  }
  bool isRemoteTransfer() const {
    return kind == StepKind::RemoteToDevice || kind == StepKind::DeviceToRemote;
  }
  bool isToTiles() const {
    return kind != StepKind::DeviceToHost && kind != StepKind::DeviceToRemote;
  }
  // All IPUs that take part wait for each other.
  bool isGlobal() const {
    return kind == StepKind::GlobalExchange || kind == StepKind::GlobalSync;
  }
  void pointToOwnRuns() {
    for (const internal::TileRun &run : ownRuns) {
      runs.push_back(&run);
    }
  }
};

} // namespace poplar::model
