// The fast kernels of reductions, products, losses and updates against the
// references, over shapes that hit tails, strides and single elements.
#include "KernelTesting.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

constexpr auto F = DataType::Float;
TEST(FastFill, FillsEveryType) {
  for (auto type : {F, DataType::Half, DataType::Int, DataType::Bool}) {
    Attributes attributes{{"type", static_cast<std::int64_t>(type)},
                          {"shape", Attributes::Ints{3, 77}},
                          {"value", 1.0}};
    expectFastMatchesReference({"fill", attributes, {}}, 0);
  }
}

Attributes reduceOf(std::string op, Attributes::Ints dims, double scale = 1) {
  return {{"op", std::move(op)}, {"dims", std::move(dims)}, {"scale", scale}};
}

TEST(FastReduce, MatchesOverAnyDimensions) {
  for (const auto *op : {"ADD", "SQUARE_ADD", "MIN", "MAX", "LOG_ADD"}) {
    for (const Attributes::Ints &dims : {Attributes::Ints{0},
                                         {1},
                                         {2},
                                         {0, 1},
                                         {0, 2},
                                         {1, 2},
                                         {0, 1, 2},
                                         {}}) {
      expectFastMatchesReference(
          {"reduce", reduceOf(op, dims, 0.5), {{{F, {6, 67, 71}}, {}, {}}}},
          1e-4);
      expectFastMatchesReference(
          {"reduce", reduceOf(op, dims), {{{F, {6, 5, 4}}, {1, 24, 6}, {}}}},
          1e-5);
    }
  }
}

TEST(FastReduce, MatchesOnBiasGradientsAndShards) {
  expectFastMatchesReference(
      {"reduce", reduceOf("ADD", {0, 2, 3}), {{{F, {16, 5, 26, 26}}, {}, {}}}},
      1e-4);
  Call wide("reduce", reduceOf("ADD", {0}), {{{F, {100, 5000}}, {}, {}}});
  EXPECT_GT(wide.taskCount(1), 1u);
  expectFastMatchesReference(wide, 1e-4);
  Call strided("reduce", reduceOf("ADD", {1}), {{{F, {9, 4, 7}}, {}, {}}});
  strided.outputStrides(0, {1, 9});
  expectFastMatchesReference(strided, 1e-5);
  expectFastMatchesReference(
      {"reduce", reduceOf("MUL", {0}), {{{F, {5, 3}}, {}, {}}}}, 1e-6);
  expectFastMatchesReference(
      {"reduce", reduceOf("ADD", {0}), {{{F, {1}}, {}, {}}}}, 0);
  expectFastMatchesReference(
      {"reduce", reduceOf("ADD", {0}), {{{F, {9}}, {-1}, {}}}}, 1e-6);
}

TEST(FastReduce, SumsBlocksOfChannelsAsTheyLie) {
  for (const Layout blocks :
       {Layout::ChannelBlocked16, Layout::ChannelBlocked8}) {
    Call call("reduce", reduceOf("ADD", {0, 2, 3}, 0.5),
              {{{F, {3, 48, 7, 5}}, {}, {}}});
    ASSERT_TRUE(call.found(0, blocks).isTaken(0));
    expectFastMatchesReference(call, 1e-5);
  }
}

TEST(FastReduce, CutsWhatIsReducedWhereResultsAreFew) {
  for (const auto *op : {"ADD", "SQUARE_ADD", "MAX", "LOG_ADD"}) {
    Call all("reduce", reduceOf(op, {0}), {{{F, {500003}}, {}, {}}});
    EXPECT_GT(all.taskCount(1), 2u);
    expectFastMatchesReference(all, 1e-4);
    Call columns("reduce", reduceOf(op, {0}), {{{F, {60001, 5}}, {}, {}}});
    EXPECT_GT(columns.taskCount(1), 2u);
    expectFastMatchesReference(columns, 1e-4);
    Call rows("reduce", reduceOf(op, {0, 2}), {{{F, {4001, 3, 60}}, {}, {}}});
    rows.outputStrides(0, {2});
    EXPECT_GT(rows.taskCount(1), 2u);
    expectFastMatchesReference(rows, 1e-4);
  }
}

// Partial results of many columns meet in several tasks.
TEST(FastReduce, CutsRowsOfManyColumns) {
  for (const auto type : {F, DataType::Half, DataType::Int}) {
    Call columns("reduce", reduceOf("ADD", {0}),
                 {{{type, {64, 30000}}, {}, {}}});
    EXPECT_GT(columns.taskCount(1), 4u);
    expectFastMatchesReference(columns, type == DataType::Half ? 2e-3 : 1e-4);
  }
}

TEST(FastReduce, LetsNansWin) {
  for (const auto *op : {"ADD", "MIN", "MAX"}) {
    for (const Attributes::Ints &dims : {Attributes::Ints{0}, {1}}) {
      for (const std::size_t at : {0u, 1u, 3u, 17u, 63u, 64u, 70u, 99u}) {
        Call call("reduce", reduceOf(op, dims), {{{F, {100, 150}}, {}, {}}});
        call.setInput(0, at * 151, NAN);
        const auto results = call.fast(1)[0];
        for (std::size_t i = 0; i < results.size(); ++i) {
          EXPECT_EQ(std::isnan(results[i]), i == at) << op << " at " << i;
        }
      }
    }
  }
}

TEST(FastReduce, TakesEveryType) {
  const auto check = [](std::string op, DataType type, double tolerance) {
    for (const Attributes::Ints &dims : {Attributes::Ints{0}, {1}, {0, 1}}) {
      expectFastMatchesReference(
          {"reduce", reduceOf(op, dims), {{{type, {37, 130}}, {}, {}}}},
          tolerance);
      expectFastMatchesReference(
          {"reduce", reduceOf(op, dims), {{{type, {37, 130}}, {1, 37}, {}}}},
          tolerance);
    }
  };
  for (const auto *op : {"ADD", "SQUARE_ADD", "MUL", "MIN", "MAX"}) {
    for (const auto type : {DataType::Int, DataType::UnsignedInt,
                            DataType::LongLong, DataType::UnsignedLongLong}) {
      check(op, type, 0);
    }
    check(op, DataType::Half, 1e-3);
  }
  check("LOG_ADD", DataType::Half, 1e-3);
  check("LOGICAL_AND", DataType::Bool, 0);
  check("LOGICAL_OR", DataType::Bool, 0);
  auto mixed = reduceOf("ADD", {1}, 0.5);
  mixed.set("outType", std::int64_t(DataType::Half));
  expectFastMatchesReference({"reduce", mixed, {{{F, {9, 70}}, {}, {}}}}, 1e-3);
}

TEST(FastReduce, GivesTheIdentityForNothing) {
  for (const auto *op : {"ADD", "MUL", "MIN", "MAX"}) {
    expectFastMatchesReference(
        {"reduce", reduceOf(op, {1}), {{{F, {3, 0}}, {}, {}}}}, 0);
  }
  EXPECT_THROW(
      Call("reduce", reduceOf("LOG_ADD", {1}), {{{F, {3, 0}}, {}, {}}}),
      std::invalid_argument);
}

TEST(FastSoftmax, MatchesAllFour) {
  for (const Shape &shape : {Shape{16, 10}, Shape{1, 1}, Shape{3, 4, 700},
                             Shape{300, 17}, Shape{5}}) {
    const TensorType x{F, shape};
    for (const auto *kind : {"softmax", "logSoftmax"}) {
      const Call forward(kind, {}, {{x, {}, {}}});
      expectFastMatchesReference(forward, 1e-5);
      expectFastMatchesReference(
          {std::string(kind) + "Grad",
           {},
           {{x, {}, {}}, {x, {}, forward.reference()[0]}}},
          1e-5);
    }
  }
}

TEST(FastNllLoss, MatchesForwardAndGradient) {
  for (const auto *reduction : {"mean", "sum", "none"}) {
    for (const std::int64_t ignore : {-1, 2}) {
      Attributes attributes{{"reduction", std::string(reduction)},
                            {"ignoreIndex", ignore}};
      const Input labels{{DataType::Int, {7}}, {}, {0, 1, 2, 3, 2, 1, 0}};
      const Call forward("nllLoss", attributes,
                         {{{F, {7, 4}}, {}, {}}, labels});
      expectFastMatchesReference(forward, 1e-6);
      attributes.set("classes", std::int64_t(4));
      expectFastMatchesReference({"nllLossGrad",
                                  attributes,
                                  {{forward.outputTypes()[0], {}, {}}, labels}},
                                 1e-6);
    }
  }
}

Input scalarOf(double value) {
  return {{F, {}}, {}, {value}};
}

TEST(FastUpdates, MatchInAndOutOfPlace) {
  for (const std::int64_t n : {1, 500, 60000}) {
    const Input tensor{{F, {n}}, {}, {}};
    const Input squares{{F, {n}}, {}, {0.3, 0.01, 0.2}};
    std::vector<Call> calls;
    for (const std::int64_t nesterov : {0, 1}) {
      calls.push_back({"sgdUpdate",
                       {{"momentum", std::int64_t(1)},
                        {"nesterov", nesterov},
                        {"gradientScale", 0.5}},
                       {tensor, tensor, scalarOf(0.1), scalarOf(0.01), tensor,
                        scalarOf(0.9), scalarOf(0.2)}});
    }
    calls.push_back({"sgdUpdate",
                     {{"momentum", std::int64_t(0)},
                      {"nesterov", std::int64_t(0)},
                      {"gradientScale", 1.0}},
                     {tensor, tensor, scalarOf(0.1), scalarOf(0.01)}});
    for (const std::int64_t flag : {0, 1}) {
      calls.push_back(
          {"adamUpdate",
           {{"gradientScale", 0.5},
            {"decoupledDecay", flag},
            {"biasCorrection", flag}},
           {tensor, tensor, tensor, squares, scalarOf(3), scalarOf(0.01),
            scalarOf(0.9), scalarOf(0.999), scalarOf(1e-8), scalarOf(0.01)}});
      calls.push_back(
          {"rmspropUpdate",
           {{"gradientScale", 0.5},
            {"momentum", std::int64_t(1)},
            {"epsilonInside", flag}},
           {tensor, tensor, squares, scalarOf(0.01), scalarOf(0.9),
            scalarOf(1e-3), scalarOf(0.01), tensor, scalarOf(0.8)}});
      calls.push_back({"rmspropUpdate",
                       {{"gradientScale", 0.5},
                        {"momentum", std::int64_t(0)},
                        {"epsilonInside", flag}},
                       {tensor, tensor, squares, scalarOf(0.01), scalarOf(0.9),
                        scalarOf(1e-3), scalarOf(0.01)}});
    }
    for (const auto &call : calls) {
      expectFastMatchesReference(call, 1e-5);
      EXPECT_EQ(call.fast(0, true), call.fast(0, false));
    }
  }
}

} // namespace
} // namespace kernels::testing
