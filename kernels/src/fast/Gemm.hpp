// One product of float matrices inside a larger kernel, through oneDNN: made at
// planning time, run many times with other addresses.
#pragma once

#include "Dnnl.hpp"

#include <cstdint>

namespace kernels {

// y [m,n] = a [m,k] * b [k,n], or y += with `isAdded`. Rows of y, a and b are
// `ldy`, `lda` and `ldb` apart; of a transposed operand those numbers are the
// distances of its columns.
struct GemmShape {
  std::int64_t m, n, k;
  std::int64_t lda, ldb, ldy;
  bool isTransposedA = false;
  bool isTransposedB = false;
  bool isAdded = false;
};

class Gemm {
public:
  explicit Gemm(const GemmShape &shape);

  std::size_t scratchBytes() const { return scratchBytes_; }
  void run(const float *a, const float *b, float *y, std::byte *scratch) const;

private:
  std::size_t scratchBytes_ = 0;
  DnnlOperation operation_;
};

} // namespace kernels
