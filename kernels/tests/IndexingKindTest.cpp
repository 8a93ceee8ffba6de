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

// Offsets are below 4: some name no row. Shards end inside rows and groups.
TEST(FastDynamicSlice, MatchesForRowsOfGroups) {
  for (const auto *rule : {"skip", "first", "clamp", "window"}) {
    for (auto type : {U, I}) {
      const Call slices("dynamicSlice", sliceOf({0}, {1}, rule),
                        {random(F, {3, 3, 333}), random(type, {3, 301, 1})});
      EXPECT_GT(slices.taskCount(), 1u);
      expectFastMatchesReference(slices, 0);
      Attributes adds = updateOf({0}, {1}, "ADD");
      adds.set("outOfRange", std::string(rule));
      const Call updates("dynamicUpdate", adds,
                         {random(F, {3, 3, 333}), random(F, {3, 301, 1, 333}),
                          random(type, {3, 301, 1})});
      EXPECT_GT(updates.taskCount(), 1u);
      expectFastMatchesReference(updates, 1e-5);
    }
  }
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

Attributes topKOf(std::int64_t k, bool isLargest, std::string order,
                  std::string payload = "permutation") {
  return {{"k", k},
          {"largest", std::int64_t{isLargest}},
          {"order", std::move(order)},
          {"payload", std::move(payload)}};
}

TEST(TopKReference, KeepsEqualKeysInTheirOrder) {
  const auto keys = given({F, {1, 6}}, {2, 5, 2, 7, 5, 1});
  const auto down =
      Call("topK", topKOf(4, true, "DESCENDING"), {keys}).reference();
  EXPECT_EQ(down[0], (Values{7, 5, 5, 2}));
  EXPECT_EQ(down[1], (Values{3, 1, 4, 0}));
  const auto up =
      Call("topK", topKOf(4, true, "ASCENDING"), {keys}).reference();
  EXPECT_EQ(up[0], (Values{2, 5, 5, 7}));
  EXPECT_EQ(up[1], (Values{0, 1, 4, 3}));
}

TEST(TopKReference, NotANumberIsTheLargest) {
  const auto keys = given({F, {1, 4}}, {1, std::nan(""), -INFINITY, INFINITY});
  EXPECT_EQ(Call("topK", topKOf(4, false, "ASCENDING"), {keys}).reference()[1],
            (Values{2, 0, 3, 1}));
}

TEST(FastTopK, MatchesForEveryTypeOrderAndPayload) {
  for (auto type : {F, H, I, U}) {
    for (bool isLargest : {true, false}) {
      for (const auto *order : {"ASCENDING", "DESCENDING"}) {
        for (std::int64_t k : {1, 7, 50}) {
          expectFastMatchesReference(
              {"topK", topKOf(k, isLargest, order), {random(type, {3, 50})}},
              0);
          expectFastMatchesReference(
              {"topK",
               topKOf(k, isLargest, order, "values"),
               {random(type, {3, 50}), random(H, {3, 50})}},
              0);
        }
      }
    }
  }
}

TEST(FastTopK, OrdersSignsZerosAndNotANumber) {
  for (auto type : {F, H}) {
    Call call("topK", topKOf(8, false, "ASCENDING"),
              {given({type, {1, 8}},
                     {-1, 0, -0.0, 1, -INFINITY, std::nan(""), INFINITY, -2})});
    EXPECT_EQ(call.fast()[1], (Values{4, 7, 0, 1, 2, 3, 6, 5}));
    EXPECT_EQ(call.reference()[1], call.fast()[1]);
  }
}

TEST(FastTopK, KeepsTheFirstOfManyEqualKeys) {
  const auto nan = static_cast<float>(std::nan(""));
  for (const float often : {nan, 0.0F, INFINITY}) {
    Values keys(200, often);
    keys[7] = keys[120] = 3;
    keys[60] = keys[199] = -3;
    for (bool isLargest : {true, false}) {
      Call call("topK", topKOf(9, isLargest, "DESCENDING"),
                {given({F, {1, 200}}, keys)});
      EXPECT_EQ(call.fast()[1], call.reference()[1]);
    }
  }
}

TEST(FastTopK, CutsManyRows) {
  const Call call("topK", topKOf(3, true, "DESCENDING"),
                  {random(F, {2000, 40})});
  EXPECT_GT(call.taskCount(), 1u);
  expectFastMatchesReference(call, 0);
}

Attributes cumulateOf(std::string op, std::int64_t dim, bool isExclusive,
                      bool isReverse) {
  return {{"op", std::move(op)},
          {"dim", dim},
          {"exclusive", std::int64_t{isExclusive}},
          {"reverse", std::int64_t{isReverse}}};
}

TEST(CumulateReference, RunsAlongADimension) {
  const auto x = given({F, {2, 3}}, {1, 2, 3, 4, 5, 6});
  const auto result = [&](const Attributes &attributes) {
    return Call("cumulate", attributes, {x}).reference()[0];
  };
  EXPECT_EQ(result(cumulateOf("ADD", 1, false, false)),
            (Values{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(result(cumulateOf("ADD", 1, true, true)),
            (Values{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(result(cumulateOf("MUL", 0, false, false)),
            (Values{1, 2, 3, 4, 10, 18}));
}

TEST(FastCumulate, MatchesForEveryDimensionAndType) {
  for (auto type : {F, H, I, U}) {
    for (std::int64_t dim : {0, 1, 2}) {
      for (bool isExclusive : {false, true}) {
        for (bool isReverse : {false, true}) {
          expectFastMatchesReference(
              {"cumulate",
               cumulateOf("ADD", dim, isExclusive, isReverse),
               {random(type, {5, 70, 90})}},
              0);
        }
      }
    }
  }
  expectFastMatchesReference(
      {"cumulate", cumulateOf("MUL", 0, false, false), {random(I, {40})}}, 0);
}

TEST(FastCumulate, MayShareAnOuterEntryBetweenShards) {
  const Call call("cumulate", cumulateOf("ADD", 0, false, false),
                  {random(F, {300, 700})});
  EXPECT_GT(call.taskCount(), 1u);
}

TEST(OneHot, ReferenceAndKernelEncodeWhatIsInRange) {
  const Call call("oneHot", {{"classes", std::int64_t{3}}},
                  {given({U, {4}}, {2, 0, 3, 4294967295.0}),
                   given({F, {}}, {5}), given({F, {}}, {-1})});
  const Values wanted{-1, -1, 5, 5, -1, -1, -1, -1, -1, -1, -1, -1};
  EXPECT_EQ(call.reference()[0], wanted);
  EXPECT_EQ(call.fast()[0], wanted);
  expectFastMatchesReference(
      {"oneHot",
       {{"classes", std::int64_t{300}}},
       {random(I, {500}), given({H, {}}, {1}), given({H, {}}, {0})}},
      0);
}

TEST(Iota, ReferenceAndKernelCount) {
  const Attributes attributes{{"type", static_cast<std::int64_t>(I)},
                              {"count", std::int64_t{4}},
                              {"start", std::int64_t{-2}}};
  const Call call("iota", attributes, {});
  EXPECT_EQ(call.reference()[0], (Values{-2, -1, 0, 1}));
  EXPECT_EQ(call.fast()[0], (Values{-2, -1, 0, 1}));
}

TEST(HasNan, ReferenceAndKernelFindThem) {
  for (auto type : {F, H}) {
    for (const double odd : {1.0, double(INFINITY), std::nan("")}) {
      for (bool orInf : {false, true}) {
        Call call("hasNan", {{"orInf", std::int64_t{orInf}}},
                  {random(type, {300001})});
        call.setInput(0, 299999, odd);
        const Values wanted{
            std::isnan(odd) || (orInf && std::isinf(odd)) ? 1.0 : 0.0};
        EXPECT_EQ(call.reference()[0], wanted);
        EXPECT_EQ(call.fast()[0], wanted);
        EXPECT_GT(call.taskCount(), 2u);
      }
    }
  }
}

TEST(HistogramReference, LevelsBelongToTheBinAbove) {
  const auto x = given({F, {6}}, {-3, 0, 1, 1.5, 2, 7});
  const auto levels = given({F, {2}}, {1, 2});
  EXPECT_EQ(Call("histogram", {{"absolute", std::int64_t{0}}}, {x, levels})
                .reference()[0],
            (Values{2, 2, 2}));
  EXPECT_EQ(Call("histogram", {{"absolute", std::int64_t{1}}}, {x, levels})
                .reference()[0],
            (Values{1, 2, 3}));
}

TEST(SequenceSliceReference, CopiesRunsOfRows) {
  const std::vector<Input> inputs{
      given({F, {4, 1}}, {1, 2, 3, 4}), given({F, {5, 1}}, {9}),
      given({U, {2}}, {2, 1}), given({U, {2}}, {1, 3}),
      given({U, {2}}, {0, 4})};
  EXPECT_EQ(Call("sequenceSlice", {{"zeroUnused", std::int64_t{0}}}, inputs)
                .reference()[0],
            (Values{2, 3, 9, 9, 4}));
  EXPECT_EQ(Call("sequenceSlice", {{"zeroUnused", std::int64_t{1}}}, inputs)
                .reference()[0],
            (Values{2, 3, 0, 0, 4}));
}

} // namespace
} // namespace kernels::testing
