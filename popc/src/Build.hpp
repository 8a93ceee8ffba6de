// From the inputs of a command line to the file that it asks for.
#pragma once

#include "Options.hpp"

namespace popc {

// Writes options.output; what the compiler has to say goes to standard error.
// Throws UsageError, CompileError and NoCompilerError.
void build(const Options &options);

} // namespace popc
