// The rules that a value program obeys before and after every pass.
#pragma once

#include "compiler/ValueIr.hpp"

#include <string>

namespace poplar::compiler {

// Throws support::InternalError, naming `pass`, the node and the rule, when the
// program breaks one:
// - a value is defined once, before it is read, by a node around or before the
//   reader; nothing of its storage class is defined in between;
// - windows lie inside their values; with a layout they are the whole value;
// - kernels' results have the types that their kind infers;
// - copies keep the shape and the element size; streams are contiguous;
// - what a loop carries is defined in its body.
void verify(ValueProgram &program, const std::string &pass);

} // namespace poplar::compiler
