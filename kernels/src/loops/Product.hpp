// The loops of matrix products that are not in Product.cpp.
#pragma once

#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

static inline std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

void multiplyByDots(const ProductLoops::Matrices &m);
void transpose(float *to, std::int64_t toRow, const float *from,
               std::int64_t fromRow, std::int64_t rows, std::int64_t columns);
void pack(float *to, std::int64_t panel, const float *from,
          std::int64_t fromRow, std::int64_t rows, std::int64_t columns);

} // namespace kernels::loops::LOOPS_LEVEL
