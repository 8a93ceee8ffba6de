// What the tests of rules and references share: inputs with given values, and
// checks of results and of messages.
#pragma once

#include "KernelTesting.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kernels::testing {

constexpr auto F = DataType::Float;
using Values = std::vector<double>;

inline Input given(Shape shape, Values values, DataType type = F) {
  return {{type, std::move(shape)}, {}, std::move(values)};
}

inline void expectNear(const Values &values, const Values &wanted,
                       double tolerance = 1e-6) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], tolerance) << "element " << i;
  }
}

// What the kind's rules say of such a call; empty when they take it.
inline std::string errorOf(std::string_view kind, const Attributes &attributes,
                           const std::vector<TensorType> &inputs) {
  try {
    findKind(kind).infer(attributes, inputs);
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

} // namespace kernels::testing
