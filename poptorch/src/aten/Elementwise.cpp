// Element-wise operators. Those that PopART has are one line of a table; the
// rest are put together from them.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

void lowerUnary(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(0, call.add(call.popartType(), {x}));
}

// floor and its like: integers stay as they are.
void lowerRounding(CallLowering &call) {
  if (isFloat(call.resultInfo().dataType())) {
    lowerUnary(call);
  } else {
    call.setResult(0, call.tensor(0));
  }
}

// relu(x), which takes integers, too.
void lowerRelu(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensor(0);
  call.setResult(0, isFloat(type) ? call.add("Relu", {x})
                                  : call.add("Max", {x, call.scalar(0, type)}));
}

// Truth values are their own signs.
void lowerSign(CallLowering &call) {
  TensorId x = call.tensor(0);
  bool isTruth = call.type(x) == DataType::BOOL;
  call.setResult(0, isTruth ? x : call.add("Sign", {x}));
}

void lowerBinary(CallLowering &call) {
  DataType type = operandType(call, 2);
  call.setResult(0, call.add(call.popartType(),
                             {call.tensorAs(0, type), call.tensorAs(1, type)}));
}

void lowerLogical(CallLowering &call) {
  std::vector<TensorId> operands = {call.tensorAs(0, DataType::BOOL)};
  if (call.argumentCount() > 1) {
    operands.push_back(call.tensorAs(1, DataType::BOOL));
  }
  call.setResult(0, call.add(call.popartType(), operands));
}

// add, sub and rsub: b is multiplied by alpha, the third argument.
std::pair<TensorId, TensorId> scaledOperands(CallLowering &call) {
  DataType type = arithmeticType(call.resultInfo().dataType());
  TensorId a = call.tensorAs(0, type);
  TensorId b = call.tensorAs(1, type);
  return {a, call.isNone(2) ? b : call.times(b, call.real(2))};
}

// The sum of truth values says whether one of them is true.
void lowerAdd(CallLowering &call) {
  auto [a, b] = scaledOperands(call);
  call.setResult(0, call.add(call.popartType(), {a, b}));
}

// rsub(a, b, alpha) = b - alpha * a
void lowerReverseSub(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  if (!call.isNone(2)) {
    a = call.times(a, call.real(2));
  }
  call.setResult(0, call.add("Sub", {call.tensorAs(1, type), a}));
}

void lowerFloorDivide(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  call.setResult(
      0, flooredQuotient(call, call.tensorAs(0, type), call.tensorAs(1, type)));
}

// div(a, b, rounding_mode)
void lowerDivMode(CallLowering &call) {
  if (!call.isNone(2) && call.string(2) == "floor") {
    lowerFloorDivide(call);
    return;
  }
  DataType type = call.resultInfo().dataType();
  TensorId quotient =
      call.add("Div", {call.tensorAs(0, type), call.tensorAs(1, type)});
  bool isWhole = call.isNone(2) || !isFloat(type);
  call.setResult(0, isWhole ? quotient : call.add("Trunc", {quotient}));
}

// Powers that are other operations, as torch computes them: (-inf)^0.5 is NaN.
TensorId specialPower(CallLowering &call, const TensorId &x, double exponent) {
  if (exponent == 2) {
    return call.add("Square", {x});
  }
  if (exponent == 3) {
    return call.add("Mul", {x, call.add("Square", {x})});
  }
  if (!isFloat(call.type(x))) {
    return {};
  }
  return exponent == 0.5    ? call.add("Sqrt", {x})
         : exponent == -0.5 ? call.add("Rsqrt", {x})
         : exponent == -1   ? call.add("Reciprocal", {x})
                            : TensorId();
}

void lowerPowScalar(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId y =
      call.isTensor(1) ? TensorId() : specialPower(call, x, call.real(1));
  call.setResult(0,
                 !y.empty() ? y : call.add("Pow", {x, call.tensorAs(1, type)}));
}

// Limits by the place of their arguments, where there are any. Those that cross
// give the upper one, and at a limit the gradient is whole: as in torch.
void setClamped(CallLowering &call, std::size_t low, std::size_t high) {
  DataType type = call.resultInfo().dataType();
  type = arithmeticType(type);
  std::vector<TensorId> operands = {call.tensorAs(0, type)};
  for (std::size_t limit : {low, high}) {
    if (!call.isNone(limit)) {
      operands.push_back(call.tensorAs(limit, type));
    }
  }
  TensorId y;
  if (operands.size() == 3) {
    bool areInOrder = call.isNumber(low) && call.isNumber(high) &&
                      call.real(low) <= call.real(high);
    y = byFormula(call, operands,
                  areInOrder ? "clamp(a,b,c)" : "min(max(a,b),c)",
                  {"select(g,0,logical_and(a>=b,a<=c))",
                   "select(g,0,logical_and(a<b,b<c))",
                   "select(g,0,logical_or(a>c,c<b))"});
  } else if (!call.isNone(low)) {
    y = byFormula(call, operands, "max(a,b)",
                  {"select(g,0,a>=b)", "select(g,0,a<b)"});
  } else {
    y = byFormula(call, operands, "min(a,b)",
                  {"select(g,0,a<=b)", "select(g,0,a>b)"});
  }
  call.setResult(0, y);
}

constexpr std::size_t noLimit = std::numeric_limits<std::size_t>::max();

void lowerClamp(CallLowering &call) {
  setClamped(call, 1, 2);
}

void lowerClampMin(CallLowering &call) {
  setClamped(call, 1, noLimit);
}

void lowerClampMax(CallLowering &call) {
  setClamped(call, noLimit, 1);
}

void lowerLogBase(CallLowering &call) {
  double base = call.call().op == "aten::log2" ? 2 : 10;
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(0, call.times(call.add("Log", {x}), 1 / std::log(base)));
}

void lowerFrac(CallLowering &call) {
  TensorId x = call.tensor(0);
  call.setResult(0, call.add("Sub", {x, call.add("Trunc", {x})}));
}

// 1 - erf(x)
void lowerErfc(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(0, call.plus(call.add("Neg", {call.add("Erf", {x})}), 1));
}

// Tests that are false for every integer.
void lowerFloatTest(CallLowering &call) {
  TensorId x = call.tensor(0);
  call.setResult(0, isFloat(call.type(x)) ? call.add(call.popartType(), {x})
                                          : call.filled(0, call.resultInfo()));
}

void lowerLogicalXor(CallLowering &call) {
  call.setResult(0, call.add("NotEqual", {call.tensorAs(0, DataType::BOOL),
                                          call.tensorAs(1, DataType::BOOL)}));
}

// Bits of BOOL are truth values.
void lowerBitwise(CallLowering &call) {
  if (call.resultInfo().dataType() == DataType::BOOL) {
    const std::string &type = call.popartType();
    if (type == "BitwiseXor") {
      lowerLogicalXor(call);
      return;
    }
    std::vector<TensorId> operands = {call.tensorAs(0, DataType::BOOL)};
    if (type != "BitwiseNot") {
      operands.push_back(call.tensorAs(1, DataType::BOOL));
    }
    call.setResult(0, call.add(type.substr(sizeof("Bitwise") - 1), operands));
    return;
  }
  DataType type = call.resultInfo().dataType();
  std::string name = call.call().op;
  name = name.substr(0, name.find('.')).substr(sizeof("aten::bitwise_") - 1);
  if (isFloat(type)) {
    call.fail("Bitwise-" + name +
              " operator supports only bool and integer types");
  }
  if (type == DataType::INT8 || type == DataType::UINT8) {
    call.fail("Bitwise-" + name +
              ": Poplar does not support binary operations on 8-bit integral "
              "types.");
  }
  if (call.popartType() == "BitwiseNot") {
    lowerUnary(call);
  } else {
    lowerBinary(call);
  }
}

// lerp(a, b, weight)
void lowerLerp(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  TensorId way = call.add("Sub", {call.tensorAs(1, type), a});
  call.setResult(
      0, call.add("Add", {a, call.add("Mul", {way, call.tensorAs(2, type)})}));
}

// a + value * b * c, and a + value * b / c
void lowerFusedTerm(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId term = call.add(call.popartType(),
                           {call.tensorAs(1, type), call.tensorAs(2, type)});
  call.setResult(0, call.add("Add", {call.tensorAs(0, type),
                                     call.times(term, call.real(3))}));
}

// where(condition, a, b)
void lowerWhere(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  call.setResult(
      0, call.add("Select", {call.tensorAs(1, type), call.tensorAs(2, type),
                             call.tensorAs(0, DataType::BOOL)}));
}

void lowerMaskedFill(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  call.setResult(
      0, call.add("Select", {call.tensorAs(2, type), call.tensorAs(0, type),
                             call.tensorAs(1, DataType::BOOL)}));
}

} // namespace

std::vector<AtenRow> elementwiseRows() {
  std::vector<AtenRow> rows = {
      {"aten::abs", lowerUnary, "Abs"},
      {"aten::acos", lowerUnary, "Acos"},
      {"aten::acosh", lowerUnary, "Acosh"},
      {"aten::asin", lowerUnary, "Asin"},
      {"aten::asinh", lowerUnary, "Asinh"},
      {"aten::atan", lowerUnary, "Atan"},
      {"aten::atanh", lowerUnary, "Atanh"},
      {"aten::bitwise_not", lowerBitwise, "BitwiseNot"},
      {"aten::ceil", lowerRounding, "Ceil"},
      {"aten::cos", lowerUnary, "Cos"},
      {"aten::cosh", lowerUnary, "Cosh"},
      {"aten::erfc", lowerErfc},
      {"aten::exp2", lowerUnary, "Exponent2"},
      {"aten::isinf", lowerFloatTest, "IsInf"},
      {"aten::isnan", lowerFloatTest, "IsNaN"},
      {"aten::lerp.Scalar", lowerLerp},
      {"aten::lerp.Tensor", lowerLerp},
      {"aten::logical_xor", lowerLogicalXor},
      {"aten::clamp.Tensor", lowerClamp},
      {"aten::clamp_min.Tensor", lowerClampMin},
      {"aten::clamp_max.Tensor", lowerClampMax},
      {"aten::remainder.Scalar", lowerBinary, "Mod"},
      {"aten::remainder.Scalar_Tensor", lowerBinary, "Mod"},
      {"aten::remainder.Tensor", lowerBinary, "Mod"},
      {"aten::erf", lowerUnary, "Erf"},
      {"aten::exp", lowerUnary, "Exp"},
      {"aten::expm1", lowerUnary, "Expm1"},
      {"aten::floor", lowerRounding, "Floor"},
      {"aten::log", lowerUnary, "Log"},
      {"aten::log1p", lowerUnary, "Log1p"},
      {"aten::neg", lowerUnary, "Neg"},
      {"aten::reciprocal", lowerUnary, "Reciprocal"},
      {"aten::relu", lowerRelu},
      {"aten::round", lowerRounding, "NearbyInt"},
      {"aten::rsqrt", lowerUnary, "Rsqrt"},
      {"aten::sigmoid", lowerUnary, "Sigmoid"},
      {"aten::sign", lowerSign},
      {"aten::sgn", lowerSign},
      {"aten::sin", lowerUnary, "Sin"},
      {"aten::sinh", lowerUnary, "Sinh"},
      {"aten::sqrt", lowerUnary, "Sqrt"},
      {"aten::tan", lowerUnary, "Tan"},
      {"aten::tanh", lowerUnary, "Tanh"},
      {"aten::trunc", lowerRounding, "Trunc"},
      {"aten::atan2", lowerBinary, "Atan2"},
      {"aten::fmod.Scalar", lowerBinary, "Remainder"},
      {"aten::fmod.Tensor", lowerBinary, "Remainder"},
      {"aten::maximum", lowerBinary, "Max"},
      {"aten::minimum", lowerBinary, "Min"},
      {"aten::pow.Scalar", lowerBinary, "Pow"},
      {"aten::pow.Tensor_Tensor", lowerBinary, "Pow"},
      {"aten::pow.Tensor_Scalar", lowerPowScalar},
      {"aten::logical_not", lowerLogical, "Not"},
      {"aten::logical_and", lowerLogical, "And"},
      {"aten::logical_or", lowerLogical, "Or"},
      {"aten::div.Tensor_mode", lowerDivMode},
      {"aten::div.Scalar_mode", lowerDivMode},
      {"aten::floor_divide", lowerFloorDivide},
      {"aten::floor_divide.Scalar", lowerFloorDivide},
      {"aten::clamp", lowerClamp},
      {"aten::clamp_min", lowerClampMin},
      {"aten::clamp_max", lowerClampMax},
      {"aten::log2", lowerLogBase},
      {"aten::log10", lowerLogBase},
      {"aten::frac", lowerFrac},
      {"aten::addcmul", lowerFusedTerm, "Mul"},
      {"aten::addcdiv", lowerFusedTerm, "Div"},
      {"aten::where.self", lowerWhere},
      {"aten::masked_fill.Scalar", lowerMaskedFill},
      {"aten::masked_fill.Tensor", lowerMaskedFill},
  };
  // Operators with an overload for a tensor and one for a number.
  const std::pair<const char *, AtenRow> families[] = {
      {"add", {"", lowerAdd, "Add"}},
      {"sub", {"", lowerAdd, "Sub"}},
      {"rsub", {"", lowerReverseSub}},
      {"mul", {"", lowerBinary, "Mul"}},
      {"div", {"", lowerBinary, "Div"}},
      {"eq", {"", lowerBinary, "Equal"}},
      {"ne", {"", lowerBinary, "NotEqual"}},
      {"gt", {"", lowerBinary, "Greater"}},
      {"ge", {"", lowerBinary, "GreaterOrEqual"}},
      {"lt", {"", lowerBinary, "Less"}},
      {"le", {"", lowerBinary, "LessOrEqual"}},
      {"bitwise_and", {"", lowerBitwise, "BitwiseAnd"}},
      {"bitwise_or", {"", lowerBitwise, "BitwiseOr"}},
      {"bitwise_xor", {"", lowerBitwise, "BitwiseXor"}},
  };
  for (const auto &[name, row] : families) {
    for (const char *overload : {".Tensor", ".Scalar"}) {
      rows.push_back(row);
      rows.back().op = std::string("aten::") + name + overload;
    }
  }
  return rows;
}

} // namespace poptorch
