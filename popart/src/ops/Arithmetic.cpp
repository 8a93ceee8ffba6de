// Formulas that depend on more than their operands: powers of mixed types,
// remainders of two kinds, limits, choices and tests.
#include <ops/Formula.hpp>

#include <ops/Common.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace popart {
namespace {

// The exponent may have a type of its own, the result has the base's.
Formula powFormula(const Op &op) {
  requireInputCount(op, 2, 2);
  return {.value = "power(a,b)",
          .gradients = {"g*b*power(a,b-1)", "select(0,g*y*log(a),a==0)"},
          .isInFloat = op.inInfo(0).dataType() != op.inInfo(1).dataType()};
}

// The remainder with the sign of the dividend (fmod) or of the divisor.
Formula modFormula(const Op &op) {
  if (op.attributes.getInt("fmod", 0) != 0) {
    return {"remainder(a,b)", {"g", "-g*trunc(a/b)"}};
  }
  return {"select(remainder(a,b)+b,remainder(a,b),"
          "logical_and(remainder(a,b)!=0,(remainder(a,b)<0)!=(b<0)))",
          {"g", "-g*floor(a/b)"}};
}

Formula isInfFormula(const Op &op) {
  bool positive = op.attributes.getInt("detect_positive", 1) != 0;
  bool negative = op.attributes.getInt("detect_negative", 1) != 0;
  const char *value = positive && negative ? "is_inf(a)"
                      : positive           ? "logical_and(is_inf(a),a>0)"
                      : negative           ? "logical_and(is_inf(a),a<0)"
                                           : "a<a";
  return {.value = value, .gradients = {""}, .isPredicate = true};
}

Formula bitShiftFormula(const Op &op) {
  std::string direction = op.attributes.getString("direction", "");
  requireOp(op, direction == "LEFT" || direction == "RIGHT",
            "direction is '{}'; it must be LEFT or RIGHT", direction);
  return {direction == "LEFT" ? "shift_left(a,b)" : "shift_right(a,b)",
          {"", ""}};
}

// A limit of Clip, from a constant input (since 11) or an attribute; infinite
// where there is none.
double limitOf(const Op &op, InIndex input, const char *attribute,
               double none) {
  if (op.hasInput(input)) {
    return constantScalar(op, input);
  }
  return op.attributes.hasAttribute(attribute)
             ? double{op.attributes.getFloat(attribute, 0)}
             : none;
}

Formula clipFormula(const Op &op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double high = limitOf(op, 2, "max", infinity);
  // Where the limits are the wrong way round, the upper one wins.
  double low = std::min(high, limitOf(op, 1, "min", -infinity));
  auto number = [](double limit) { return fmt::format("({:.17g})", limit); };
  if (std::isinf(low) && std::isinf(high)) {
    return {"a", {"g"}};
  }
  if (std::isinf(high)) {
    return {fmt::format("max(a,{})", number(low)),
            {fmt::format("select(g,0,a>={})", number(low))}};
  }
  if (std::isinf(low)) {
    return {fmt::format("min(a,{})", number(high)),
            {fmt::format("select(g,0,a<={})", number(high))}};
  }
  return {fmt::format("clamp(a,{},{})", number(low), number(high)),
          {fmt::format("select(g,0,logical_and(a>={},a<={}))", number(low),
                       number(high))}};
}

} // namespace

std::vector<FormulaRow> arithmeticFormulas() {
  const auto floats = types::floats();
  const auto allNumbers = types::allNumbers();
  return {
      {.type = "BitShift",
       .schema = {{11}, types::allNumbers()},
       .choose = bitShiftFormula},
      {.type = "Clip",
       .schema = {{6, 11, 12, 13}, allNumbers},
       .choose = clipFormula,
       .constants = 2},
      {.type = "IsInf", .schema = {{10}, floats}, .choose = isInfFormula},
      {.type = "Mod", .schema = {{10, 13}, allNumbers}, .choose = modFormula},
      {.type = "Pow",
       .schema = {{1, 7, 12, 13, 15}, types::numbers()},
       .choose = powFormula},
      // PopART gives it no gradient.
      {.type = "PRelu",
       .schema = {{7, 9, 16}, allNumbers},
       .formula = {"select(a,a*b,a>=0)", {"", ""}}},
      // Halves go to the even number.
      {.type = "Round",
       .schema = {{11}, floats},
       .formula = {"nearby_int(a)", {"0"}}},
      {.type = "Where",
       .schema = {{9, 16}, types::booleans()},
       .formula = {.value = "select(b,c,a)",
                   .gradients = {"", "select(g,0,a)", "select(0,g,a)"},
                   .condition = 0,
                   .typed = 1}},
      {.type = "Xor",
       .schema = {{1, 7}, types::booleans()},
       .formula = {"a!=b", {"", ""}, true}},
  };
}

} // namespace popart
