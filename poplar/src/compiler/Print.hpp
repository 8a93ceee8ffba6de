// Value programs as text, for dumps and tests.
#pragma once

#include "compiler/ValueIr.hpp"

#include <string>

namespace poplar::compiler {

std::string toString(const ValueProgram &program);

} // namespace poplar::compiler
