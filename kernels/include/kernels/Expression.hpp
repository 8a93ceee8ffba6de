// Element-wise expressions: the attribute of the "elementwise" kind. An
// expression is postfix code over a stack of per-element values, so that
// popops::map, gradients and the engine's fusion all speak one language.
#pragma once

#include <kernels/Attributes.hpp>
#include <support/DataType.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernels {

// The operators of kernels/ElementwiseOps.def.
enum class ElementwiseOp : std::uint16_t {
#define KERNELS_UNARY(name, ...) name,
#define KERNELS_BINARY(name, ...) name,
#define KERNELS_TERNARY(name, ...) name,
#define KERNELS_PREDICATE(name, ...) name,
#define KERNELS_UNARY_PREDICATE(name, ...) name,
#include <kernels/ElementwiseOps.def>
};

// What the table says of an operator.
struct ElementwiseOpInfo {
  ElementwiseOp op;
  std::string_view name; // as the enumerator, e.g. "TANH"
  unsigned arity;        // 1, 2 or 3
  bool isPredicate;      // the result is BOOL
  std::string_view cost; // cycles, as ElementwiseOps.def explains
  // Derivatives by operand as infix text over g (the result's gradient), y (the
  // result) and a, b, c (the operands); empty where there is none.
  std::string_view gradients[3];
};
std::span<const ElementwiseOpInfo> elementwiseOps();
const ElementwiseOpInfo &elementwiseOpInfo(ElementwiseOp op);
// Null when no operator has this name.
const ElementwiseOpInfo *findElementwiseOp(std::string_view name);

// One step of the postfix code.
struct ExpressionStep {
  enum class Kind : std::uint8_t { Input, Constant, Operator, Cast };
  Kind kind;
  std::uint16_t index = 0; // of the input; ElementwiseOp; DataType of the cast
  double constant = 0;
};

// A constant takes the type of the operands it meets, FLOAT where it meets
// none; cast it to give it another one.
class Expression {
public:
  static Expression input(unsigned index);
  static Expression constant(double value);
  static Expression apply(ElementwiseOp op, std::vector<Expression> operands);
  static Expression cast(support::DataType type, Expression operand);

  // Infix text such as "g*(1-y*y)", "g*step(a)" or "select(g,0,a>b)": numbers,
  // + - * /, one comparison, and any operator by its name in lower case.
  // `names[i]` is input i. Throws std::invalid_argument, pointing at the
  // character, when it does not parse.
  static Expression parse(std::string_view text,
                          std::span<const std::string_view> names);

  // The same expression with input i replaced by replacements[i].
  Expression substitute(std::span<const Expression> replacements) const;

  const std::vector<ExpressionStep> &steps() const { return steps_; }
  unsigned inputCount() const; // highest input used, plus one

  // The type of every step's value for these input types, the last being that
  // of the result. Throws std::invalid_argument where an operator does not take
  // its operands.
  std::vector<support::DataType>
  stepTypes(std::span<const support::DataType> inputs) const;

  // The attributes of an "elementwise" descriptor, and back.
  Attributes toAttributes() const;
  static Expression fromAttributes(const Attributes &attributes);

private:
  std::vector<ExpressionStep> steps_;
};

} // namespace kernels
