// The counters that instrumented programs keep on tiles.
#pragma once

#include "model/MemoryOptions.hpp"
#include "model/MemorySums.hpp"
#include "model/StepTable.hpp"

#include <vector>

namespace poplar::model {

void addInstrumentation(StepTable &steps,
                        const std::vector<internal::ProgramPtr> &programs,
                        const MemoryOptions &options, MemorySums &sums);

} // namespace poplar::model
