// Expressions: parsing, types, and the values of operators.
#include <kernels/Expression.hpp>
#include <kernels/Kind.hpp>
#include <support/Half.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernels {
namespace {

constexpr std::string_view names[] = {"a", "b", "c"};

// The value of an expression of float scalars, through the kind's reference.
double evaluate(const Expression &expression, std::array<float, 3> values) {
  const Attributes attributes = expression.toAttributes();
  std::vector<TensorType> types(3, TensorType{DataType::Float, {}});
  const auto &kind = findKind("elementwise");
  const auto outputs = kind.infer(attributes, types);
  std::vector<OperandSpec> inputs(3, OperandSpec::rowMajor(types[0]));
  const std::vector<OperandSpec> output{OperandSpec::rowMajor(outputs[0])};
  float result = -77;
  std::uint8_t predicate = 99;
  const bool isBool = outputs[0].type == DataType::Bool;
  std::array<std::byte *, 4> data{
      reinterpret_cast<std::byte *>(&values[0]),
      reinterpret_cast<std::byte *>(&values[1]),
      reinterpret_cast<std::byte *>(&values[2]),
      isBool ? reinterpret_cast<std::byte *>(&predicate)
             : reinterpret_cast<std::byte *>(&result)};
  kind.reference({{attributes, inputs, output}, data});
  return isBool ? predicate : static_cast<double>(result);
}

double evaluate(std::string_view text, float a, float b = 0, float c = 0) {
  return evaluate(Expression::parse(text, names), {a, b, c});
}

std::string errorOf(std::string_view text) {
  try {
    Expression::parse(text, names);
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

TEST(ExpressionParse, FollowsPrecedence) {
  EXPECT_EQ(evaluate("a+b*c", 1, 2, 3), 7);
  EXPECT_EQ(evaluate("(a+b)*c", 1, 2, 3), 9);
  EXPECT_EQ(evaluate("a-b-c", 10, 3, 2), 5);
  EXPECT_EQ(evaluate("a/b/c", 12, 3, 2), 2);
  EXPECT_EQ(evaluate("-a*b", 2, 3), -6);
  EXPECT_EQ(evaluate("a - -b", 2, 3), 5);
  EXPECT_EQ(evaluate("1.5e1*a", 2), 30);
}

TEST(ExpressionParse, CallsOperatorsByName) {
  EXPECT_EQ(evaluate("sqrt(a)", 9), 3);
  EXPECT_EQ(evaluate("step(a)+step(b)", 2, -1), 1);
  EXPECT_EQ(evaluate("maximum(a, b)", 2, 5), 5);
  EXPECT_EQ(evaluate("max(a,b)-min(a,b)", 2, 5), 3);
  EXPECT_EQ(evaluate("select(a,b,a>b)", 4, 3), 4);
  EXPECT_EQ(evaluate("select(a,b,a<=b)", 4, 3), 3);
  EXPECT_NEAR(evaluate("exp(a)", 1), 2.718281828, 1e-6);
}

TEST(ExpressionParse, PointsAtTheMistake) {
  EXPECT_EQ(errorOf("a+"), "[Expression::parse] expected a value at character "
                           "2 of \"a+\"");
  EXPECT_EQ(errorOf("a*foo(b)"),
            "[Expression::parse] unknown name at character 2 of \"a*foo(b)\"");
  EXPECT_EQ(errorOf("(a"),
            "[Expression::parse] expected ')' at character 2 of \"(a\"");
  EXPECT_EQ(errorOf("a b"), "[Expression::parse] expected an operator or the "
                            "end at character 2 of \"a b\"");
  EXPECT_EQ(errorOf("tanh(a,b)"),
            "[Expression::parse] wrong number of operands at character 8 of "
            "\"tanh(a,b)\"");
}

TEST(ExpressionParse, ReadsEveryGradientOfTheTable) {
  constexpr std::string_view gradientNames[] = {"g", "y", "a", "b", "c"};
  for (const auto &info : elementwiseOps()) {
    for (auto text : info.gradients) {
      if (!text.empty()) {
        EXPECT_NO_THROW(Expression::parse(text, gradientNames)) << text;
      }
    }
  }
}

// Derivatives by central differences of the operator itself.
TEST(ElementwiseOps, HaveTheGradientsOfTheirFunctions) {
  constexpr std::string_view gradientNames[] = {"g", "y", "a", "b", "c"};
  const std::array<std::array<float, 3>, 3> points{
      {{0.4f, 0.7f, 0.9f}, {0.8f, 0.3f, 1.5f}, {0.25f, -0.14f, 0.1f}}};
  for (const auto &info : elementwiseOps()) {
    std::vector<Expression> operands;
    for (unsigned i = 0; i < info.arity; ++i) {
      operands.push_back(Expression::input(i));
    }
    for (unsigned by = 0; by < info.arity; ++by) {
      if (info.gradients[by].empty() || info.op == ElementwiseOp::SELECT) {
        continue;
      }
      const auto forward = Expression::apply(info.op, operands);
      const auto gradient =
          Expression::parse(info.gradients[by], gradientNames)
              .substitute(std::vector{
                  Expression::constant(1), forward, Expression::input(0),
                  Expression::input(1), Expression::input(2)});
      for (const auto &point : points) {
        auto above = point;
        auto below = point;
        above[by] += 0.01f;
        below[by] -= 0.01f;
        const double slope =
            (evaluate(forward, above) - evaluate(forward, below)) /
            (double(above[by]) - double(below[by]));
        EXPECT_NEAR(evaluate(gradient, point), slope,
                    0.01 * std::max(1.0, std::abs(slope)))
            << info.name << " by operand " << by << " at " << point[0] << ", "
            << point[1] << ", " << point[2];
      }
    }
  }
}

TEST(ElementwiseOps, HaveTheirDocumentedValues) {
  EXPECT_EQ(evaluate("round(a)", 2.5f), 3);
  EXPECT_EQ(evaluate("nearby_int(a)", 2.5f), 2);
  EXPECT_EQ(evaluate("round(a)", -2.5f), -3);
  EXPECT_EQ(evaluate("trunc(a)", -2.5f), -2);
  EXPECT_EQ(evaluate("remainder(a,b)", -7, 3), -1);
  EXPECT_EQ(evaluate("signum(a)", -7), -1);
  EXPECT_EQ(evaluate("clamp(a,b,c)", 7, 1, 3), 3);
  EXPECT_EQ(evaluate("is_nan(a)", NAN), 1);
  EXPECT_EQ(evaluate("is_finite(a)", INFINITY), 0);
  EXPECT_EQ(evaluate("inv_std_dev_to_variance(a,b)", 0.5f, 1), 3);
  EXPECT_EQ(evaluate("variance_to_inv_std_dev(a,b)", 3, 1), 0.5);
  EXPECT_NEAR(evaluate("gelu_erf(a)", 1), 0.8413447, 1e-6);
  EXPECT_NEAR(evaluate("sigmoid(a)", 1), 0.7310586, 1e-6);
  EXPECT_TRUE(std::isnan(evaluate("max(a,b)", NAN, 1)));
}

TEST(Expression, SurvivesTheWayThroughAttributes) {
  const auto expression = Expression::parse("2*a+tanh(b)*3.5", names);
  const auto copy = Expression::fromAttributes(expression.toAttributes());
  EXPECT_EQ(copy.toAttributes(), expression.toAttributes());
  EXPECT_EQ(copy.inputCount(), 2u);
  EXPECT_EQ(evaluate(copy, {1, 0, 0}), 2);
}

TEST(Expression, GivesConstantsTheTypeTheyMeet) {
  const DataType half[] = {DataType::Half, DataType::Half};
  const auto types = Expression::parse("(1+2)*a", names).stepTypes(half);
  EXPECT_EQ(types, std::vector<DataType>(5, DataType::Half));
  const DataType ints[] = {DataType::Int, DataType::Int};
  EXPECT_EQ(Expression::parse("a>b", names).stepTypes(ints).back(),
            DataType::Bool);
  const auto cast =
      Expression::cast(DataType::Float, Expression::parse("a+1", names));
  EXPECT_EQ(cast.stepTypes(ints).back(), DataType::Float);
  EXPECT_EQ(cast.stepTypes(ints)[1], DataType::Int);
}

TEST(Expression, RefusesTypesAnOperatorDoesNotTake) {
  const DataType mixed[] = {DataType::Float, DataType::Half};
  EXPECT_THROW(Expression::parse("a+b", names).stepTypes(mixed),
               std::invalid_argument);
  const DataType ints[] = {DataType::Int};
  EXPECT_THROW(Expression::parse("tanh(a)", names).stepTypes(ints),
               std::invalid_argument);
  const DataType floats[] = {DataType::Float};
  EXPECT_THROW(Expression::parse("bitwise_not(a)", names).stepTypes(floats),
               std::invalid_argument);
}

TEST(Half, RoundsToNearestEven) {
  using support::floatToHalfBits;
  EXPECT_EQ(floatToHalfBits(1.0f), 0x3c00);
  EXPECT_EQ(floatToHalfBits(-2.0f), 0xc000);
  EXPECT_EQ(floatToHalfBits(65504.0f), 0x7bff);
  EXPECT_EQ(floatToHalfBits(65519.9f), 0x7bff);
  EXPECT_EQ(floatToHalfBits(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalfBits(1 + 0x1p-11f), 0x3c00);            // tie, to even
  EXPECT_EQ(floatToHalfBits(1 + 3 * 0x1p-11f), 0x3c02);        // tie, to even
  EXPECT_EQ(floatToHalfBits(1 + 0x1p-11f + 0x1p-20f), 0x3c01); // above the tie
  EXPECT_EQ(floatToHalfBits(0x1p-24f), 0x0001);
  EXPECT_EQ(floatToHalfBits(0x1p-25f), 0x0000);
  EXPECT_EQ(floatToHalfBits(0x1p-14f - 0x1p-26f), 0x0400);
}

TEST(Half, ComesBackFromFloatUnchanged) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = support::halfBitsToFloat(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(
          support::halfBitsToFloat(support::floatToHalfBits(value))));
    } else {
      EXPECT_EQ(support::floatToHalfBits(value), half);
    }
  }
}

} // namespace
} // namespace kernels
