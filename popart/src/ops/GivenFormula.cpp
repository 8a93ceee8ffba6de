// Element-wise functions that a front end gives as text: PyTorch has many that
// no other interface knows.
#include <ops/Formula.hpp>

#include <sstream>

namespace popart {
namespace {

// The attributes "value" and "gradients", the latter by operand with semicolons
// between them, are those of a Formula.
Formula givenFormula(const Op &op) {
  Formula formula;
  formula.value = op.attributes.getString("value", "");
  formula.isPredicate = op.attributes.getInt("isPredicate", 0) != 0;
  std::istringstream text(op.attributes.getString("gradients", ""));
  formula.gradients.resize(op.inputs.size());
  for (std::string &gradient : formula.gradients) {
    std::getline(text, gradient, ';');
  }
  return formula;
}

} // namespace

std::vector<FormulaRow> givenFormulas() {
  return {{.type = "GivenFormula",
           .schema = {},
           .choose = givenFormula,
           .domain = "aspen"}};
}

} // namespace popart
