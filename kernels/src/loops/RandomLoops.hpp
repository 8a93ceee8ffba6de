// The loops that draw random numbers: part of the table of Loops.hpp.
#pragma once

#include "random/Distributions.hpp"
#include "random/Philox.hpp"
#include "rounding/HalfRounding.hpp"

#include <cstdint>

namespace kernels {

struct RandomLoops {
  // The numbers of `blocks` blocks (random::elementsPerBlock elements each)
  // from block `firstBlock` on.
  template <typename Distribution, typename Number>
  using Draw = void (*)(const random::Stream &stream,
                        const Distribution &distribution,
                        std::int64_t firstBlock, std::int64_t blocks,
                        Number *out);
  Draw<random::Uniform, float> uniform;
  Draw<random::Normal, float> normal;
  Draw<random::TruncatedNormal, float> truncatedNormal;
  Draw<random::LogUniform, float> logUniform;
  Draw<random::Bernoulli, float> bernoulli;
  Draw<random::UniformInt, std::int32_t> uniformInt;
  Draw<random::Bits, std::int32_t> bits;

  // y[i] = x[i] * scale where the element is kept, else 0; element 0 is the
  // first of `firstBlock`. y may be x.
  void (*dropout)(const random::Stream &stream, const random::Bernoulli &kept,
                  float scale, std::int64_t firstBlock, std::int64_t count,
                  const float *x, float *y);

  // Floats to what halves are made of (rounding/HalfRounding.hpp), elements
  // numbered the same way. y may be x.
  void (*roundStochastically)(const random::Stream &stream,
                              std::int64_t firstBlock, std::int64_t count,
                              const float *x, float *y);
  void (*limit)(const rounding::Control &control, std::int64_t count,
                const float *x, float *y);
};

} // namespace kernels
