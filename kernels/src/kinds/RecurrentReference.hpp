// What the references of recurrent kinds share.
#pragma once

#include "RecurrentShape.hpp"
#include "Reference.hpp"

#include <cstdint>
#include <vector>

namespace kernels {

// The number of steps of a sample: `most`, or what the operand says.
std::int64_t stepsOf(const ReferenceCall &call, std::size_t operand,
                     std::int64_t sample, std::int64_t most);

// Row `sample` of a [batch, out] input; zeros for one that is absent.
std::vector<double> rowOrZeros(const ReferenceCall &call, std::size_t operand,
                               std::int64_t sample, std::int64_t out);

// The sum over gates g and units j of dGates(t, b, g, j) * weights(g, k, j).
double throughWeights(const View &dGates, const View &weights, std::int64_t t,
                      std::int64_t b, std::int64_t k);

// The sum of term(t, b) over steps and samples.
template <typename Term>
double sumOverRows(std::int64_t steps, std::int64_t batch, const Term &term) {
  double sum = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t b = 0; b < batch; ++b) {
      sum += term(t, b);
    }
  }
  return sum;
}

} // namespace kernels
