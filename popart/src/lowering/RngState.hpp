// The state of the tiles' random number generators, for the host.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popart {

// The host's handle for it.
constexpr const char *rngStateHandle = "rngState___";

struct RngPrograms {
  poplar::program::Program toHost;   // before the host reads it
  poplar::program::Program fromHost; // after the host wrote it
};

RngPrograms addRngState(poplar::Graph &graph);

} // namespace popart
