// What an operation means: one rule per operator, each in its own file with its
// shapes, its gradient and its lowering together, listed in List.cpp.
#pragma once

#include <popart/op.hpp>

#include <optional>
#include <vector>

namespace popart {

class GradientBuilder;  // autodiff/GradientBuilder.hpp
class LoweringContext;  // lowering/LoweringContext.hpp

struct OpRule {
  const char *domain;
  const char *type;
  int version;

  // Types and shapes of the outputs, private side outputs included. Throws
  // popart::error for inputs that make no sense.
  std::vector<TensorInfo> (*infer)(const Op &op);

  // Adds the operations that compute the inputs' gradients from the outputs';
  // null: the gradient stops here.
  void (*differentiate)(GradientBuilder &builder, const Op &op);

  // Calls PopLibs to add the operation to the Poplar program.
  void (*lower)(LoweringContext &context, const Op &op);
};

// Null when there is no such operator.
const OpRule *findOpRule(const OperatorIdentifier &opid);

} // namespace popart
