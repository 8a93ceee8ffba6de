// The steps of a program as an indented tree.
#pragma once

#include "model/StepTable.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace poplar::profile {

// `overlaps`: cycles of each step, by id, that pass while an earlier one runs.
void printSteps(std::ostream &stream, const internal::ProgramPtr &program,
                model::StepTable &steps,
                const std::vector<std::uint64_t> &overlaps);

} // namespace poplar::profile
