// Arithmetic over tensors and numbers that writes itself down: the optimisers'
// formulas read as they are published and become element-wise operations.
#pragma once

#include <popart/names.hpp>

#include <map>
#include <string>

namespace popart {

// A number, or text of kernels::Expression over named tensors. What numbers
// alone decide is computed at once, so a decay of 0 costs nothing.
class Term {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): 1 - beta reads as it should
  Term(double number);
  // Within one formula a name stands for one tensor.
  Term(std::string name, TensorId id);

  bool isNumber() const { return operands_.empty(); }
  bool is(double number) const { return isNumber() && number_ == number; }
  double number() const { return number_; }
  std::string text() const;
  // Tensors by the names that the text has for them.
  const std::map<std::string, TensorId> &operands() const { return operands_; }

  friend Term operator+(const Term &a, const Term &b);
  friend Term operator-(const Term &a, const Term &b);
  friend Term operator*(const Term &a, const Term &b);
  friend Term operator/(const Term &a, const Term &b);
  // Any operator of kernels/ElementwiseOps.def by its name in lower case.
  friend Term call(const std::string &name, std::initializer_list<Term> terms);
  friend Term select(const Term &a, const Term &b, const Term &positive);

private:
  static Term join(const std::string &text, std::initializer_list<Term> terms);

  double number_ = 0;
  std::string text_;
  std::map<std::string, TensorId> operands_;
};

Term call(const std::string &name, std::initializer_list<Term> terms);
// a where `positive` is more than 0, else b.
Term select(const Term &a, const Term &b, const Term &positive);
inline Term sqrt(const Term &a) {
  return call("sqrt", {a});
}
inline Term square(const Term &a) {
  return call("square", {a});
}
// 1 - base^exponent, exact for bases near 1.
Term oneMinusPower(const Term &base, const Term &exponent);

} // namespace popart
