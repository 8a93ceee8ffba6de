// Every element-wise operator, of every type that it takes, and expressions of
// any length have a fast kernel.
#include "RandomOperands.hpp"

#include "elementwise/OperatorTypes.hpp"

#include <kernels/Expression.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kernels::testing {
namespace {

using enum DataType;

constexpr DataType types[] = {Bool,     Char,  SignedChar,    UnsignedChar,
                              Short,    Int,   UnsignedShort, UnsignedInt,
                              LongLong, Float, Half,          UnsignedLongLong};

// On both sides of every border between widths and signs that the type reaches.
std::vector<double> valuesOf(DataType type) {
  if (type == Bool) {
    return {0, 1};
  }
  if (support::isFloatingPoint(type)) {
    return {0,    -0.0, 0.5,  -0.5, 1.5,      -1.5,      2.5, 1,   -1,
            3.75, -7.3, 19.9, -20,  INFINITY, -INFINITY, NAN, 0.1, 1000};
  }
  const bool isUnsigned = type == UnsignedChar || type == UnsignedShort ||
                          type == UnsignedInt || type == UnsignedLongLong;
  const int bits =
      std::min(8 * static_cast<int>(support::sizeOf(type)), 53); // of a double
  const double highest = std::ldexp(1, isUnsigned ? bits : bits - 1) - 1;
  const double lowest = isUnsigned ? 0 : -highest - 1;
  std::vector<double> values{0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 70};
  for (const int border : {0, 7, 8, 15, 16, 31, 32, 52}) {
    const double power = std::ldexp(1, border);
    for (const double value : {power - 1, power, power + 1, -power, 1 - power,
                               -power - 1, highest, lowest}) {
      if (value >= lowest && value <= highest) {
        values.push_back(value);
      }
    }
  }
  return values;
}

// Values of one operand meet all of the next one's.
Input operandOf(DataType type, unsigned position) {
  const auto values = valuesOf(type);
  const std::size_t step[] = {1, values.size(), 7};
  constexpr std::int64_t count = 3500;
  std::vector<double> repeated;
  for (std::size_t i = 0; i < count; ++i) {
    repeated.push_back(values[i / step[position] % values.size()]);
  }
  return {{type, {count}}, {}, std::move(repeated)};
}

TEST(FastElementwiseCoverage, TakesEveryOperatorOfEveryType) {
  for (const auto &info : elementwiseOps()) {
    for (const auto type : types) {
      if (!elementwise::takesType(info, type)) {
        continue;
      }
      std::vector<Expression> operands;
      std::vector<Input> inputs;
      for (unsigned i = 0; i < info.arity; ++i) {
        const bool isPredicate = info.op == ElementwiseOp::SELECT && i == 2;
        operands.push_back(Expression::input(i));
        inputs.push_back(operandOf(isPredicate ? Bool : type, i));
      }
      const bool isFloating = support::isFloatingPoint(type);
      expectFastMatchesReference(
          {"elementwise", Expression::apply(info.op, operands).toAttributes(),
           inputs},
          !isFloating    ? 0
          : type == Half ? 2e-3
                         : 2e-6);
    }
  }
}

// Longer than all buffers and constants side by side would be.
TEST(FastElementwiseCoverage, TakesChainsOfAnyLength) {
  const auto apply = [](ElementwiseOp op, const Expression &a,
                        const Expression &b) {
    return Expression::apply(op, {a, b});
  };
  for (const auto type : {Float, Half, Int}) {
    for (const int length : {31, 64, 200}) {
      auto chain = Expression::input(0);
      auto comb = Expression::input(1); // operands wait on the stack
      for (int i = 0; i < length; ++i) {
        const auto constant = Expression::constant(i % 50);
        chain = apply(i % 2 == 0 ? ElementwiseOp::ADD : ElementwiseOp::MAXIMUM,
                      chain, constant);
        comb = apply(ElementwiseOp::MINIMUM, constant, comb);
      }
      expectFastMatchesReference(
          {"elementwise",
           apply(ElementwiseOp::SUBTRACT, chain, comb).toAttributes(),
           {{{type, {2, 1500}}, {}, {}}, {{type, {2, 1500}}, {0, 1}, {}}}},
          0);
    }
  }
}

TEST(FastElementwiseCoverage, TakesManyInputs) {
  auto sum = Expression::input(0);
  std::vector<Input> inputs(1, {{Float, {700}}, {}, {}});
  for (unsigned i = 1; i < 60; ++i) {
    sum = Expression::apply(ElementwiseOp::ADD, {sum, Expression::input(i)});
    inputs.push_back({{Float, {700}}, {}, {}});
  }
  expectFastMatchesReference({"elementwise", sum.toAttributes(), inputs}, 0);
}

// A random expression over `inputs`, whose operators keep the type.
Expression randomExpression(RandomOperands &random, DataType type,
                            unsigned inputs, std::int64_t size) {
  if (size <= 1 && random.oneIn(4)) {
    const auto value = static_cast<double>(random.between(0, 5));
    return Expression::cast(type, Expression::constant(value));
  }
  if (size <= 1) {
    return Expression::input(
        static_cast<unsigned>(random.between(0, inputs - 1)));
  }
  std::vector<const ElementwiseOpInfo *> operators;
  for (const auto &info : elementwiseOps()) {
    if (!info.isPredicate && info.op != ElementwiseOp::SELECT &&
        elementwise::takesType(info, type)) {
      operators.push_back(&info);
    }
  }
  const auto *info = random.oneOf(operators);
  std::vector<Expression> operands;
  for (unsigned i = 0; i < info->arity; ++i) {
    operands.push_back(
        randomExpression(random, type, inputs, (size - 1) / info->arity));
  }
  return Expression::apply(info->op, operands);
}

// Of integers, whose results are the same bits however they are computed.
TEST(FastElementwiseCoverage, MatchesRandomExpressions) {
  forRandomCalls(300, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>(
        {Char, UnsignedChar, Short, UnsignedShort, Int, UnsignedInt, LongLong});
    const auto inputs = static_cast<unsigned>(random.between(1, 4));
    const auto expression = randomExpression(
        random, type, inputs, random.between(1, random.oneIn(3) ? 90 : 12));
    const Shape shape = random.shape(
        static_cast<std::size_t>(random.between(0, 4)), 1 << 13, true);
    std::vector<Input> operands;
    for (unsigned i = 0; i < inputs; ++i) {
      operands.push_back(random.view(type, shape));
      operands.back().values = valuesOf(type);
    }
    Call call("elementwise", expression.toAttributes(), operands);
    call.outputStrides(0, random.strides(shape, false));
    expectFastMatchesReference(call, 0);
  });
}

} // namespace
} // namespace kernels::testing
