// "pool" and "poolGrad": references against figures by hand, fast kernels
// against the references over ranks, paddings, truncations and strides.
#include "ReferenceTesting.hpp"

namespace kernels::testing {
namespace {

using Ints = Attributes::Ints;

struct PoolCase {
  Shape x;
  Ints kernel, strides, lower, upper;
};
const PoolCase cases[] = {
    {{2, 3, 9}, {3}, {1}, {0}, {0}},
    {{1, 1, 1}, {1}, {1}, {0}, {0}},
    {{3, 5, 17, 40}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {{2, 4, 7, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {{2, 2, 12, 11}, {3, 2}, {1, 3}, {-2, 1}, {-1, -3}},
    {{1, 2, 5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {1, 0, -1}, {0, 2, 1}},
    {{1, 3, 3}, {2}, {1}, {4}, {3}}, // windows that see padding only
    {{2, 8, 56, 56}, {3, 3}, {2, 2}, {1, 1}, {0, 0}},
    {{3, 7, 7, 7}, {7, 7}, {7, 7}, {0, 0}, {0, 0}}, // whole planes
    {{1, 2, 9, 5}, {3, 5}, {2, 1}, {1, 0}, {1, 0}}, // whole rows
    {{1, 1, 3, 90}, {2, 5}, {1, 4}, {0, 40}, {0, -80}},
};

Attributes attributesOf(const PoolCase &c, std::string type) {
  return {{"poolingType", std::move(type)},
          {"kernel", c.kernel},
          {"strides", c.strides},
          {"padLower", c.lower},
          {"padUpper", c.upper},
          {"scaled", std::int64_t{0}},
          {"inputShape", c.x}};
}

TEST(Pool, CountsOnlyElementsInsideTheField) {
  const PoolCase c{{1, 1, 4}, {3}, {2}, {1}, {1}};
  const auto pooled = [&](std::string type) {
    return Call("pool", attributesOf(c, std::move(type)),
                {given(c.x, {-1, -3, 2, 6})})
        .reference()[0];
  };
  expectNear(pooled("MAX"), {-1, 6});
  expectNear(pooled("SUM"), {-4, 5});
  expectNear(pooled("AVG"), {-2, 5.0 / 3});
}

TEST(Pool, NegativePaddingTruncates) {
  const PoolCase c{{1, 1, 5}, {2}, {1}, {-1}, {-1}};
  expectNear(Call("pool", attributesOf(c, "MAX"), {given(c.x, {9, 1, 3, 2, 9})})
                 .reference()[0],
             {3, 3});
}

TEST(PoolGrad, GoesToAllThatEqualTheMaximum) {
  const PoolCase c{{1, 1, 4}, {2}, {2}, {0}, {0}};
  auto attributes = attributesOf(c, "MAX");
  const auto gradient = [&] {
    return Call("poolGrad", attributes,
                {given({1, 1, 2}, {8, 6}), given(c.x, {5, 5, 1, 2}),
                 given({1, 1, 2}, {5, 2})})
        .reference()[0];
  };
  expectNear(gradient(), {8, 8, 0, 6});
  attributes.set("scaled", std::int64_t{1});
  expectNear(gradient(), {4, 4, 0, 6});
}

TEST(PoolGrad, SharesMeansOut) {
  const PoolCase c{{1, 1, 3}, {2}, {2}, {1}, {0}};
  expectNear(
      Call("poolGrad", attributesOf(c, "AVG"), {given({1, 1, 2}, {4, 6})})
          .reference()[0],
      {4, 3, 3});
}

class FastPool : public ::testing::TestWithParam<const char *> {};

TEST_P(FastPool, MatchesForwardAndGradient) {
  for (const auto type : {DataType::Float, DataType::Half}) {
    const double tolerance = type == DataType::Half ? 2e-3 : 1e-5;
    for (const auto &c : cases) {
      auto attributes = attributesOf(c, GetParam());
      const bool isMax = attributes.getString("poolingType") == "MAX";
      if (isMax && c.lower[0] >= c.kernel[0]) {
        continue; // minus infinity, which has no difference
      }
      const Call forward("pool", attributes, {{{type, c.x}, {}, {}}});
      expectFastMatchesReference(forward, tolerance);
      for (const std::int64_t isScaled : {0, 1}) {
        attributes.set("scaled", isScaled);
        std::vector<Input> inputs{{forward.outputTypes()[0], {}, {}}};
        if (isMax) {
          inputs.push_back({{type, c.x}, {}, forward.inputValues(0)});
          inputs.push_back(
              {forward.outputTypes()[0], {}, forward.reference()[0]});
        }
        expectFastMatchesReference({"poolGrad", attributes, inputs}, tolerance);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Types, FastPool,
                         ::testing::Values("MAX", "AVG", "SUM"));

TEST(Pool, NamesAKernelThatDoesNotFit) {
  const PoolCase c{{1, 1, 3}, {5}, {1}, {0}, {1}};
  EXPECT_EQ(errorOf("pool", attributesOf(c, "MAX"), {{F, c.x}}),
            "[pool] kernel has 5 in field dimension 0; the padded or truncated "
            "input has 4");
  EXPECT_NE(errorOf("pool", attributesOf(c, "MIN"), {{F, c.x}}), "");
}

} // namespace
} // namespace kernels::testing
