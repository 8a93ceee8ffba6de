// How often programs whose course depends on data, or on the host, took which
// way. The engine counts it as they run; where nothing was counted, the model
// assumes (docs/model.md).
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace poplar::model {

struct PartCounts {
  std::uint64_t runs = 0; // of the node itself
  // Runs of its parts, over all those runs. While, endless Repeat: the body.
  // If: then, else. Switch: the cases in order, then the default. StreamIn: the
  // transfers that found nothing prefetched.
  std::vector<std::uint64_t> parts;

  void add(const PartCounts &other) {
    runs += other.runs;
    parts.resize(std::max(parts.size(), other.parts.size()));
    for (std::size_t i = 0; i < other.parts.size(); ++i) {
      parts[i] += other.parts[i];
    }
  }
};

using ProgramCounts =
    std::unordered_map<const internal::ProgramNode *, PartCounts>;

} // namespace poplar::model
