// What was counted of an engine's runs: which way control went where it depends
// on data, and which stream transfers the host had not prefetched. The model
// prices programs by it.
#pragma once

#include "engine/Executor.hpp"
#include "engine/HostStreams.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace poplar::engine {

class RunCounts {
public:
  // Programs that are run by what they were made from; those that are not in it
  // are as the user wrote them.
  using Origins = std::unordered_map<const internal::ProgramNode *,
                                     const internal::ProgramNode *>;

  void setOrigins(Origins origins) { origins_ = std::move(origins); }

  // Adds what was counted since the last call.
  void collect(Executor &executor, HostStreams &streams);
  void clear();

  // For the programs that the model prices: where they are not those that ran,
  // only streams are the same, by their handles.
  model::ProgramCounts
  of(const internal::GraphData &graph,
     const std::vector<internal::ProgramPtr> &programs) const;

private:
  Origins origins_;
  model::ProgramCounts programs_;
  std::map<std::string, model::PartCounts> streams_; // by handle
};

} // namespace poplar::engine
