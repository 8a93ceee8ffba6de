// Functions of one operand that the kernels' table does not have: activations
// with their parameters, and inverses of trigonometric functions.
#include <ops/Formula.hpp>

namespace popart {

std::vector<FormulaRow> activationFormulas() {
  const auto floats = types::floats();
  const auto allNumbers = types::allNumbers();
  std::vector<FormulaRow> rows = {
      {"Acos",
       {{7}, floats},
       {"1.5707963267948966-asin(a)", {"-g*rsqrt(1-a*a)"}}},
      // With t = a-1, so that nothing cancels near 1.
      {"Acosh",
       {{9}, floats},
       {"logarithm_one_plus(a-1+sqrt((a-1)*(a+1)))", {"g*rsqrt((a-1)*(a+1))"}}},
      {"Asinh",
       {{9}, floats},
       {"signum(a)*logarithm_one_plus(abs(a)+a*a/(1+sqrt(a*a+1)))",
        {"g*rsqrt(a*a+1)"}}},
      {"Atan", {{7}, floats}, {"atan2(a,1)", {"g/(1+a*a)"}}},
      {"Atanh",
       {{9}, floats},
       {"0.5*(logarithm_one_plus(a)-logarithm_one_plus(-a))",
        {"g/((1-a)*(1+a))"}}},
      {"Celu",
       {{12}, floats},
       {"select(a,{alpha}*exponent_minus_one(a/{alpha}),a>=0)",
        {"select(g,g*exp(a/{alpha}),a>=0)"}},
       {{"alpha", 1.0f}}},
      {"Cosh", {{9}, floats}, {"0.5*(exp(a)+exp(-a))", {"g*sinh(a)"}}},
      {"Elu",
       {{1, 6}, allNumbers},
       {"select(a,{alpha}*exponent_minus_one(a),a>=0)",
        {"select(g,g*{alpha}*exp(a),a>=0)"}},
       {{"alpha", 1.0f}}},
      {"HardSigmoid",
       {{1, 6}, allNumbers},
       {"clamp({alpha}*a+{beta},0,1)",
        {"select(g*{alpha},0,logical_and({alpha}*a+{beta}>0,"
         "{alpha}*a+{beta}<1))"}},
       {{"alpha", 0.2f}, {"beta", 0.5f}}},
      {"HardSwish",
       {{14}, floats},
       {"a*clamp(a/6+0.5,0,1)",
        {"select(0,select(g,g*(a/3+0.5),a>=3),a<=-3)"}}},
      {"LeakyRelu",
       {{1, 6, 16}, floats},
       {"select(a,{alpha}*a,a>=0)", {"select(g,{alpha}*g,a>=0)"}},
       {{"alpha", 0.01f}}},
      {"Selu",
       {{1, 6}, allNumbers},
       {"{gamma}*select(a,{alpha}*exponent_minus_one(a),a>=0)",
        {"{gamma}*select(g,g*{alpha}*exp(a),a>=0)"}},
       {{"alpha", 1.67326319217681884765625f},
        {"gamma", 1.05070102214813232421875f}}},
      {"Shrink",
       {{9}, allNumbers},
       {"select(a-{bias},select(a+{bias},0,a<-{lambd}),a>{lambd})",
        {"select(g,0,logical_or(a<-{lambd},a>{lambd}))"}},
       {{"bias", 0.0f}, {"lambd", 0.5f}}},
      // Without overflow of the exponential.
      {"Softplus",
       {{1}, allNumbers},
       {"relu(a)+logarithm_one_plus(exp(-abs(a)))", {"g*sigmoid(a)"}}},
      {"Softsign",
       {{1}, allNumbers},
       {"a/(1+abs(a))", {"g/((1+abs(a))*(1+abs(a)))"}}},
      {"ThresholdedRelu",
       {{10}, allNumbers},
       {"select(a,0,a>{alpha})", {"select(g,0,a>{alpha})"}},
       {{"alpha", 1.0f}}},
  };
  for (FormulaRow &row : rows) {
    row.formula.isInFloat = true;
  }
  return rows;
}

} // namespace popart
