// What the optimisers' files write their formulas with: one weight, its
// gradient, state and hyper-parameters, and operations from terms.
#pragma once

#include <ir/GraphEditor.hpp>
#include <popart/ir.hpp>
#include <transforms/updates/Term.hpp>

namespace popart {

// How gradients of micro-batches and replicas become one.
struct GradientReduction {
  explicit GradientReduction(const SessionOptions &options);

  bool accumulates;
  bool isMean;
  bool isRunningMean;
  double accumulationFactor; // 1 without accumulation
  double replicas;

  // What is left to divide the reduced gradient by.
  double divisor() const;
};

// What the updates of all weights share.
struct UpdateContext {
  Ir &ir;
  Graph &graph;
  GraphEditor editor;
  GradientReduction reduction;
};

class UpdateBuilder {
public:
  UpdateBuilder(UpdateContext &context, TensorId weight, Op::Settings settings);

  // Operations go before this one; null: to the end.
  void setPosition(const Op *position) { position_ = position; }
  // The reduced gradient, and the number that clipping multiplies it by.
  void setGradient(TensorId gradient, Term clip);
  void setContext(ExecutionContext context);

  const TensorId &weight() const { return weight_; }
  const Optimizer &optimizer() const { return *context_.ir.optimizer; }
  const GradientReduction &reduction() const { return context_.reduction; }
  const Shape &shape() const;

  Term weightTerm() const { return Term("w", weight_); }
  // The gradient by the loss itself: unscaled, averaged and clipped.
  Term gradientTerm() const;
  // The same before any of these but clipping.
  Term rawGradient() const;
  Term lossScaling() const;
  // It changes, and a pipeline's IPUs can read it between updates only.
  bool isScaleFar() const;
  // A hyper-parameter of this weight: a number if it is constant.
  Term value(const std::string &key);

  // A variable of the optimiser's own; the model may bring one. Of the weight's
  // shape, of its type if `type` is UNDEFINED, and `value` at first; or a FLOAT
  // scalar, zero at first.
  TensorId state(const std::string &prefix, DataType type, float value = 0);
  TensorId scalarState(const std::string &prefix);
  // Of the weight's shape, `factor` times its initial value at first.
  TensorId scaledState(const std::string &prefix, DataType type, float factor);

  // Computed in FLOAT whatever the operands are. `update` writes a variable and
  // returns its new version, by which later formulas know it.
  Term compute(const std::string &name, const Term &formula,
               const Shape &shape);
  Term update(const std::string &name, const TensorId &variable,
              const Term &formula, const TensorId &output = {});
  void updateWeight(const Term &formula);
  // The sum of squares, a FLOAT scalar.
  Term squareSum(const std::string &name, const TensorId &id);

  // For updates that are one kind: the device's hyper-parameter, and the
  // gradient with the number that the kind multiplies it by.
  TensorId scalar(const std::string &key);
  std::pair<TensorId, float> kindGradient();
  Op &addOp(const std::string &type, const std::vector<TensorId> &inputs,
            const std::vector<TensorId> &outputs,
            const Attributes &attributes = {});

  static TensorId updated(const TensorId &id);

private:
  DataType typeOr(DataType type) const;
  TensorId addState(const TensorId &id, const TensorInfo &info,
                    const std::vector<char> &data);

  UpdateContext &context_;
  TensorId weight_;
  Op::Settings settings_;
  const Op *position_ = nullptr;
  TensorId gradient_;
  Term clip_ = 1.0;
};

// The optimisers' steps; each is in the file of its name.
void stepSgd(UpdateBuilder &builder);
void stepAdam(UpdateBuilder &builder);
void stepAdaptive(UpdateBuilder &builder);

// SGD that adds micro-batches' gradients right into its velocity.
bool accumulatesIntoVelocity(const UpdateBuilder &builder);
void accumulateIntoVelocity(UpdateBuilder &builder);

} // namespace popart
