// The C++ classes of built-in operators (popart/op/): which one an operation of
// the IR is an object of.
#pragma once

#include <popart/op.hpp>

#include <memory>

namespace popart {

// Of the class that the table of OpClasses.cpp has for the operator; of Op
// itself where it has none.
std::unique_ptr<Op> makeOpOfClass(const IrOperation &operation);

} // namespace popart
