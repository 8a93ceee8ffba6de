// The rule of operators that users bring as classes derived from Op.
#pragma once

#include <ops/OpRule.hpp>

namespace popart {

// Asks the class: setup(), getGradOps(), and its Opx for the lowering.
const OpRule &customOpRule();

} // namespace popart
