// Element-wise operators that nobody but torch has, as formulas of their
// operands' elements: an activation is one operation, with torch's gradients.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/args.h>

#include <map>
#include <utility>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

// The operands are the call's first arguments, as many as there are gradients;
// "{1}" is its second argument, a number.
struct Row {
  std::string op;
  std::string value;
  std::vector<std::string> gradients;
  bool isPredicate = false;
};

std::vector<Row> activations() {
  return {
      {"leaky_relu", "select(a,{1}*a,a>0)", {"select(g,{1}*g,a>0)"}},
      {"elu",
       "{2}*select(a,{1}*exponent_minus_one({3}*a),a>0)",
       {"{2}*select(g,{1}*{3}*g*exp({3}*a),a>0)"}},
      {"celu",
       "select(a,{1}*exponent_minus_one(a/{1}),a>0)",
       {"select(g,g*exp(a/{1}),a>0)"}},
      {"softplus",
       "select(a,(relu({1}*a)+logarithm_one_plus(exp(-abs({1}*a))))/{1},"
       "{1}*a>{2})",
       {"select(g,g*sigmoid({1}*a),{1}*a>{2})"}},
      {"threshold", "select({2},a,a<={1})", {"select(0,g,a<={1})"}},
      {"hardshrink",
       "select(0,a,logical_and(a>=-{1},a<={1}))",
       {"select(0,g,logical_and(a>=-{1},a<={1}))"}},
      {"hardtanh",
       "min(max(a,{1}),{2})",
       {"select(g,0,logical_and(a>{1},a<{2}))"}},
      {"hardsigmoid",
       "clamp(a/6+0.5,0,1)",
       {"select(g/6,0,logical_and(a>-3,a<3))"}},
      {"hardswish",
       "a*clamp(a/6+0.5,0,1)",
       {"select(g*(a/3+0.5),select(g,0,a>3),logical_and(a>=-3,a<=3))"}},
  };
}

std::vector<Row> functions() {
  return {
      {"logaddexp",
       "max(a,b)+logarithm_one_plus(exp(-abs(select(0,a-b,a==b))))",
       {"g*sigmoid(a-b)", "g*sigmoid(b-a)"}},
      {"logaddexp2",
       "max(a,b)+1.4426950408889634"
       "*logarithm_one_plus(exponent2(-abs(select(0,a-b,a==b))))",
       {"g/(1+exponent2(b-a))", "g/(1+exponent2(a-b))"}},
      // Divided by the greater one, so that squares do not overflow.
      {"hypot",
       "select(max(abs(a),abs(b)),max(abs(a),abs(b))*sqrt(1"
       "+square(min(abs(a),abs(b))/max(abs(a),abs(b)))),"
       "logical_or(min(abs(a),abs(b))==0,is_inf(max(abs(a),abs(b)))))",
       {"g*a/y", "g*b/y"}},
      // The sign of a zero shows in what one is when divided by it.
      {"copysign.Tensor",
       "select(-abs(a),abs(a),logical_or(b<0,1/b<0))",
       {"select(0,g*y/a,a==0)", "0"}},
      {"signbit", "logical_or(a<0,1/a<0)", {""}, true},
      {"fmax",
       "select(b,select(a,max(a,b),b!=b),a!=a)",
       {"select(g,0,logical_or(a>=b,b!=b))",
        "select(0,g,logical_or(a>=b,b!=b))"}},
      {"fmin",
       "select(b,select(a,min(a,b),b!=b),a!=a)",
       {"select(g,0,logical_or(a<=b,b!=b))",
        "select(0,g,logical_or(a<=b,b!=b))"}},
      {"heaviside", "select(b,max(signum(a),0),a==0)", {"", ""}},
      {"deg2rad", "a*0.017453292519943295", {"g*0.017453292519943295"}},
      {"rad2deg", "a*57.29577951308232", {"g*57.29577951308232"}},
      {"isposinf", "logical_and(a+a==a,a>0)", {""}, true},
      {"isneginf", "logical_and(a+a==a,a<0)", {""}, true},
      {"angle", "select(a,3.141592653589793*max(-signum(a),0),a!=a)", {"0"}},
      {"sinc",
       "select(1,sin(3.141592653589793*a)/(3.141592653589793*a),a==0)",
       {"select(0,g*(cos(3.141592653589793*a)-y)/a,a==0)"}},
      {"special_entr",
       "select(-a*log(a),select(0,log(0*a),a==0),a>0)",
       {"g*(-log(a)-1)"}},
      {"special_xlog1py",
       "select(0,a*logarithm_one_plus(b),logical_and(a==0,b==b))",
       {"select(0,g*logarithm_one_plus(b),logical_and(a==0,b<=-1))",
        "g*a/(b+1)"}},
      {"xlogy.Tensor",
       "select(0,a*log(b),logical_and(a==0,b==b))",
       {"select(0,g*log(b),logical_and(a==0,b<=0))", "g*a/b"}},
      {"bitwise_left_shift.Tensor", "shift_left(a,b)", {"", ""}},
      {"bitwise_right_shift.Tensor", "shift_right_sign_extend(a,b)", {"", ""}},
  };
}

// Other overloads of the same operators.
constexpr std::pair<const char *, const char *> otherNames[] = {
    {"copysign.Scalar", "copysign.Tensor"},
    {"special_xlog1py.other_scalar", "special_xlog1py"},
    {"special_xlog1py.self_scalar", "special_xlog1py"},
    {"xlogy.Scalar_Self", "xlogy.Tensor"},
    {"xlogy.Scalar_Other", "xlogy.Tensor"},
    {"bitwise_left_shift.Tensor_Scalar", "bitwise_left_shift.Tensor"},
    {"bitwise_left_shift.Scalar_Tensor", "bitwise_left_shift.Tensor"},
    {"bitwise_right_shift.Tensor_Scalar", "bitwise_right_shift.Tensor"},
    {"bitwise_right_shift.Scalar_Tensor", "bitwise_right_shift.Tensor"},
    {"__lshift__.Tensor", "bitwise_left_shift.Tensor"},
    {"__lshift__.Scalar", "bitwise_left_shift.Tensor"},
    {"__rshift__.Tensor", "bitwise_right_shift.Tensor"},
    {"__rshift__.Scalar", "bitwise_right_shift.Tensor"},
};

const std::map<std::string, Row> &rowsByOp() {
  static const auto rows = [] {
    std::map<std::string, Row> map;
    for (auto *family : {activations, functions}) {
      for (Row &row : family()) {
        std::string op = "aten::" + row.op;
        map.emplace(std::move(op), std::move(row));
      }
    }
    for (const auto &[name, known] : otherNames) {
      map.emplace(std::string("aten::") + name,
                  map.at(std::string("aten::") + known));
    }
    return map;
  }();
  return rows;
}

// The text with the call's numbers in it.
std::string written(const CallLowering &call, const std::string &text) {
  fmt::dynamic_format_arg_store<fmt::format_context> numbers;
  for (std::size_t i = 0; i < call.argumentCount(); ++i) {
    numbers.push_back(call.isNumber(i) ? numberText(call.real(i))
                                       : std::string());
  }
  return fmt::vformat(text, numbers);
}

void lowerFormula(CallLowering &call) {
  const Row &row = rowsByOp().at(call.call().op);
  DataType type = operandType(call, row.gradients.size());
  std::vector<TensorId> operands;
  std::vector<std::string> gradients;
  for (std::size_t i = 0; i < row.gradients.size(); ++i) {
    operands.push_back(call.tensorAs(i, type));
    gradients.push_back(written(call, row.gradients[i]));
  }
  call.setResult(0, byFormula(call, operands, written(call, row.value),
                              gradients, row.isPredicate));
}

// nan_to_num(a, nan?, posinf?, neginf?): infinities become the ends of the type
// where nothing else is said.
void lowerNanToNum(CallLowering &call) {
  TensorId x = call.tensor(0);
  if (!isFloat(call.type(x))) {
    call.setResult(0, x);
    return;
  }
  double most =
      call.type(x) == DataType::FLOAT16 ? 65504 : 3.4028234663852886e38;
  auto number = [&](std::size_t i, double fallback) {
    return numberText(call.isNone(i) ? fallback : call.real(i));
  };
  std::string value =
      fmt::format("select({},select({},select({},a,logical_and(is_inf(a),a<0)),"
                  "logical_and(is_inf(a),a>0)),a!=a)",
                  number(1, 0), number(2, most), number(3, -most));
  call.setResult(0, byFormula(call, {x}, value, {"select(g,0,is_finite(a))"}));
}

// logit(a, eps?): of a in [eps, 1 - eps].
void lowerLogit(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  if (call.isNone(1)) {
    call.setResult(0, byFormula(call, {x}, "log(a/(1-a))", {"g/(a*(1-a))"}));
    return;
  }
  std::string low = numberText(call.real(1));
  std::string high = numberText(1 - call.real(1));
  TensorId inside =
      byFormula(call, {x}, "clamp(a," + low + "," + high + ")",
                {"select(g,0,logical_and(a>=" + low + ",a<=" + high + "))"});
  call.setResult(0, byFormula(call, {inside}, "log(a/(1-a))", {"g/(a*(1-a))"}));
}

// round(a, decimals)
void lowerRoundDecimals(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto decimals = call.integer(1);
  if (!isFloat(call.type(x))) {
    call.setResult(0, x);
    return;
  }
  double power = 1;
  for (std::int64_t i = 0; i < std::abs(decimals); ++i) {
    power *= 10;
  }
  std::string text = numberText(power);
  call.setResult(0,
                 byFormula(call, {x},
                           decimals < 0 ? "nearby_int(a/" + text + ")*" + text
                                        : "nearby_int(a*" + text + ")/" + text,
                           {"0"}));
}

} // namespace

std::vector<AtenRow> formulaRows() {
  std::vector<AtenRow> rows = {
      {"aten::nan_to_num", lowerNanToNum},
      {"aten::logit", lowerLogit},
      {"aten::round.decimals", lowerRoundDecimals},
  };
  for (const auto &[op, row] : rowsByOp()) {
    rows.push_back({op, lowerFormula});
  }
  return rows;
}

} // namespace poptorch
