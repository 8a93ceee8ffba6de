// CTC loss: the reference against every path by hand, the fast kernel against
// the reference.
#include "ReferenceTesting.hpp"

#include <cmath>

namespace kernels::testing {
namespace {

Attributes lossOf(std::int64_t includeSoftmax, std::int64_t zeroInfinity = 0,
                  std::int64_t isHalf = 0) {
  return {{"blank", std::int64_t{0}},
          {"isHalf", isHalf},
          {"gradient", std::int64_t{1}},
          {"includeSoftmax", includeSoftmax},
          {"zeroInfinity", zeroInfinity}};
}

Input integers(Shape shape, Values values) {
  return given(std::move(shape), std::move(values), DataType::Int);
}

// Two steps, label 1: the paths 11, 01 and 10.
TEST(CtcLoss, SumsThePathsOfTheLabels) {
  const double p[2][2] = {{0.4, 0.6}, {0.7, 0.3}};
  const auto results =
      Call("ctcLoss", lossOf(0),
           {given({2, 1, 2}, {std::log(p[0][0]), std::log(p[0][1]),
                              std::log(p[1][0]), std::log(p[1][1])}),
            integers({1, 1}, {1}), integers({1}, {2}), integers({1}, {1})})
          .reference();
  const double both = 0.6 * 0.3, second = 0.4 * 0.3, first = 0.6 * 0.7;
  const double total = both + second + first;
  expectNear(results[0], {-std::log(total)}, 1e-6);
  expectNear(results[1],
             {-second / total, -(both + first) / total, -first / total,
              -(both + second) / total},
             1e-6);
}

TEST(FastCtcLoss, MatchesTheReference) {
  for (const auto type : {DataType::Float, DataType::Half}) {
    for (const std::int64_t includeSoftmax : {0, 1}) {
      const auto isHalf = std::int64_t{type == DataType::Half};
      expectFastMatchesReference(
          {"ctcLoss",
           lossOf(includeSoftmax, 1, isHalf),
           {{{type, {9, 4, 6}}, {}, {}},
            integers({4, 3}, {1, 1, 2, 3, 5, 5, 4, 3, 2, 2, 2, 2}),
            integers({4}, {9, 4, 2, 7}),
            integers({4}, {3, 2, 3, 0})}},
          isHalf != 0 ? 1e-2 : 1e-4);
    }
  }
}

TEST(CtcBeamSearch, JoinsPathsOfTheSameLabels) {
  // "1" has 0.6*0.3 + 0.4*0.3 + 0.6*0.7 = 0.72, nothing 0.4*0.7 = 0.28.
  const auto results = Call("ctcBeamSearch",
                            {{"blank", std::int64_t{0}},
                             {"beamWidth", std::int64_t{4}},
                             {"topPaths", std::int64_t{2}}},
                            {given({2, 1, 2}, {std::log(0.4), std::log(0.6),
                                               std::log(0.7), std::log(0.3)}),
                             integers({1}, {2})})
                           .reference();
  expectNear(results[0], {std::log(0.72), std::log(0.28)}, 1e-6);
  expectNear(results[1], {1, 0});
  expectNear(results[2], {1, 0, 0, 0});
}

} // namespace
} // namespace kernels::testing
