// B-spline kernels: references against values worked out by hand, and kernels
// against references.
#include "KernelTesting.hpp"
#include "ReferenceTesting.hpp"

#include <gtest/gtest.h>

namespace kernels::testing {
namespace {

constexpr auto I = DataType::Int;
constexpr auto C = DataType::UnsignedChar;

Call basis(std::int64_t degree, Shape shape, Values pseudo, Values sizes,
           Values isOpen) {
  const std::int64_t dimensions = shape[1];
  return Call("splineBasis", {{"degree", degree}},
              {given(std::move(shape), std::move(pseudo)),
               given({dimensions}, std::move(sizes), I),
               given({dimensions}, std::move(isOpen), C)});
}

// One coordinate 0.3 on an open grid of 5: 0.3 * 4 = 1.2, so pieces 0.8 and 0.2
// of weights 1 and 2. Closed: 1.5.
TEST(SplineBasis, OfOneDimension) {
  const auto open = basis(1, {1, 1}, {0.3}, {5}, {1}).reference();
  expectNear(open[0], {0.8, 0.2}, 1e-6);
  EXPECT_EQ(open[1], (Values{1, 2}));
  const auto closed = basis(1, {1, 1}, {0.9}, {5}, {0}).reference();
  expectNear(closed[0], {0.5, 0.5}, 1e-6);
  EXPECT_EQ(closed[1], (Values{4, 0})); // around
}

// Quadratic pieces at 0.5: 1/8, 3/4, 1/8. Cubic at 0: 1/6, 2/3, 1/6, 0.
TEST(SplineBasis, OfHigherDegrees) {
  expectNear(basis(2, {1, 1}, {0.5}, {5}, {1}).reference()[0],
             {0.125, 0.75, 0.125}, 1e-6);
  expectNear(basis(3, {1, 1}, {0}, {5}, {1}).reference()[0],
             {1.0 / 6, 2.0 / 3, 1.0 / 6, 0}, 1e-6);
}

// The first dimension runs fastest: weights {1, 2} + 5 * {0, 1}.
TEST(SplineBasis, OfTwoDimensions) {
  const auto found = basis(1, {1, 2}, {0.3, 0.25}, {5, 3}, {1, 1}).reference();
  expectNear(found[0], {0.4, 0.1, 0.4, 0.1}, 1e-6);
  EXPECT_EQ(found[1], (Values{1, 2, 6, 7}));
}

TEST(SplineWeighting, SumsWeightsByTheirSplines) {
  const Call call("splineWeighting", {},
                  {given({1, 2}, {1, 10}), given({2, 2, 1}, {1, 2, 3, 4}),
                   given({1, 2}, {0.5, 2}), given({1, 2}, {1, 0}, I)});
  EXPECT_EQ(call.reference()[0], Values{0.5 * 43 + 2 * 21});
}

TEST(FastSpline, IsTheReference) {
  for (const std::int64_t degree : {1, 2, 3}) {
    Values pseudo;
    for (int i = 0; i < 300; ++i) {
      pseudo.push_back(double(i * 37 % 100) / 100);
    }
    const auto call = basis(degree, {100, 3}, pseudo, {4, 5, 6}, {1, 0, 1});
    expectFastMatchesReference(call, 1e-5);
  }
  Values index;
  for (int i = 0; i < 50 * 4; ++i) {
    index.push_back(i * 7 % 9);
  }
  expectFastMatchesReference(Call("splineWeighting", {},
                                  {{{F, {50, 6}}, {}, {}},
                                   {{F, {9, 6, 5}}, {}, {}},
                                   {{F, {50, 4}}, {}, {}},
                                   given({50, 4}, index, I)}),
                             1e-5);
}

} // namespace
} // namespace kernels::testing
