#include "engine/RunCounts.hpp"

#include "program/VisitPrograms.hpp"

namespace poplar::engine {

void RunCounts::collect(Executor &executor, HostStreams &streams) {
  for (const auto &[node, counts] : executor.takeCounts()) {
    const auto origin = origins_.find(node);
    programs_[origin == origins_.end() ? node : origin->second].add(counts);
  }
  for (const auto &[handle, counts] : streams.takeCounts()) {
    streams_[handle].add(counts);
  }
}

void RunCounts::clear() {
  programs_.clear();
  streams_.clear();
}

model::ProgramCounts
RunCounts::of(const internal::GraphData &graph,
              const std::vector<internal::ProgramPtr> &programs) const {
  model::ProgramCounts result = programs_;
  for (const internal::ProgramPtr &program : programs) {
    internal::forEachNode(
        graph, program, [&](const internal::ProgramNode &node) {
          if (const auto *in = std::get_if<internal::StreamInNode>(&node.op)) {
            const auto found =
                streams_.find(graph.streams[in->stream.index()].handle);
            if (found != streams_.end()) {
              result[&node] = found->second;
            }
          }
        });
  }
  return result;
}

} // namespace poplar::engine
