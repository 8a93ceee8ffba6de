// What the recurrent layers share: ONNX's operands, [1, gates * hidden, ...],
// as the kinds want them, [gates, ..., hidden].
#pragma once

#include <popart/op.hpp>

#include <poplar/Tensor.hpp>

#include <string>

namespace popart {

class GradientBuilder;
class LoweringContext;

struct RecurrentLayer {
  explicit RecurrentLayer(const Op &op, std::int64_t gateCount);

  std::int64_t gates;
  std::int64_t steps;
  std::int64_t batch;
  std::int64_t features;
  std::int64_t hidden;
};

// ONNX's inputs: x, w, r, b?, lengths?, first h?, first c?.
constexpr InIndex recurrentB = 3;
constexpr InIndex recurrentLengths = 4;
constexpr InIndex recurrentH = 5;
constexpr InIndex recurrentC = 6;

// Throws popart::error for shapes that do not fit and for the attributes that
// PopART's layers do not have.
RecurrentLayer checkedLayer(const Op &op, std::int64_t gateCount);

// Of a layer's gates, and of its candidates and outputs: the operators that
// compute them, or SoftmaxStable and SoftmaxScaled.
struct RecurrentActivations {
  std::string gates = "Sigmoid";
  std::string values = "Tanh";
};

// Those of an LSTM, which names one (of values) or three, or of an RNN, which
// names one. Throws popart::error for others than PopART's.
RecurrentActivations activationsOf(const Op &op);

// Whether the layers' kinds have them; the pass writeOutRecurrent replaces a
// layer where they do not.
bool areFused(const RecurrentActivations &activations);

// The kinds' name of one that they have.
std::string kindNameOf(const std::string &activation);

// The id of an input, empty where it was left out.
TensorId optionalInput(const Op &op, InIndex i);

// The attributes of a layer's gradient: the layer's own, and whether anybody
// wants the gradient of x.
Attributes gradAttributes(const GradientBuilder &builder, const Op &op);
bool wantsInputGradient(const Op &gradOp);

// [1, gates * hidden, n] as [gates, n, hidden], and back.
poplar::Tensor toKindWeights(const poplar::Tensor &weights,
                             const RecurrentLayer &layer);
poplar::Tensor fromKindWeights(const poplar::Tensor &weights);

// [gates, 2, hidden], the biases of input and state; their sum, [gates,
// hidden].
poplar::Tensor biasPairs(LoweringContext &context, const Op &op,
                         const RecurrentLayer &layer);
poplar::Tensor biasSums(LoweringContext &context, const Op &op,
                        const RecurrentLayer &layer);

// The first state [batch, hidden]: zeros where input i was left out.
poplar::Tensor firstState(LoweringContext &context, const Op &op, InIndex i,
                          const RecurrentLayer &layer);

} // namespace popart
