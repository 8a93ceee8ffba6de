// What must hold of a graph and its programs that were read from a file,
// whoever wrote it: the compiler, the engine and the model rely on it.
#pragma once

#include "engine/ExecutableImpl.hpp"

namespace poplar::executable {

// Throws poplar_error for numbers out of range, views that leave their
// variable, slots that do not fit their vertex, and programs that would not
// compile.
void checkReading(const ExecutableImpl::Reading &reading);

} // namespace poplar::executable
