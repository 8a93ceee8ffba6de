// Plans as text, for programs that ask how their products are cut.
#pragma once

#include <poplin/internal/ConvPlan.hpp>

#include <iosfwd>

namespace poplin::internal {

void printPlan(std::ostream &out, const ConvPlan &plan);

} // namespace poplin::internal
