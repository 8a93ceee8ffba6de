// "attention": its reference against figures by hand and against the kinds that
// it stands for, its kernel against the reference.
#include "ReferenceTesting.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace kernels::testing {
namespace {

Attributes attentionOf(std::string scaling = "", bool hasMask = false) {
  return {{"scaling", std::move(scaling)}, {"mask", std::int64_t{hasMask}}};
}

// The scores are log(1) and log(3), so that the mixture is 1 to 3.
TEST(Attention, MixesValuesByTheSoftmaxOfScores) {
  const double log3 = std::log(3);
  const Input keys = given({2, 2}, {5, 0, 5, log3});
  const Input values = given({2, 3}, {8, 0, 4, 0, 8, 8});
  const Call plain("attention", attentionOf(),
                   {given({1, 2}, {0, 1}), keys, values});
  expectNear(plain.reference()[0], {2, 6, 7});
  const Call divided("attention", attentionOf("DIVIDE"),
                     {given({1, 2}, {0, 4}), keys, values, given({}, {4})});
  expectNear(divided.reference()[0], {2, 6, 7});
  const Call multiplied("attention", attentionOf("MULTIPLY", true),
                        {given({1, 2}, {0, 0.5}), keys, values, given({}, {2}),
                         given({1, 2}, {log3, 0})});
  expectNear(multiplied.reference()[0], {4, 4, 6});
}

TEST(Attention, LeavesOutWhatTheMaskHides) {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const Call call("attention", attentionOf("", true),
                  {given({2, 1}, {1, 1}), given({2, 1}, {30, 2}),
                   given({2, 1}, {7, 9}),
                   given({2, 2}, {0, hidden, hidden, 0})});
  expectNear(call.reference()[0], {7, 9});
  expectNear(call.fast()[0], {7, 9});
}

TEST(Attention, SaysWhatItDoesNotTake) {
  const TensorType q{F, {2, 5, 4}}, k{F, {2, 3, 4}}, v{F, {2, 3, 6}};
  EXPECT_EQ(errorOf("attention", attentionOf(), {q, k, v}), "");
  EXPECT_NE(errorOf("attention", attentionOf(), {q, {F, {2, 3, 5}}, v}), "");
  EXPECT_NE(errorOf("attention", attentionOf(), {q, k, {F, {1, 3, 6}}}), "");
  EXPECT_NE(errorOf("attention", attentionOf("DIVIDE"), {q, k, v}), "");
  EXPECT_NE(errorOf("attention", attentionOf("ADD"), {q, k, v}), "");
  EXPECT_NE(
      errorOf("attention", attentionOf("", true), {q, k, v, {F, {2, 5, 4}}}),
      "");
}

// Lengths below, at and above blocks of rows and panels of keys.
TEST(FastAttention, MatchesOnSizes) {
  const std::int64_t sizes[][5] = {// groups, rows, keys, depth, columns
                                   {1, 1, 1, 1, 1},       {3, 1, 50, 7, 5},
                                   {2, 9, 3, 16, 17},     {1, 70, 49, 20, 8},
                                   {5, 130, 128, 32, 32}, {1, 12, 900, 4, 33}};
  for (const auto &[g, m, n, d, e] : sizes) {
    expectFastMatchesReference({"attention",
                                attentionOf("DIVIDE", true),
                                {{{F, {g, m, d}}, {}, {}},
                                 {{F, {g, n, d}}, {}, {}},
                                 {{F, {g, n, e}}, {}, {}},
                                 given({}, {std::sqrt(double(d))}),
                                 {{F, {g, m, n}}, {}, {}}}},
                               1e-5);
  }
}

// Heads where one projection left them, and as rows of what follows.
TEST(FastAttention, TakesHeadsWhereTheyAre) {
  constexpr std::int64_t batch = 3, heads = 2, length = 40, size = 8;
  constexpr std::int64_t width = heads * size;
  const Shape shape{batch, heads, length, size};
  const Strides strides{3 * width, size, batch * 3 * width, 1};
  Call call("attention", attentionOf("MULTIPLY"),
            {{{F, shape}, strides, {}},
             {{F, shape}, strides, {}},
             {{F, shape}, strides, {}},
             given({}, {3})});
  call.outputStrides(0, {length * width, size, width, 1});
  expectFastMatchesReference(call, 1e-5);
}

TEST(FastAttention, TakesAnyStridesAndSharedOperands) {
  Call call("attention", attentionOf("", true),
            {{{F, {4, 21, 6}}, {0, 1, 21}, {}},
             {{F, {4, 34, 6}}, {204, 1, 34}, {}},
             {{F, {4, 34, 5}}, {0, 2, 70}, {}},
             {{F, {4, 21, 34}}, {34, 0, 1}, {}}});
  call.outputStrides(0, {105, 1, 21});
  expectFastMatchesReference(call, 1e-5);
  expectFastMatchesReference({"attention",
                              attentionOf("", true),
                              {{{F, {9, 4}}, {}, {}},
                               {{F, {20, 4}}, {}, {}},
                               {{F, {20, 4}}, {}, {}},
                               {{F, {9, 20}}, {1, 0}, {}}}},
                             1e-5);
}

TEST(FastAttention, CutsRowsWhereThereAreFewGroups) {
  const Call call("attention", attentionOf(),
                  {{{F, {1, 200, 64}}, {}, {}},
                   {{F, {1, 300, 64}}, {}, {}},
                   {{F, {1, 300, 64}}, {}, {}}});
  EXPECT_GT(call.taskCount(), 1U);
  expectFastMatchesReference(call, 1e-5);
}

} // namespace
} // namespace kernels::testing
