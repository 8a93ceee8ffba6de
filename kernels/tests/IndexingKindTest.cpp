// The references of the kinds that move, pick and order elements, against
// figures worked out by hand, and their fast kernels against the references.
#include "KernelTesting.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

constexpr auto F = DataType::Float;
constexpr auto H = DataType::Half;
constexpr auto I = DataType::Int;
constexpr auto U = DataType::UnsignedInt;

using Ints = Attributes::Ints;
using Values = std::vector<double>;

Attributes sliceOf(Ints dims, Ints sizes, std::string outOfRange = "skip",
                   std::string missing = "zero") {
  return {{"dims", std::move(dims)},
          {"sizes", std::move(sizes)},
          {"outOfRange", std::move(outOfRange)},
          {"missing", std::move(missing)}};
}

Attributes updateOf(Ints dims, Ints sizes, std::string op = "COPY",
                    bool isScaled = false, std::string outOfRange = "skip") {
  return {{"dims", std::move(dims)},
          {"sizes", std::move(sizes)},
          {"outOfRange", std::move(outOfRange)},
          {"op", std::move(op)},
          {"scaled", std::int64_t{isScaled}}};
}

Input given(TensorType type, Values values) {
  return {std::move(type), {}, std::move(values)};
}
Input random(DataType type, Shape shape) {
  return {{type, std::move(shape)}, {}, {}};
}

TEST(DynamicSliceReference, PicksRowsAndLeavesOutWhatIsNotThere) {
  const auto rows = given({F, {1, 3, 2}}, {1, 2, 3, 4, 5, 6});
  const auto offsets = given({U, {1, 4, 1}}, {2, 0, 3, 2});
  EXPECT_EQ(
      Call("dynamicSlice", sliceOf({0}, {1}), {rows, offsets}).reference()[0],
      (Values{5, 6, 1, 2, 0, 0, 5, 6}));
  EXPECT_EQ(Call("dynamicSlice", sliceOf({0}, {1}, "first"), {rows, offsets})
                .reference()[0],
            (Values{5, 6, 1, 2, 1, 2, 5, 6}));
}

TEST(DynamicSliceReference, PassesTheEndToTheFrontUnlessItClamps) {
  const auto row = given({F, {1, 4}}, {1, 2, 3, 4});
  const auto offset = given({U, {1, 1, 1}}, {3});
  EXPECT_EQ(
      Call("dynamicSlice", sliceOf({0}, {2}), {row, offset}).reference()[0],
      (Values{4, 1}));
  EXPECT_EQ(Call("dynamicSlice", sliceOf({0}, {2}, "clamp"), {row, offset})
                .reference()[0],
            (Values{3, 4}));
}

TEST(DynamicSliceReference, MissingRowsAreNanUnlessMasked) {
  const auto result = Call("dynamicSlice", sliceOf({0}, {1}, "skip", "nan"),
                           {given({F, {3, 2}}, {1, 2, 3, 4, 5, 6}),
                            given({U, {3, 1, 1}}, {1, 2, 4294967295.0})})
                          .reference()[0];
  EXPECT_EQ(result[0], 2);
  EXPECT_TRUE(std::isnan(result[1]));
  EXPECT_EQ(result[2], 0);
}

TEST(DynamicUpdateReference, AddsRepeatedRowsInTurn) {
  EXPECT_EQ(Call("dynamicUpdate", updateOf({0}, {1}, "ADD", true),
                 {given({F, {1, 3, 1}}, {1, 2, 3}),
                  given({F, {1, 4, 1, 1}}, {10, 20, 30, 40}),
                  given({U, {1, 4, 1}}, {2, 0, 2, 9}), given({F, {}}, {2})})
                .reference()[0],
            (Values{41, 2, 83}));
}

TEST(DynamicUpdateReference, WindowsThatDoNotFitAreLeftOut) {
  const auto t = given({I, {1, 4}}, {1, 2, 3, 4});
  const auto s = given({I, {1, 2, 2}}, {7, 8, -9, -9});
  const auto offsets = given({I, {1, 2, 1}}, {1, 3});
  EXPECT_EQ(Call("dynamicUpdate", updateOf({0}, {2}, "COPY", false, "window"),
                 {t, s, offsets})
                .reference()[0],
            (Values{1, 7, 8, 4}));
  EXPECT_EQ(Call("dynamicUpdate", updateOf({0}, {2}, "MAX"), {t, s, offsets})
                .reference()[0],
            (Values{1, 7, 8, 4}));
}

TEST(DynamicSliceRules, SayWhatIsWrong) {
  const auto message = [](const Attributes &attributes, TensorType t,
                          TensorType offsets) {
    try {
      Call("dynamicSlice", attributes, {{t, {}, {}}, {offsets, {}, {}}});
    } catch (const std::invalid_argument &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(sliceOf({0}, {4}), {F, {1, 3}}, {U, {1, 1, 1}}),
            "[dynamicSlice] a slice of 4 does not fit dimension 0, which "
            "has 3");
  EXPECT_EQ(message(sliceOf({0, 0}, {1, 1}), {F, {1, 3, 3}}, {U, {1, 1, 2}}),
            "[dynamicSlice] dims is {0,0}; none may appear twice");
  EXPECT_EQ(message(sliceOf({0}, {1}), {F, {1, 3}}, {F, {1, 1, 1}}),
            "[dynamicSlice] offsets has type float; allowed: unsigned int, "
            "int");
}

TEST(FastDynamicSlice, MatchesForEveryDimensionAndRule) {
  for (const auto *rule : {"skip", "first", "clamp", "window"}) {
    for (const Ints &dims : {Ints{0}, {1}, {2}, {0, 1}, {2, 0}, {0, 1, 2}}) {
      const auto columns = static_cast<std::int64_t>(dims.size());
      expectFastMatchesReference(
          {"dynamicSlice",
           sliceOf(dims, Ints(dims.size(), 2), rule),
           {random(F, {2, 3, 4, 5}), random(U, {2, 6, columns})}},
          0);
    }
  }
}

TEST(FastDynamicSlice, MovesEveryType) {
  using enum DataType;
  for (auto type : {Bool, UnsignedChar, Half, Int}) {
    expectFastMatchesReference(
        {"dynamicSlice",
         sliceOf({0}, {1}),
         {random(type, {1, 5, 33}), random(U, {1, 700, 1})}},
        0);
  }
}

TEST(FastDynamicSlice, CutsLongSlicesAndManyRows) {
  const Call many("dynamicSlice", sliceOf({0}, {1}),
                  {random(F, {1, 100, 64}), random(U, {1, 9001, 1})});
  EXPECT_GT(many.taskCount(), 1u);
  expectFastMatchesReference(many, 0);
  const Call deep("dynamicSlice", sliceOf({0}, {3}),
                  {random(F, {1, 4, 100003}), random(U, {1, 1, 1})});
  EXPECT_GT(deep.taskCount(), 1u);
  expectFastMatchesReference(deep, 0);
}

TEST(FastDynamicUpdate, MatchesForEveryDimensionAndOperation) {
  for (const auto *op : {"COPY", "ADD", "MAX", "MUL"}) {
    for (auto type : {F, H, I, U}) {
      for (const Ints &dims : {Ints{0}, {1}, {2}, {0, 1}, {2, 0}}) {
        const auto columns = static_cast<std::int64_t>(dims.size());
        Shape slices{2, 9, 3, 4, 5};
        for (auto dim : dims) {
          slices[static_cast<std::size_t>(dim) + 2] = 2;
        }
        expectFastMatchesReference(
            {"dynamicUpdate",
             updateOf(dims, Ints(dims.size(), 2), op),
             {random(type, {2, 3, 4, 5}), random(type, slices),
              random(U, {2, 9, columns})}},
            type == H ? 2e-3 : 1e-6);
      }
    }
  }
}

TEST(FastDynamicUpdate, AddsScaledRowsOverManyShards) {
  for (auto type : {F, H, I}) {
    const Call call("dynamicUpdate", updateOf({0}, {1}, "ADD", true),
                    {random(type, {1, 4, 1000}), random(type, {1, 60, 1, 1000}),
                     random(U, {1, 60, 1}), given({type, {}}, {3})});
    EXPECT_GT(call.taskCount(), 1u);
    expectFastMatchesReference(call, type == H ? 1e-2 : 1e-5);
    EXPECT_EQ(call.fast(0, true), call.fast(0, false));
  }
}

} // namespace
} // namespace kernels::testing
