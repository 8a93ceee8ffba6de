// What tests expect of calls: fast kernels that agree with the reference, and
// gradients that are slopes.
#include "KernelTesting.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kernels::testing {

std::string Call::describe() const {
  std::string text(kind_->name);
  for (const auto &[name, value] : attributes_.entries()) {
    text +=
        ' ' + name + '=' +
        std::visit([](const auto &v) { return fmt::format("{}", v); }, value);
  }
  for (const auto *operands : {&operands_.inputs, &operands_.outputs}) {
    text += operands == &operands_.outputs ? " ->" : ":";
    for (const auto &spec : *operands) {
      text += fmt::format(" {}{}", support::toString(spec.type),
                          support::toString(spec.shape));
      text += spec.isRowMajor() ? "" : "by" + support::toString(spec.strides);
    }
  }
  return text;
}

void expectTakersMatchReference(const Call &call, double tolerance) {
  SCOPED_TRACE(call.describe());
  const auto wanted = call.reference();
  for (std::size_t entry = 0; entry < call.kernelCount(); ++entry) {
    if (!call.isTaken(entry)) {
      continue;
    }
    const auto given = call.fast(entry);
    ASSERT_EQ(given.size(), wanted.size());
    for (std::size_t output = 0; output < wanted.size(); ++output) {
      for (std::size_t i = 0; i < wanted[output].size(); ++i) {
        const double want = wanted[output][i];
        const double got = given[output][i];
        if (got == want || // infinities too
            (std::isnan(got) && std::isnan(want))) {
          continue;
        }
        const double limit = tolerance * std::max(1.0, std::abs(want));
        ASSERT_NEAR(got, want, limit) << "element " << i << " of output "
                                      << output << ", kernel " << entry;
      }
    }
  }
}

void expectFastMatchesReference(const Call &call, double tolerance) {
  expectTakersMatchReference(call, tolerance);
  bool isTaken = false;
  for (std::size_t entry = 0; entry < call.kernelCount(); ++entry) {
    isTaken = isTaken || call.isTaken(entry);
  }
  EXPECT_TRUE(isTaken) << "no fast kernel takes " << call.describe();
}

void expectGradient(Call forward, const std::vector<double> &weights,
                    std::size_t input, const std::vector<double> &gradient,
                    double tolerance) {
  const auto loss = [&] {
    const auto results = forward.reference();
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      sum += results[0][i] * weights[i];
    }
    return sum;
  };
  const auto values = forward.inputValues(input);
  constexpr double step = 1.0 / 256; // exact in float
  for (std::size_t i = 0; i < values.size(); ++i) {
    forward.setInput(input, i, values[i] + step);
    const double above = loss();
    forward.setInput(input, i, values[i] - step);
    const double below = loss();
    forward.setInput(input, i, values[i]);
    ASSERT_NEAR(gradient[i], (above - below) / (2 * step), tolerance)
        << "by element " << i << " of input " << input;
  }
}

} // namespace kernels::testing
