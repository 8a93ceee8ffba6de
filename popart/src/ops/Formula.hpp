// Operators whose results are a formula of their operands' elements. A family
// of them is a table of rows; infer, differentiate and lower are the same for
// all.
#pragma once

#include <ops/OpRule.hpp>

#include <string>
#include <utility>
#include <vector>

namespace popart {

struct Formula {
  // Text over the operands a, b and c, as kernels::Expression reads it.
  std::string value;
  // By a, b and c, over g (the result's gradient) and y (the result) too. "0"
  // gives zeros; where it is empty, the gradient stops.
  std::vector<std::string> gradients;
  bool isPredicate = false; // the result is BOOL
  // Operands that are not of one floating-point type are computed in FLOAT, and
  // the result has the first one's type.
  bool isInFloat = false;
  int condition = -1; // the operand that is BOOL whatever the others are
  int typed = 0;      // the operand whose type the result has
};

struct FormulaRow {
  std::string type;
  OpSchema schema;
  Formula formula = {};
  // Attributes that the formula has in braces, with their defaults.
  std::vector<std::pair<std::string, float>> numbers = {};
  // Makes the formula where more than numbers decides.
  Formula (*choose)(const Op &op) = nullptr;
  int constants = 0; // inputs behind the operands, which only `choose` reads
  std::string domain = "ai.onnx";
};

std::vector<FormulaRow> activationFormulas();  // Activations.cpp
std::vector<FormulaRow> arithmeticFormulas();  // Arithmetic.cpp
std::vector<FormulaRow> elementwiseFormulas(); // Elementwise.cpp
std::vector<FormulaRow> givenFormulas();       // GivenFormula.cpp
std::vector<FormulaRow> graphcoreFormulas();   // GraphcoreFormulas.cpp

} // namespace popart
