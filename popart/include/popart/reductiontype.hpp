// How the elements of a loss become one.
#pragma once

namespace popart {

enum class ReductionType { Sum = 0, Mean, NoReduction };

} // namespace popart
