// How often programs whose course depends on data took which way. An executor
// may count it; where it has not, the model assumes (docs/model.md).
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace poplar::model {

struct PartCounts {
  std::uint64_t runs = 0; // of the node itself
  // Runs of its parts, over all those runs. While, endless Repeat: the body.
  // If: then, else. Switch: the cases in order, then the default.
  std::vector<std::uint64_t> parts;
};

using ProgramCounts =
    std::unordered_map<const internal::ProgramNode *, PartCounts>;

} // namespace poplar::model
