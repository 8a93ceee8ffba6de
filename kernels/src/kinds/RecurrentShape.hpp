// What the recurrent kinds share: sizes, activations that gradients know by
// their results, and where each operand is.
#pragma once

#include <kernels/Signature.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace kernels {

enum class GateFunction : std::uint8_t { Sigmoid, HardSigmoid, Relu, Tanh };

// The attribute's non-linearity; throws std::invalid_argument for one whose
// slope does not follow from its result.
GateFunction gateFunction(std::string_view kind, const Attributes &attributes,
                          std::string_view name);
double applyGate(GateFunction function, double x);
double gateSlope(GateFunction function, double y); // by the result

struct RecurrentShape {
  std::int64_t steps = 0, batch = 0, in = 0, out = 0;

  std::int64_t rows() const { return steps * batch; }
};

enum LstmGate : std::uint8_t {
  LstmForget,
  LstmInput,
  LstmCandidate,
  LstmOutput
};
// What gradients need of a cell: [steps, batch, parts, out]. An LSTM's parts
// are its gates, in the order of their weights, and the cell's state; the
// gradient of the gates has their places and the output before the step that of
// the state, so that it may overwrite what was saved.
enum LstmPart : std::uint8_t {
  LstmState = 4,
  LstmBefore = LstmState,
  LstmPartCount
};
enum GruPart : std::uint8_t {
  GruReset,
  GruUpdate,
  GruCandidate,
  // reset * output before the step; with resetAfter what the reset multiplies.
  GruProduct,
  GruBefore,
  GruPartCount
};
inline constexpr std::int64_t lstmGates = 4;
inline constexpr std::int64_t gruGates = 3;

// "gates": where the weights of each gate are, a permutation.
const Attributes::Ints &gatePositions(std::string_view kind,
                                      const Attributes &attributes,
                                      std::int64_t count);

// Whether an optional operand is there, by an attribute of 0 or 1.
bool isGiven(const Attributes &attributes, std::string_view name);

// Hands out the inputs of a call in order; an absent one is not counted.
class OperandOrder {
public:
  static constexpr std::size_t absent = ~std::size_t{0};

  std::size_t next() { return next_++; }
  std::size_t nextIf(bool isThere) { return isThere ? next_++ : absent; }
  std::size_t count() const { return next_; }

private:
  std::size_t next_ = 0;
};

// lstm: x [T,B,I]; h, c [B,H]; inputWeights [4,I,H]; outputWeights [4,H,H];
// biases [4,H]; steps?. gru: without c; biases [3,H] or [3,2,H]; attention?
// [B,T].
struct ForwardOperands {
  ForwardOperands(const Attributes &attributes, bool isLstm);
  std::size_t x, h, c, inputWeights, outputWeights, biases, steps, attention;
  std::size_t count;
};

// lstmGrad: saved; inputWeights; outputWeights; h; c; then what is given of dy
// [T,B,H], dh, dc [B,H], steps. gruGrad: without h, c and dc, with attention.
struct BackwardOperands {
  BackwardOperands(const Attributes &attributes, bool isLstm);
  std::size_t saved, inputWeights, outputWeights, h, c, dy, dh, dc, steps,
      attention;
  std::size_t count;
};

// Of a GRU's biases: of the input, and with resetAfter of the state, too.
Shape gruBiasShape(const Attributes &attributes, std::int64_t out);

void requireSteps(std::string_view kind, const TensorType &steps,
                  std::int64_t batch);

} // namespace kernels
