// Writing formulas down.
#include <transforms/updates/Term.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace popart {

Term::Term(double number) : number_(number) {}

Term::Term(std::string name, TensorId id) : text_(name) {
  operands_.emplace(std::move(name), std::move(id));
}

std::string Term::text() const {
  return isNumber() ? fmt::format("({})", number_) : text_;
}

Term Term::join(const std::string &text, std::initializer_list<Term> terms) {
  Term result(0.0);
  result.text_ = text;
  for (const Term &term : terms) {
    result.operands_.insert(term.operands_.begin(), term.operands_.end());
  }
  return result;
}

Term operator+(const Term &a, const Term &b) {
  if (a.isNumber() && b.isNumber()) {
    return a.number_ + b.number_;
  }
  if (a.is(0) || b.is(0)) {
    return a.is(0) ? b : a;
  }
  return Term::join(fmt::format("({}+{})", a.text(), b.text()), {a, b});
}

Term operator-(const Term &a, const Term &b) {
  if (a.isNumber() && b.isNumber()) {
    return a.number_ - b.number_;
  }
  if (b.is(0)) {
    return a;
  }
  return Term::join(fmt::format("({}-{})", a.text(), b.text()), {a, b});
}

Term operator*(const Term &a, const Term &b) {
  if (a.isNumber() && b.isNumber()) {
    return a.number_ * b.number_;
  }
  if (a.is(0) || b.is(0)) {
    return 0.0;
  }
  if (a.is(1) || b.is(1)) {
    return a.is(1) ? b : a;
  }
  return Term::join(fmt::format("({}*{})", a.text(), b.text()), {a, b});
}

Term operator/(const Term &a, const Term &b) {
  if (b.isNumber()) {
    return a * (1 / b.number_);
  }
  if (a.is(0)) {
    return 0.0;
  }
  return Term::join(fmt::format("({}/{})", a.text(), b.text()), {a, b});
}

Term call(const std::string &name, std::initializer_list<Term> terms) {
  std::string arguments;
  for (const Term &term : terms) {
    arguments += (arguments.empty() ? "" : ",") + term.text();
  }
  return Term::join(fmt::format("{}({})", name, arguments), terms);
}

Term select(const Term &a, const Term &b, const Term &positive) {
  return Term::join(
      fmt::format("select({},{},{}>0)", a.text(), b.text(), positive.text()),
      {a, b, positive});
}

Term oneMinusPower(const Term &base, const Term &exponent) {
  if (base.is(0)) {
    return 1.0;
  }
  Term logarithm = base.isNumber() ? Term(std::log(base.number()))
                                   : call("logarithm", {base});
  return 0.0 - call("exponent_minus_one", {exponent * logarithm});
}

} // namespace popart
