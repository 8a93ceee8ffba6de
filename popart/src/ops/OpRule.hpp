// What an operation means: one rule per operator, each in its own file with its
// shapes, its gradient and its lowering together, listed in List.cpp.
#pragma once

#include <ops/OpSchema.hpp>
#include <popart/op.hpp>

#include <string>
#include <vector>

namespace popart {

class Composer;        // ops/Composer.hpp
class GradientBuilder; // autodiff/GradientBuilder.hpp
class LoweringContext; // lowering/LoweringContext.hpp

struct OpRule {
  std::string domain;
  std::string type;

  // Which ONNX operators this is: see OpSchema.hpp.
  OpSchema schema = {};

  // Types and shapes of the outputs, private side outputs included; op.outputs
  // has the ids asked for, which are empty where nobody wants the output.
  // Throws popart::error for inputs that make no sense.
  std::vector<TensorInfo> (*infer)(const Op &op) = nullptr;

  // Adds the operations that compute the inputs' gradients from the outputs';
  // null: the gradient stops here.
  void (*differentiate)(GradientBuilder &builder, const Op &op) = nullptr;

  // Calls PopLibs to add the operation to the Poplar program.
  void (*lower)(LoweringContext &context, const Op &op) = nullptr;

  // Instead of all of these, for an operator that stands for others: adds them.
  // Null for `isComposed`: always.
  void (*compose)(Composer &composer, const Op &op) = nullptr;
  bool (*isComposed)(const Attributes &attributes) = nullptr;

  // The variable that output `output` is a new version of, in the same storage,
  // as an index of the input; -1 for an ordinary output. Null: all ordinary.
  InIndex (*modifiedInput)(const Op &op, OutIndex output) = nullptr;

  // It does something besides making its outputs, such as printing: it runs
  // once, whether or not anything needs them.
  bool hasSideEffect = false;

  // The input that takes the seed, UINT32 {2}, of an operation that draws
  // random numbers; -1 where it draws none, in a session of this kind. Null:
  // never. transforms/InsertSeeds.cpp connects it.
  InIndex (*seedInput)(const Op &op, bool isTraining) = nullptr;
};

// Null when there is no such operator. Every version of an operator shares one
// rule, which looks at opid.version where they differ.
const OpRule *findOpRule(const OperatorIdentifier &opid);

// Types of ai.graphcore that no model has, but patterns: variants of operators
// that run in place, which findOpRule() finds, too.
std::vector<std::string> operatorVariants();

// Every rule, by domain and type.
std::vector<const OpRule *> allOpRules();

} // namespace popart
