// The greatest or least of rows, for the operators that have them inside.
#pragma once

#include <poplar/Tensor.hpp>

#include <cstdint>
#include <vector>

namespace popart {

class LoweringContext;

// The k first of each row, along the last dimension, and their positions as
// INT. Of equal elements the first come first. Keys of small integers come back
// as INT.
std::vector<poplar::Tensor> emitTopK(LoweringContext &context,
                                     poplar::Tensor rows, std::int64_t k,
                                     bool isLargest);

} // namespace popart
