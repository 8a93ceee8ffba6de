// Operations on constants, computed while a model is read or compiled.
#pragma once

#include <popart/graph.hpp>

namespace popart {

// Replaces an operation by its results, if all that it depends on is constant
// and PopART documents that it is folded. False if it stays.
bool foldConstant(Op &op);

// The same for results small enough to be shapes, indices or scales, which
// rules want to know while a model is read.
void foldSmallConstant(Op &op);

} // namespace popart
