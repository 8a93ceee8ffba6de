// A variable of all seeds, and programs that copy it to the tiles and back.
#include <lowering/RngState.hpp>

#include <poplar/RandomSeed.hpp>

namespace popart {

using poplar::program::Sequence;

RngPrograms addRngState(poplar::Graph &graph) {
  Sequence toHost("rngStateToHost");
  poplar::Tensor seeds = poplar::getHwSeeds(graph, toHost, rngStateHandle);
  poplar::Tensor state = graph.clone(seeds, rngStateHandle);
  toHost.add(poplar::program::Copy(seeds, state));
  graph.createHostRead(rngStateHandle, state);
  graph.createHostWrite(rngStateHandle, state);
  Sequence fromHost("rngStateFromHost");
  poplar::setHwSeeds(graph, state, fromHost, rngStateHandle);
  return {toHost, fromHost};
}

} // namespace popart
