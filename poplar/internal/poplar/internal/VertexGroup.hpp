// INTERFACE: the descriptor. A library operation is one vertex group: what is
// computed (kind, attributes, operand views) and how the machine spreads it
// over tiles (phases). PopLibs writes it, the engine runs it, the model prices
// it.
#pragma once

#include <kernels/Kind.hpp>
#include <poplar/internal/TensorView.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace poplar::internal {

// Vertices of one type on each tile of a run.
struct VertexUse {
  std::string
      type; // as profiles show it, e.g. "poplin::ReduceAdd<float,float>"
  std::uint32_t count = 0;   // per tile
  std::uint64_t cycles = 0;  // of each: tile cycles if isSupervisor, else the
                             // worker cycles of one context
  bool isSupervisor = false; // SupervisorVertex and MultiVertex: one after
                             // another; others share the worker contexts
  std::uint32_t edges = 0;   // per vertex
  std::uint32_t stateBytes = 0; // per vertex
  std::uint32_t codeBytes = 0;  // once per tile and type
  std::uint64_t flops = 0;      // per vertex
};

// What each of `tileCount` consecutive tiles does in a phase. Tiles are
// numbered over the whole graph (tile of IPU i = i * tilesPerIPU + t).
struct TileRun {
  unsigned firstTile = 0;
  unsigned tileCount = 0;
  // Bytes that come from, and go to, other tiles before the vertices run, and
  // the contiguous pieces they come in.
  std::uint64_t bytesIn = 0;
  std::uint64_t bytesOut = 0;
  std::uint32_t fragmentsIn = 0;
  std::uint32_t fragmentsOut = 0;
  // Both tiles of a shared bus take the same data: they receive twice as fast.
  bool isBusShared = false;
  // Bytes only alive in this phase: exchange landing buffers, partials.
  std::uint64_t temporaryBytes = 0;
  std::vector<VertexUse> vertices;
};

// One superstep: an exchange, then the vertices of every run. Phases of a group
// follow each other; equal phases of the groups of a compute set run together.
struct GroupPhase {
  std::string name; // appended to the group's debug path, e.g. "Reduce"
  std::vector<TileRun> runs;
};

struct VertexGroup {
  const kernels::Kind *kind = nullptr;
  kernels::Attributes attributes;
  std::vector<TensorView> inputs;
  // Every element of an output view is written. An output that the kind updates
  // in place is also an input, with the same view.
  std::vector<TensorView> outputs;
  std::vector<GroupPhase> phases;
  std::string debugPath;
};

} // namespace poplar::internal
