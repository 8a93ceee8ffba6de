// "gru" of row-major floats.
#include "FastKernels.hpp"
#include "GruShape.hpp"
#include "HalfPlan.hpp"

namespace kernels {

namespace {

constexpr auto G = gruGates;

class GruPlan final : public RecurrentWalkPlan {
public:
  explicit GruPlan(const Signature &signature)
      : GruPlan(signature, {signature.attributes, false},
                {forwardShape(signature), signature.attributes}) {}

private:
  GruPlan(const Signature &signature, const ForwardOperands &at,
          const GruShape &shape)
      : RecurrentWalkPlan(signature, cellOf(signature, at, shape)), at_(at),
        shape_(shape), saves_(isGiven(signature.attributes, "saves")) {}

  // Its memory: the state, and the reset state or products with the state.
  static Cell cellOf(const Signature &signature, const ForwardOperands &at,
                     const GruShape &shape) {
    const auto y = at.count;
    const bool saves = isGiven(signature.attributes, "saves");
    return {.shape = shape,
            .gates = G,
            .isBack = false,
            .x = at.x,
            .gateRows = absent,
            .parts = G,
            .inputWeights = at.inputWeights,
            .outputWeights = at.outputWeights,
            .steps = at.steps,
            .walked = {at.h, at.biases, at.attention, y, y + 1,
                       saves ? y + 2 : absent},
            .perSample = 1 + G,
            .perWalk = 0};
  }

  void walk(const Walk &walk) const override {
    const auto H = shape_.out;
    const auto begin = walk.samples.begin;
    float *h = walk.workspace;
    copyState(walk, at_.h, h);
    for (std::int64_t t = 0; t < shape_.steps; ++t) {
      if (shape_.resetsAfter) {
        stepAfter(walk, t, h);
      } else {
        stepBefore(walk, t, h);
      }
      for (std::int64_t i = 0; i < walk.count(); ++i) {
        finish(walk, t, i, t < walk.steps.of(begin + i), h + i * H);
      }
    }
    std::copy_n(h, walk.count() * H,
                dataOf<float>(walk.operands, at_.count + 1) + begin * H);
  }

  // y += a [count, out] * the gate's output weights; rows of y are all gates'.
  void multiplyGate(const Walk &walk, std::int64_t gate, const float *a,
                    float *y) const {
    const auto H = shape_.out;
    outputWeights().multiplyGate(
        walk.weights, shape_.position(gate),
        {a, H, 0, y + shape_.unit(gate), G * H, 0, walk.count(), true});
  }
  // Of the input, or of the state with resetAfter.
  const float *bias(const Walk &walk, std::int64_t gate, int which) const {
    return dataOf<const float>(walk.operands, at_.biases) +
           (shape_.position(gate) * (shape_.resetsAfter ? 2 : 1) + which) *
               shape_.out;
  }
  float *behindState(const Walk &walk) const {
    return walk.workspace + walk.count() * shape_.out;
  }

  // Leaves the gates' values in the rows of products: reset, update and the
  // candidate; and in `behindState` what the reset multiplies.
  void stepAfter(const Walk &walk, std::int64_t t, const float *h) const {
    const auto &loops = selectedLoops().recurrent;
    const auto H = shape_.out;
    float *state = behindState(walk); // [count, gates, out]
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      for (std::int64_t gate = 0; gate < G; ++gate) {
        std::copy_n(bias(walk, gate, 1), H,
                    state + i * G * H + shape_.unit(gate));
      }
    }
    for (std::int64_t gate = 0; gate < G; ++gate) {
      multiplyGate(walk, gate, h, state);
    }
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      float *z = gatesOf(walk, t, i);
      const float *s = state + i * G * H;
      for (const std::int64_t gate : {GruReset, GruUpdate}) {
        const auto at = shape_.unit(gate);
        adder()(z + at, bias(walk, gate, 0), 1, H);
        loops.activate(shape_.recurrent, z + at, z + at, s + at, H);
      }
      const auto at = shape_.unit(GruCandidate);
      loops.multiplyAdd(z + at, z + shape_.unit(GruReset), s + at, H);
      loops.activate(shape_.activation, z + at, z + at,
                     bias(walk, GruCandidate, 0), H);
    }
  }

  // The same, with reset * state in `behindState`.
  void stepBefore(const Walk &walk, std::int64_t t, const float *h) const {
    const auto &loops = selectedLoops().recurrent;
    const auto H = shape_.out;
    float *product = behindState(walk); // [count, out]
    float *first = gatesOf(walk, t, 0);
    for (const std::int64_t gate : {GruReset, GruUpdate}) {
      multiplyGate(walk, gate, h, first);
    }
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      float *z = gatesOf(walk, t, i);
      for (const std::int64_t gate : {GruReset, GruUpdate}) {
        const auto at = shape_.unit(gate);
        loops.activate(shape_.recurrent, z + at, z + at, bias(walk, gate, 0),
                       H);
      }
      selectedLoops().poolRows.multiply(
          product + i * H, z + shape_.unit(GruReset), h + i * H, H);
    }
    multiplyGate(walk, GruCandidate, product, first);
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      float *z = gatesOf(walk, t, i) + shape_.unit(GruCandidate);
      loops.activate(shape_.activation, z, z, bias(walk, GruCandidate, 0), H);
    }
  }

  void finish(const Walk &walk, std::int64_t t, std::int64_t i, bool isLive,
              float *h) const {
    const auto H = shape_.out;
    const auto row = t * shape_.batch + walk.samples.begin + i;
    float *y = dataOf<float>(walk.operands, at_.count) + row * H;
    float *saved = saves_ ? dataOf<float>(walk.operands, at_.count + 2) +
                                row * GruPartCount * H
                          : nullptr;
    if (!isLive) {
      std::fill_n(y, H, 0.0f);
      if (saves_) {
        std::fill_n(saved, GruPartCount * H, 0.0f);
      }
      return;
    }
    const float *z = gatesOf(walk, t, i);
    if (saves_) {
      for (const std::int64_t gate : {GruReset, GruUpdate, GruCandidate}) {
        std::copy_n(z + shape_.unit(gate), H, saved + gate * H);
      }
      const float *product =
          shape_.resetsAfter
              ? behindState(walk) + i * G * H + shape_.unit(GruCandidate)
              : behindState(walk) + i * H;
      std::copy_n(product, H, saved + GruProduct * H);
      std::copy_n(h, H, saved + GruBefore * H);
    }
    selectedLoops().recurrent.gruState(
        h,
        attentionOf(walk.operands, at_.attention, walk.samples.begin + i, t,
                    shape_.steps),
        z + shape_.unit(GruUpdate), h, z + shape_.unit(GruCandidate), H);
    std::copy_n(h, H, y);
  }

  ForwardOperands at_; // outputs follow
  GruShape shape_;
  bool saves_;
};

std::optional<std::vector<Layout>> keptLayouts(const Signature &signature) {
  return keptWeightsLayouts(signature, {signature.attributes, false});
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  const ForwardOperands at(signature.attributes, false);
  return isTakenRecurrent(signature, at.steps)
             ? std::make_unique<GruPlan>(signature)
             : nullptr;
}

constexpr KernelEntry entries[] = {
    {"kept", keptLayouts, planForward},
    {"samples", allPlain, planForward},
    {"half", allPlain, planAsFloat<planForward>}};

} // namespace

std::span<const KernelEntry> gruKernels() {
  return entries;
}

} // namespace kernels
