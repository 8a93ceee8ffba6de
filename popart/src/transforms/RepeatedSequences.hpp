// Stretches that occur more than once in a list of numbers: what outlining
// looks for in a schedule.
#pragma once

#include <cstddef>
#include <vector>

namespace popart {

struct RepeatedSequence {
  std::size_t length = 0;
  std::vector<std::size_t> positions; // ascending; they may overlap
};

// The stretches that occur at least twice, each as long as it can be for the
// places where it occurs. In time of n log^2 n for stretches that occur a few
// times each.
std::vector<RepeatedSequence>
findRepeatedSequences(const std::vector<int> &text);

} // namespace popart
