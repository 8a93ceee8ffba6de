// Does a compiled program fit the tiles? The policy behind the documented
// out-of-memory error and the variable ASPEN_MEMORY.
#pragma once

#include "model/MemoryOptions.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <string>
#include <vector>

namespace poplar::model {

enum class MemoryVerdict { Fits, Warning, OutOfMemory };

struct MemoryCheck {
  MemoryVerdict verdict = MemoryVerdict::Fits;
  // Empty when it fits; otherwise the text of the warning or of the error: the
  // fullest tile, its bytes, the limit and how to run anyway.
  std::string message;
};

// Over 125 % of a tile, or of the part that may hold code, is out of memory,
// 100-125 % a warning. `policy` is the value of ASPEN_MEMORY: "warn" makes both
// a warning, "strict" both an error, anything else is the default. Only
// TargetKind::Ipu is checked: the model device and the CPU always fit.
MemoryCheck checkMemory(const internal::GraphData &graph,
                        const std::vector<internal::ProgramPtr> &programs,
                        const MemoryOptions &options,
                        const std::string &policy);

// The same with the policy of this process' environment.
MemoryCheck checkMemory(const internal::GraphData &graph,
                        const std::vector<internal::ProgramPtr> &programs,
                        const MemoryOptions &options);

} // namespace poplar::model
