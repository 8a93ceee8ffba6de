// Element-wise operators. Those that PopART has are one line of a table; the
// rest are put together from them.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

// The type that the operands are brought to: the result's, unless that is BOOL
// (comparisons), where it is the widest operand's.
DataType operandType(CallLowering &call, std::size_t count) {
  DataType result = call.resultInfo().dataType();
  if (result != DataType::BOOL) {
    return result;
  }
  auto rankOf = [](DataType type) {
    constexpr DataType order[] = {
        DataType::BOOL,  DataType::UINT8,   DataType::INT8, DataType::INT16,
        DataType::INT32, DataType::FLOAT16, DataType::FLOAT};
    return std::find(std::begin(order), std::end(order), type) -
           std::begin(order);
  };
  DataType widest = DataType::BOOL;
  for (std::size_t i = 0; i < count; ++i) {
    if (call.isTensor(i)) {
      DataType type = call.info(call.tensor(i)).dataType();
      widest = rankOf(type) > rankOf(widest) ? type : widest;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!call.isTensor(i) && !isFloat(widest) &&
        call.real(i) != std::floor(call.real(i))) {
      return DataType::FLOAT;
    }
  }
  return widest == DataType::BOOL ? DataType::INT32 : widest;
}

void lowerUnary(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(0, call.add(call.popartType(), {x}));
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
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  TensorId b = call.tensorAs(1, type);
  return {a, call.isNone(2) ? b : call.times(b, call.real(2))};
}

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

void lowerDivMode(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  DataType exact = isFloat(type) ? type : DataType::FLOAT;
  TensorId quotient =
      call.add("Div", {call.tensorAs(0, exact), call.tensorAs(1, exact)});
  if (!call.isNone(2)) {
    quotient =
        call.add(call.string(2) == "floor" ? "Floor" : "Trunc", {quotient});
  }
  call.setResult(0, quotient);
}

void lowerFloorDivide(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  DataType exact = isFloat(type) ? type : DataType::FLOAT;
  TensorId quotient =
      call.add("Div", {call.tensorAs(0, exact), call.tensorAs(1, exact)});
  call.setResult(0, call.add("Floor", {quotient}));
}

void lowerPowScalar(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  if (!call.isTensor(1) && call.real(1) == 2) {
    call.setResult(0, call.add("Square", {x}));
    return;
  }
  call.setResult(0, call.add("Pow", {x, call.tensorAs(1, type)}));
}

// clamp, clamp_min, clamp_max, hardtanh: the bounds may be absent.
TensorId clamped(CallLowering &call, const TensorId &x, const double *low,
                 const double *high) {
  DataType type = call.info(x).dataType();
  if (low && high) {
    return call.add("Clamp",
                    {x, call.scalar(*low, type), call.scalar(*high, type)});
  }
  if (low) {
    return call.add("Max", {x, call.scalar(*low, type)});
  }
  return high ? call.add("Min", {x, call.scalar(*high, type)}) : x;
}

void lowerClamp(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  double low = call.isNone(1) ? 0 : call.real(1);
  double high = call.isNone(2) ? 0 : call.real(2);
  call.setResult(0, clamped(call, x, call.isNone(1) ? nullptr : &low,
                            call.isNone(2) ? nullptr : &high));
}

void lowerClampMin(CallLowering &call) {
  double low = call.real(1);
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(0, clamped(call, x, &low, nullptr));
}

void lowerClampMax(CallLowering &call) {
  double high = call.real(1);
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(0, clamped(call, x, nullptr, &high));
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

// clamp with tensors as bounds, each of which may be absent; clamp_min and
// clamp_max have one.
void lowerClampTensors(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  bool isMax = call.call().op == "aten::clamp_max.Tensor";
  if (!isMax && !call.isNone(1)) {
    x = call.add("Max", {x, call.tensorAs(1, type)});
  }
  std::size_t high = isMax ? 1 : 2;
  if (!call.isNone(high)) {
    x = call.add("Min", {x, call.tensorAs(high, type)});
  }
  call.setResult(0, x);
}

// lerp(a, b, weight)
void lowerLerp(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  TensorId way = call.add("Sub", {call.tensorAs(1, type), a});
  call.setResult(
      0, call.add("Add", {a, call.add("Mul", {way, call.tensorAs(2, type)})}));
}

// x * log(y), and nothing where x is nothing.
void lowerXlogy(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId zero = call.scalar(0, type);
  TensorId isZero = call.add("Equal", {x, zero});
  TensorId y =
      chosen(call, isZero, call.scalar(1, type), call.tensorAs(1, type));
  call.setResult(0, call.add("Mul", {x, call.add("Log", {y})}));
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
      {"aten::ceil", lowerUnary, "Ceil"},
      {"aten::cos", lowerUnary, "Cos"},
      {"aten::cosh", lowerUnary, "Cosh"},
      {"aten::erfc", lowerErfc},
      {"aten::exp2", lowerUnary, "Exponent2"},
      {"aten::isinf", lowerFloatTest, "IsInf"},
      {"aten::isnan", lowerFloatTest, "IsNaN"},
      {"aten::lerp.Scalar", lowerLerp},
      {"aten::lerp.Tensor", lowerLerp},
      {"aten::xlogy.Tensor", lowerXlogy},
      {"aten::logical_xor", lowerLogicalXor},
      {"aten::clamp.Tensor", lowerClampTensors},
      {"aten::clamp_min.Tensor", lowerClampTensors},
      {"aten::clamp_max.Tensor", lowerClampTensors},
      {"aten::remainder.Scalar", lowerBinary, "Mod"},
      {"aten::remainder.Scalar_Tensor", lowerBinary, "Mod"},
      {"aten::remainder.Tensor", lowerBinary, "Mod"},
      {"aten::erf", lowerUnary, "Erf"},
      {"aten::exp", lowerUnary, "Exp"},
      {"aten::expm1", lowerUnary, "Expm1"},
      {"aten::floor", lowerUnary, "Floor"},
      {"aten::log", lowerUnary, "Log"},
      {"aten::log1p", lowerUnary, "Log1p"},
      {"aten::neg", lowerUnary, "Neg"},
      {"aten::reciprocal", lowerUnary, "Reciprocal"},
      {"aten::relu", lowerUnary, "Relu"},
      {"aten::round", lowerUnary, "NearbyInt"},
      {"aten::rsqrt", lowerUnary, "Rsqrt"},
      {"aten::sigmoid", lowerUnary, "Sigmoid"},
      {"aten::sign", lowerUnary, "Sign"},
      {"aten::sin", lowerUnary, "Sin"},
      {"aten::sinh", lowerUnary, "Sinh"},
      {"aten::sqrt", lowerUnary, "Sqrt"},
      {"aten::tan", lowerUnary, "Tan"},
      {"aten::tanh", lowerUnary, "Tanh"},
      {"aten::trunc", lowerUnary, "Trunc"},
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
      {"aten::hardtanh", lowerClamp},
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
