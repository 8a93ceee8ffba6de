// Operators of ai.graphcore that are formulas of their operands' elements.
#include <ops/Formula.hpp>

#include <ops/Common.hpp>

#include <array>

namespace popart {
namespace {

constexpr std::array integers = {DataType::INT32, DataType::UINT32};
constexpr std::array remainderTypes = {
    DataType::INT8,  DataType::UINT8,  DataType::INT16, DataType::UINT16,
    DataType::INT32, DataType::UINT32, DataType::FLOAT, DataType::FLOAT16,
};
constexpr std::array countedTypes = {DataType::INT32, DataType::UINT32,
                                     DataType::FLOAT, DataType::FLOAT16};

FormulaRow ofFloats(const char *type, Formula formula) {
  return {.type = type,
          .schema = {.types = types::floats()},
          .formula = std::move(formula)};
}

FormulaRow ofBits(const char *type, Formula formula) {
  return {.type = type,
          .schema = {.types = integers},
          .formula = std::move(formula)};
}

} // namespace

std::vector<FormulaRow> graphcoreFormulas() {
  std::vector<FormulaRow> rows = {
      ofFloats("Atan2", {"atan2(a,b)", {"g*b/(a*a+b*b)", "-g*a/(a*a+b*b)"}}),
      ofFloats("Expm1", {"exponent_minus_one(a)", {"g*(y+1)"}}),
      // sqrt(2 / pi) and the cubic term of the approximation by tanh.
      ofFloats("Gelu",
               {"0.5*a*(1+tanh(0.7978845608028654*(a+0.044715*a*a*a)))",
                {"0.5*g*(1+tanh(0.7978845608028654*(a+0.044715*a*a*a))"
                 "+a*(1-square(tanh(0.7978845608028654*(a+0.044715*a*a*a))))"
                 "*0.7978845608028654*(1+0.134145*a*a))"}}),
      ofFloats("GeluErf", {"gelu_erf(a)",
                           {"g*(0.5+0.5*erf(0.7071067811865475*a)"
                            "+0.3989422804014327*a*exponent(-0.5*a*a))"}}),
      ofFloats("Log1p", {"logarithm_one_plus(a)", {"g/(1+a)"}}),
      // Halves go to the even number, or away from zero.
      ofFloats("NearbyInt", {"nearby_int(a)", {"0"}}),
      ofFloats("Round", {"round(a)", {"0"}}),
      ofFloats("Swish", {"a*sigmoid(a)", {"g*(sigmoid(a)+y*(1-sigmoid(a)))"}}),
      {.type = "Scale",
       .schema = {.types = types::floats(),
                  .attributes = {{"scale", 1.0f, true}}},
       .formula = {"a*{scale}", {"g*{scale}"}},
       .numbers = {{"scale", 1.0f}}},
      // The sign is the dividend's, or the divisor's.
      {.type = "Fmod",
       .schema = {.types = remainderTypes},
       .formula = {"remainder(a,b)", {"g", "-g*trunc(a/b)"}}},
      {.type = "Remainder",
       .schema = {.types = remainderTypes},
       .formula = {"select(remainder(a,b)+b,remainder(a,b),"
                   "logical_and(remainder(a,b)!=0,(remainder(a,b)<0)!=(b<0)))",
                   {"g", "-g*floor(a/b)"}}},
      {.type = "IncrementMod",
       .schema = {.types = countedTypes,
                  .attributes = {{"increment", 0.0f, true},
                                 {"modulus", 1.0f, true}}},
       .formula = {"remainder(a+{increment},{modulus})", {""}},
       .numbers = {{"increment", 0.0f}, {"modulus", 1.0f}}},
      ofBits("BitwiseAnd", {"bitwise_and(a,b)", {"", ""}}),
      ofBits("BitwiseNot", {"bitwise_not(a)", {""}}),
      ofBits("BitwiseOr", {"bitwise_or(a,b)", {"", ""}}),
      ofBits("BitwiseXnor", {"bitwise_xnor(a,b)", {"", ""}}),
      ofBits("BitwiseXor", {"bitwise_xor(a,b)", {"", ""}}),
  };
  for (FormulaRow &row : rows) {
    row.domain = "ai.graphcore";
  }
  return rows;
}

} // namespace popart
