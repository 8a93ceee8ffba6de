// Gamma functions and the inverse of the error function: approximations that
// are right to FLOAT's last digits, where a series of formulas says them.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

#include <cmath>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

// The operand in FLOAT: these functions need its digits.
TensorId inFloat(CallLowering &call, std::size_t i) {
  return call.tensorAs(i, DataType::FLOAT);
}

// Where a is less than a half, functions of 1 - a say those of a: the argument
// that is approximated.
TensorId reflected(CallLowering &call, const TensorId &x) {
  return byFormula(call, {x}, "select(1-a,a,a<0.5)", {"select(-g,g,a<0.5)"});
}

// sin(pi a), which is exactly zero at whole numbers but for its sign.
const std::string sinPi = "sin(3.141592653589793*(a-floor(a)))";
const std::string cosPi = "cos(3.141592653589793*(a-floor(a)))";

// The first derivatives of log(gamma) as text over w, which is at least 6.5:
// their asymptotic series.
std::string digammaSeries(const std::string &w) {
  return fmt::format("(log({0})-0.5/{0}-(0.08333333333333333"
                     "-(0.008333333333333333-0.003968253968253968"
                     "/({0}*{0}))/({0}*{0}))/({0}*{0}))",
                     w);
}

std::string trigammaSeries(const std::string &w) {
  return fmt::format("((1+(0.5+(0.16666666666666666-(0.03333333333333333"
                     "-0.023809523809523808/({0}*{0}))/({0}*{0}))/{0})/{0})"
                     "/{0})",
                     w);
}

std::string tetragammaSeries(const std::string &w) {
  return fmt::format("(-(1+(1+(0.5-(0.16666666666666666-0.16666666666666666"
                     "/({0}*{0}))/({0}*{0}))/{0})/{0})/({0}*{0}))",
                     w);
}

constexpr int steps = 6;

// For a of at least a half: digamma(a) = digamma(a + 6) - sum of 1 / (a + k).
std::string digammaText() {
  std::string text = digammaSeries("(a+6)");
  for (int k = 0; k < steps; ++k) {
    text += fmt::format("-1/(a+{})", k);
  }
  return text;
}

std::string trigammaText() {
  std::string text = trigammaSeries("(a+6)");
  for (int k = 0; k < steps; ++k) {
    text += fmt::format("+1/square(a+{})", k);
  }
  return text;
}

std::string tetragammaText() {
  std::string text = tetragammaSeries("(a+6)");
  for (int k = 0; k < steps; ++k) {
    text += fmt::format("-2/((a+{0})*square(a+{0}))", k);
  }
  return text;
}

// For a of at least a half, by Lanczos: the coefficients are those of order 5.
std::string logGammaText() {
  return "(a+0.5)*log(a+5.5)-(a+5.5)+log(2.5066282746310005/a"
         "*(1.000000000190015+76.18009172947146/(a+1)"
         "-86.50532032941677/(a+2)+24.01409824083091/(a+3)"
         "-1.231739572450155/(a+4)+0.001208650973866179/(a+5)"
         "-0.000005395239384953/(a+6)))";
}

TensorId trigamma(CallLowering &call, const TensorId &x) {
  TensorId right = byFormula(call, {reflected(call, x)}, trigammaText(),
                             {"g*(" + tetragammaText() + ")"});
  return byFormula(call, {x, right},
                   "select(9.869604401089358/square(" + sinPi + ")-b,b,a<0.5)",
                   {"select(-g*62.01255336059963*" + cosPi + "/(" + sinPi +
                        "*square(" + sinPi + ")),0,a<0.5)",
                    "select(-g,g,a<0.5)"});
}

// Its gradient is trigamma, in each of its two parts.
TensorId digamma(CallLowering &call, const TensorId &x) {
  TensorId right = byFormula(call, {reflected(call, x)}, digammaText(),
                             {"g*(" + trigammaText() + ")"});
  std::string cotangent = "3.141592653589793*" + cosPi + "/" + sinPi;
  // At zero it is infinite, at whole numbers below it has no value.
  return byFormula(
      call, {x, right},
      "select(select(-1/a,0*log(a-1),a==0),select(b-" + cotangent +
          ",b,a<0.5),logical_and(a<=0,a==floor(a)))",
      {"select(g*9.869604401089358/square(" + sinPi + "),0,a<0.5)", "g"});
}

void lowerDigamma(CallLowering &call) {
  call.setResult(0, digamma(call, inFloat(call, 0)));
}

TensorId logGamma(CallLowering &call, const TensorId &x) {
  TensorId right = byFormula(call, {reflected(call, x)}, logGammaText(),
                             {"g*(" + digammaText() + ")"});
  std::string cotangent = "3.141592653589793*" + cosPi + "/" + sinPi;
  return byFormula(
      call, {x, right},
      "select(1.1447298858494002-log(abs(" + sinPi + "))-b,b,a<0.5)",
      {"select(-g*" + cotangent + ",0,a<0.5)", "select(-g,g,a<0.5)"});
}

void lowerLogGamma(CallLowering &call) {
  call.setResult(0, logGamma(call, inFloat(call, 0)));
}

// polygamma(n, x)
void lowerPolygamma(CallLowering &call) {
  auto n = call.integer(0);
  TensorId x = inFloat(call, 1);
  if (n > 1) {
    call.fail(fmt::format("n is {}; 0 and 1 are supported", n));
  }
  call.setResult(0, n == 0 ? digamma(call, x) : trigamma(call, x));
}

// By Giles, "Approximating the erfinv function": a polynomial of
// w = -log(1 - a^2) near the middle, one of its root in the tails.
TensorId inverseErf(CallLowering &call, const TensorId &x) {
  constexpr double middle[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                               -4.39150654e-06, 0.00021858087,  -0.00125372503,
                               -0.00417768164,  0.246640727,    1.50140941};
  constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                             -0.00367342844,  0.00573950773,  -0.0076224613,
                             0.00943887047,   1.00167406,     2.83297682};
  TensorId w = byFormula(call, {x}, "-log((1-a)*(1+a))", {""});
  auto polynomial = [](const double(&coefficients)[9], const std::string &at) {
    std::string text = numberText(coefficients[0]);
    for (std::size_t i = 1; i < 9; ++i) {
      text = fmt::format("({}*{}+{})", text, at, numberText(coefficients[i]));
    }
    return text;
  };
  TensorId inner = byFormula(call, {w}, polynomial(middle, "(a-2.5)"), {""});
  TensorId outer = byFormula(call, {w}, polynomial(tail, "(sqrt(a)-3)"), {""});
  TensorId factor =
      byFormula(call, {w, inner, outer}, "select(b,c,a<5)", {"", "", ""});
  return byFormula(call, {x, factor}, "select(a/(1-abs(a)),a*b,abs(a)==1)",
                   {"g*0.8862269254527580*exp(y*y)", ""});
}

void lowerErfinv(CallLowering &call) {
  call.setResult(0, inverseErf(call, inFloat(call, 0)));
}

// The normal distribution's quantile: sqrt(2) erfinv(2 a - 1).
void lowerNdtri(CallLowering &call) {
  TensorId x = call.plus(call.times(inFloat(call, 0), 2), -1);
  call.setResult(0, call.times(inverseErf(call, x), std::sqrt(2)));
}

} // namespace

std::vector<AtenRow> specialFunctionRows() {
  return {
      {"aten::lgamma", lowerLogGamma},     {"aten::digamma", lowerDigamma},
      {"aten::polygamma", lowerPolygamma}, {"aten::erfinv", lowerErfinv},
      {"aten::special_ndtri", lowerNdtri},
  };
}

} // namespace poptorch
