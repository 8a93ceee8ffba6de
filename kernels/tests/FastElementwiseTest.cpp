// The fast kernels of element-wise expressions against the references and the C
// library, over shapes that hit tails, strides and single elements.
#include "KernelTesting.hpp"

#include <kernels/Expression.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

// Long rows are used where they are, short ones are packed into blocks.
TEST(FastElementwise, TakesRowsOfAnyLength) {
  for (std::int64_t n : {10, 127, 128, 300, 1500}) {
    for (const DataType type : {F, DataType::Half}) {
      const TensorType tensor{type, {3, 20, n}};
      const std::vector<Input> operands = {
          {tensor, {20 * n + 50, n, 1}, {}}, // of a wider one
          {tensor, {0, 0, 1}, {}},           // a row
          {tensor, {0, 1, 0}, {}},           // a column
          {tensor, {0, 0, 0}, {}}};          // a scalar
      for (const auto &b : operands) {
        Call call("elementwise", expression("a+b"), {{tensor, {}, {}}, b});
        expectFastMatchesReference(call, 1e-6);
        call.outputStrides(0, {20 * (n + 3), n + 3, 1});
        expectFastMatchesReference(call, 1e-6);
      }
    }
  }
}

// Operands that are one element of each row give the bits of written-out ones
// (in rows that do not merge, so that the last vectors are the same).
TEST(FastElementwise, TakesSingleElementsOnEitherSideOfEveryOperator) {
  constexpr std::size_t rows = 3, columns = 141;
  const auto isSame = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  for (const auto &info : elementwiseOps()) {
    if (info.arity != 2 || info.cost.find('F') == std::string_view::npos) {
      continue;
    }
    const auto attributes =
        Expression::apply(info.op, {Expression::input(0), Expression::input(1)})
            .toAttributes();
    for (const DataType type : {F, DataType::Half}) {
      const TensorType tensor{type, {rows, columns}};
      for (const unsigned singles : {1u, 2u, 3u}) {
        std::vector<Input> inputs;
        for (unsigned i = 0; i < 2; ++i) {
          inputs.push_back({tensor,
                            (singles >> i & 1) != 0 ? Strides{1, 0} : Strides{},
                            {}});
        }
        const Call call("elementwise", attributes, inputs);
        for (std::size_t i = 0; i < 2; ++i) {
          inputs[i] = {tensor, {columns + 7, 1}, call.inputValues(i)};
        }
        const auto wanted = Call("elementwise", attributes, inputs).fast()[0];
        const auto given = call.fast()[0];
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          EXPECT_TRUE(isSame(given[i], wanted[i]))
              << info.name << ", " << singles << ": " << given[i] << ", not "
              << wanted[i];
        }
      }
    }
  }
}

// A column that a unary and a ternary operator read, too, is written out.
TEST(FastElementwise, TakesSingleElementsOfMixedUses) {
  const TensorType tensor{F, {4, 1100}};
  for (const auto *text : {"a*(b-2)+c/b", "b*c+a", "relu(b)+a*b", "3*2-a*c",
                           "clamp(a,b,c)*b", "select(a,b,a>b)-b*c"}) {
    expectFastMatchesReference({"elementwise",
                                expression(text),
                                {{tensor, {}, {}},
                                 {tensor, {1, 0}, {1, 2, 3}},
                                 {tensor, {0, 0}, {5}}}},
                               1e-6);
  }
}

// Sums and products are joined in twos, with the two roundings that the
// reference has: the same bits, whichever operands are single elements.
TEST(FastElementwise, RoundsBothOperatorsOfAPair) {
  constexpr std::int64_t rows = 3, columns = 141;
  for (const char *text : {"a*b+c", "c+a*b", "(a+b)*c", "c*(a+b)", "a*b*c",
                           "a+b+c", "0.1*a+b", "a+3*b", "(a+0.1)*0.3", "a*a*a",
                           "(a*b)*(a*b)", "a*b+c*a", "0.1*a+0.3*b+0.7*c"}) {
    for (unsigned singles = 0; singles < 8; ++singles) {
      std::vector<Input> inputs;
      for (unsigned i = 0; i < 3; ++i) {
        const bool isSingle = (singles >> i & 1) != 0;
        inputs.push_back(
            {{F, {rows, columns}}, isSingle ? Strides{1, 0} : Strides{}, {}});
      }
      expectFastMatchesReference({"elementwise", expression(text), inputs}, 0);
    }
  }
}

TEST(FastElementwise, RepeatsConstantsForManyElements) {
  expectFastMatchesReference(
      {"elementwise", expression("3*a"), {{{F, {5000}}, {}, {}}}}, 1e-6);
}

// Against the C library's functions of doubles.
TEST(FastElementwise, HasFunctionsOfFewUnitsInTheLastPlace) {
  struct Row {
    const char *text;
    double (*function)(double);
    double units; // of 2^-24 of the result
  };
  const Row rows[] = {
      {"exponent(a)", [](double x) { return std::exp(x); }, 2.5},
      {"erf(a)", [](double x) { return std::erf(x); }, 3},
      {"sigmoid(a)", [](double x) { return 1 / (1 + std::exp(-x)); }, 5},
      {"sinh(a)", [](double x) { return std::sinh(x); }, 8},
      {"tanh(a)", [](double x) { return std::tanh(x); }, 8}};
  std::vector<double> values;
  for (int i = -8700; i < 8800; ++i) {
    values.push_back(static_cast<float>(0.01 * i + 0.001 * (i % 7)));
  }
  const Shape shape{static_cast<std::int64_t>(values.size())};
  for (const auto &row : rows) {
    const Call call("elementwise", expression(row.text),
                    {{{F, shape}, {}, values}});
    const auto given = call.fast()[0];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double wanted = row.function(values[i]);
      ASSERT_NEAR(given[i], wanted,
                  row.units * std::ldexp(std::abs(wanted), -24))
          << row.text << " of " << values[i];
    }
  }
}

TEST(FastElementwise, TakesFunctionsToTheirLimits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto results = [](const char *text) {
    return Call("elementwise", expression(text),
                {{{F, {6}}, {}, {infinity, -infinity, NAN, 1e30, -1e30, 0}}})
        .fast()[0];
  };
  const auto expectAll = [&](const char *text, std::vector<double> wanted) {
    const auto given = results(text);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(given[i] == wanted[i] ||
                  (std::isnan(given[i]) && std::isnan(wanted[i])))
          << text << ", " << i << ": " << given[i];
    }
  };
  expectAll("exponent(a)", {infinity, 0, NAN, infinity, 0, 1});
  expectAll("sigmoid(a)", {1, 0, NAN, 1, 0, 0.5});
  expectAll("erf(a)", {1, -1, NAN, 1, -1, 0});
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

} // namespace
} // namespace kernels::testing
