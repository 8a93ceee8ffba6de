// Checks of user vertices: their slots must fit the fields of their types,
// because the engine fills C++ objects from them.
#pragma once

#include "executable/CheckViews.hpp"

namespace poplar::executable {

void checkSlots(const internal::GraphData &graph,
                const CheckedVariables &variables, std::uint64_t tiles);

} // namespace poplar::executable
