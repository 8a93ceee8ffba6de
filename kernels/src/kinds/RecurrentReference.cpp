#include "RecurrentReference.hpp"

#include <algorithm>

namespace kernels {

std::int64_t stepsOf(const ReferenceCall &call, std::size_t operand,
                     std::int64_t sample, std::int64_t most) {
  if (operand == OperandOrder::absent) {
    return most;
  }
  const View steps = inputView(call, operand);
  const auto count = steps.shape().empty() ? 1 : steps.extent(0);
  const double given =
      steps.shape().empty() ? steps.scalar() : steps(count == 1 ? 0 : sample);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(given), 0, most);
}

std::vector<double> rowOrZeros(const ReferenceCall &call, std::size_t operand,
                               std::int64_t sample, std::int64_t out) {
  std::vector<double> row(static_cast<std::size_t>(out));
  for (std::int64_t j = 0; j < out && operand != OperandOrder::absent; ++j) {
    row[static_cast<std::size_t>(j)] = inputView(call, operand)(sample, j);
  }
  return row;
}

double throughWeights(const View &dGates, const View &weights, std::int64_t t,
                      std::int64_t b, std::int64_t k) {
  double sum = 0;
  for (std::int64_t g = 0; g < weights.extent(0); ++g) {
    for (std::int64_t j = 0; j < weights.extent(2); ++j) {
      sum += dGates(t, b, g, j) * weights(g, k, j);
    }
  }
  return sum;
}

} // namespace kernels
