// Evaluates an expression one element at a time: the reference of the
// "elementwise" kind. Every operator computes in its operands' type, HALF in
// float with the result rounded.
#pragma once

#include <kernels/Expression.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace kernels::elementwise {

class Interpreter {
public:
  Interpreter(const Expression &expression,
              std::span<const support::DataType> inputs);

  support::DataType resultType() const { return types_.back(); }

  // inputs[i] points to input i's element; the result is stored at `output`.
  void evaluate(std::span<const std::byte *const> inputs, std::byte *output);

private:
  // Wide enough for every type; which one it holds follows from the step.
  union Cell {
    float asFloat;
    std::int64_t asInt;
    std::uint64_t asUnsigned;
  };
  struct Step {
    ExpressionStep step;
    support::DataType type;    // of the result
    support::DataType operand; // of the first operand
  };

  template <typename T> static T get(const Cell &cell);
  template <typename T> static Cell make(T value);
  template <typename T>
  static Cell applyOperator(ElementwiseOp op, const Cell *operands);
  static Cell load(support::DataType type, const std::byte *from);
  static void store(support::DataType type, std::byte *to, const Cell &cell);
  static Cell convert(const Cell &cell, support::DataType from,
                      support::DataType to);
  static Cell fromConstant(double value, support::DataType type);

  std::vector<Step> steps_;
  std::vector<support::DataType> types_;
  std::vector<Cell> stack_;
};

} // namespace kernels::elementwise
