// The fast kernels of element-wise kinds, reductions, products, losses and
// updates against the references, over shapes that hit tails, strides and
// single elements.
#include "KernelTesting.hpp"

#include <kernels/Expression.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

constexpr auto F = DataType::Float;
constexpr std::string_view names[] = {"a", "b", "c"};

Attributes expression(std::string_view text) {
  return Expression::parse(text, names).toAttributes();
}

TEST(FastElementwise, MatchesOnContiguousOperands) {
  for (std::int64_t n : {1, 15, 16, 17, 511, 512, 513, 100003}) {
    expectFastMatchesReference(
        {"elementwise",
         expression("a*b+step(c)"),
         {{{F, {n}}, {}, {}}, {{F, {n}}, {}, {}}, {{F, {n}}, {}, {}}}},
        1e-6);
  }
}

TEST(FastElementwise, MatchesForEveryFloatOperator) {
  for (const auto &info : elementwiseOps()) {
    if (info.cost.find('F') == std::string_view::npos ||
        info.op == ElementwiseOp::SELECT) {
      continue;
    }
    std::vector<Expression> operands;
    std::vector<Input> inputs;
    for (unsigned i = 0; i < info.arity; ++i) {
      operands.push_back(Expression::input(i));
      inputs.push_back({{F, {100}}, {}, {}});
    }
    Call call("elementwise",
              Expression::apply(info.op, operands).toAttributes(), inputs);
    const auto wanted = call.reference()[0];
    const auto given = call.fast()[0];
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (std::isnan(wanted[i])) {
        EXPECT_TRUE(std::isnan(given[i])) << info.name;
      } else {
        EXPECT_NEAR(given[i], wanted[i],
                    1e-6 * std::max(1.0, std::abs(wanted[i])))
            << info.name << " of " << call.inputValues(0)[i];
      }
    }
  }
}

TEST(FastElementwise, TakesBroadcastTransposedAndReversedViews) {
  const Attributes add = expression("a+b*c");
  expectFastMatchesReference({"elementwise",
                              add,
                              {{{F, {5, 7, 9}}, {}, {}},
                               {{F, {5, 7, 9}}, {0, 1, 0}, {}},
                               {{F, {5, 7, 9}}, {1, 5, 35}, {}}}},
                             1e-6);
  expectFastMatchesReference(
      {"elementwise",
       expression("a-2*b"),
       {{{F, {40, 33}}, {-33, 1}, {}}, {{F, {40, 33}}, {1, -40}, {}}}},
      1e-6);
  Call transposed("elementwise", expression("tanh(a)"),
                  {{{F, {130, 70}}, {}, {}}});
  transposed.outputStrides(0, {1, 130});
  expectFastMatchesReference(transposed, 1e-6);
  Call large("elementwise", expression("a*b"),
             {{{F, {600, 500}}, {500, 1}, {}}, {{F, {600, 500}}, {0, 1}, {}}});
  EXPECT_GT(large.taskCount(), 1u);
  expectFastMatchesReference(large, 1e-6);
}

TEST(FastElementwise, TakesBoolAndHalf) {
  expectFastMatchesReference({"elementwise",
                              expression("select(a,b,c)"),
                              {{{F, {700}}, {}, {}},
                               {{F, {700}}, {}, {}},
                               {{DataType::Bool, {700}}, {}, {}}}},
                             0);
  expectFastMatchesReference({"elementwise",
                              expression("a>b"),
                              {{{F, {700}}, {}, {}}, {{F, {700}}, {}, {}}}},
                             0);
  const auto H = DataType::Half;
  expectFastMatchesReference({"elementwise",
                              expression("a*b+a"),
                              {{{H, {700}}, {}, {}}, {{H, {700}}, {}, {}}}},
                             0);
  expectFastMatchesReference(
      {"elementwise",
       Expression::cast(H, Expression::parse("a*3", names)).toAttributes(),
       {{{F, {70}}, {}, {}}}},
      0);
}

TEST(FastElementwise, TakesEveryIntegerType) {
  using support::DataType;
  for (auto t = int(DataType::Char); t <= int(DataType::UnsignedLongLong);
       ++t) {
    const auto type = static_cast<DataType>(t);
    const Strides transposed{1, 23};
    for (const auto *text :
         {"a*b+a", "maximum(a,b)-7", "bitwise_xor(a,bitwise_not(b))", "a>=b",
          "clamp(a,b,c)", "a/b", "remainder(a,b)"}) {
      expectFastMatchesReference({"elementwise",
                                  expression(text),
                                  {{{type, {23, 70}}, {}, {}},
                                   {{type, {23, 70}}, transposed, {}},
                                   {{type, {23, 70}}, {0, 1}, {}}}},
                                 0);
    }
    expectFastMatchesReference({"elementwise",
                                expression("select(a,b,c)"),
                                {{{type, {700}}, {}, {}},
                                 {{type, {700}}, {}, {}},
                                 {{DataType::Bool, {700}}, {}, {}}}},
                               0);
    const Call sum("elementwise", expression("a+b"),
                   {{{type, {2000}}, {}, {}}, {{type, {2000}}, {}, {}}});
    EXPECT_EQ(sum.fast(0, true), sum.fast(0, false));
  }
}

TEST(FastElementwise, CastsBetweenAllTypes) {
  using support::DataType;
  const std::vector<double> values{0,     1,     -1,    127.9, 128,     -129.5,
                                   300,   65535, 65536, 4e9,   -4e9,    1e19,
                                   -1e19, NAN,   0.5,   -0.5,  INFINITY};
  const auto count = static_cast<std::int64_t>(values.size());
  for (auto from = 0; from <= int(DataType::Float); ++from) {
    for (auto to = 0; to <= int(DataType::Float); ++to) {
      const auto a = static_cast<DataType>(from);
      const auto b = static_cast<DataType>(to);
      if (a == DataType::Quarter || b == DataType::Quarter) {
        continue;
      }
      const auto cast = Expression::cast(b, Expression::input(0));
      Input input{{a, {700}}, {}, {}};
      if (a == DataType::Float) {
        input = {{a, {count}}, {}, values};
      }
      const Call call("elementwise", cast.toAttributes(), {input});
      const auto wanted = call.reference()[0];
      const auto given = call.fast()[0];
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(given[i] == wanted[i] ||
                    (std::isnan(given[i]) && std::isnan(wanted[i])))
            << support::toString(a) << " to " << support::toString(b) << ": "
            << call.inputValues(0)[i] << " gives " << given[i] << ", not "
            << wanted[i];
      }
    }
  }
}

TEST(FastElementwise, MayOverwriteAnInput) {
  const Call call("elementwise", expression("a*b-a"),
                  {{{F, {2000}}, {}, {}}, {{F, {2000}}, {}, {}}});
  EXPECT_EQ(call.fast(0, true), call.fast(0, false));
}

TEST(FastElementwise, LeavesWhatDependsOnWidthToTheReference) {
  const auto isTaken = [](DataType type) {
    return Call("elementwise", expression("shift_left(a,b)"),
                {{{type, {3}}, {}, {}}, {{type, {3}}, {}, {}}})
        .isTaken();
  };
  EXPECT_TRUE(isTaken(DataType::Int));
  EXPECT_FALSE(isTaken(DataType::Short));
}

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

Attributes matmulOf(bool bias = false, std::string activation = "") {
  return {{"bias", std::int64_t(bias)}, {"activation", std::move(activation)}};
}

TEST(FastMatmul, MatchesOnSizesAndTransposes) {
  const std::int64_t sizes[][3] = {{1, 1, 1},     {16, 972, 100}, {3, 5, 7},
                                   {65, 17, 130}, {1, 9, 4},      {9, 4, 1}};
  for (const auto &[m, k, n] : sizes) {
    for (const bool transposesA : {false, true}) {
      for (const bool transposesB : {false, true}) {
        expectFastMatchesReference(
            {"matmul",
             matmulOf(),
             {{{F, {m, k}}, transposesA ? Strides{1, m} : Strides{k, 1}, {}},
              {{F, {k, n}}, transposesB ? Strides{1, k} : Strides{n, 1}, {}}}},
            1e-4);
      }
    }
  }
}

TEST(FastMatmul, AddsBiasAndActivation) {
  expectFastMatchesReference({"matmul",
                              matmulOf(true, "RELU"),
                              {{{F, {16, 100}}, {}, {}},
                               {{F, {100, 10}}, {1, 100}, {}},
                               {{F, {10}}, {}, {}}}},
                             1e-4);
  Call sharded("matmul", matmulOf(true, "RELU"),
               {{{F, {8, 300}}, {}, {}},
                {{F, {300, 1000}}, {}, {}},
                {{F, {1000}}, {}, {}}});
  EXPECT_GT(sharded.taskCount(), 1u);
  expectFastMatchesReference(sharded, 1e-4);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(true),
       {{{F, {4, 6}}, {}, {}}, {{F, {6, 5}}, {}, {}}, {{F, {5}}, {0}, {}}}},
      1e-5);
}

// HALF through copies: where a transposed operand is dense its copy lies as it
// does, where it is not the copy is row-major.
TEST(FastMatmul, TakesHalfOperandsWhateverTheirStrides) {
  constexpr auto H = DataType::Half;
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{H, {40, 33}}, {1, 40}, {}}, {{H, {33, 20}}, {1, 33}, {}}}},
      2e-3);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{H, {3, 8, 9}}, {0, 100, 2}, {}}, {{H, {3, 9, 5}}, {45, 1, 9}, {}}}},
      2e-3);
  Call strided("matmul", matmulOf(),
               {{{H, {6, 7}}, {40, 3}, {}}, {{H, {7, 5}}, {2, 30}, {}}});
  strided.outputStrides(0, {2, 20});
  expectFastMatchesReference(strided, 2e-3);
  auto toFloat = matmulOf();
  toFloat.set("outType", static_cast<std::int64_t>(F));
  expectFastMatchesReference(
      {"matmul", toFloat, {{{H, {6, 70}}, {}, {}}, {{H, {70, 5}}, {}, {}}}},
      1e-5);
}

TEST(FastMatmul, TakesGroupsAndOddStrides) {
  expectFastMatchesReference({"matmul",
                              matmulOf(true, "RELU"),
                              {{{F, {2, 8, 9}}, {}, {}},
                               {{F, {2, 9, 5}}, {}, {}},
                               {{F, {5}}, {}, {}}}},
                             1e-5);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{F, {3, 8, 9}}, {}, {}}, {{F, {3, 9, 5}}, {45, 1, 9}, {}}}},
      1e-5);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{F, {3, 8, 9}}, {0, 9, 1}, {}}, {{F, {3, 9, 5}}, {}, {}}}},
      1e-5);
  Call strided("matmul", matmulOf(),
               {{{F, {6, 7}}, {40, 3}, {}}, {{F, {7, 5}}, {2, 30}, {}}});
  strided.outputStrides(0, {1, 6});
  expectFastMatchesReference(strided, 1e-5);
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
