// Halves as the floating-point control asks for them: rounded stochastically,
// and limited or turned into NaN where they overflow.
#pragma once

#include <poplar/internal/GraphData.hpp>

#include <cstdint>

namespace poplar::compiler {

// Whether programs of the graph set the floating-point control. All others have
// halves rounded to nearest, and infinities where they overflow, unless
// roundHalves() is asked to do otherwise.
bool hasFloatControl(const internal::GraphData &graph);

// Replaces each library operation with results in half by the same operation in
// float, whose results are rounded by what the control says when it runs; an
// expression is taken apart, since each of its operators rounds. The groups
// follow each other in the compute set that had the operation. Vertices of
// users are left alone. Rounding starts as stochastic, or to nearest.
void roundHalves(internal::GraphData &graph, bool startsStochastic);

} // namespace poplar::compiler
