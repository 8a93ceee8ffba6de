// "lstm" and "lstmGrad" of row-major floats.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "RecurrentWalk.hpp"

namespace kernels {

namespace {

constexpr std::int64_t G = lstmGates;

struct LstmShape : GateShape {
  LstmShape(const RecurrentShape &shape, const Attributes &attributes)
      : GateShape("lstm", G, shape, attributes) {}

  int functionOf(std::int64_t gate) const {
    return gate == LstmCandidate ? activation : recurrent;
  }
};

class LstmPlan final : public RecurrentWalkPlan {
public:
  explicit LstmPlan(const Signature &signature)
      : LstmPlan(signature, {signature.attributes, true},
                 {forwardShape(signature), signature.attributes}) {}

private:
  LstmPlan(const Signature &signature, const ForwardOperands &at,
           const LstmShape &shape)
      : RecurrentWalkPlan(signature, cellOf(signature, at, shape)), at_(at),
        shape_(shape), saves_(isGiven(signature.attributes, "saves")) {}

  // Its memory: both states, the state's activation, zeros. What it saves is
  // made where it stays.
  static Cell cellOf(const Signature &signature, const ForwardOperands &at,
                     const LstmShape &shape) {
    const auto y = at.count;
    const bool saves = isGiven(signature.attributes, "saves");
    return {.shape = shape,
            .gates = G,
            .isBack = false,
            .x = at.x,
            .gateRows = saves ? y + 3 : absent,
            .parts = saves ? std::int64_t{LstmPartCount} : G,
            .inputWeights = at.inputWeights,
            .outputWeights = at.outputWeights,
            .steps = at.steps,
            .walked = {at.h, at.c, at.biases, y, y + 1, y + 2},
            .perSample = 2,
            .perWalk = 2};
  }

  // One sample's step: gates, from the products with all weights.
  struct Unit {
    float *gates;      // [gates, out]; where they are saved, the state follows
    const float *bias; // [gates, out]
    float *h, *c;      // [out]
    float *y;          // [out]
    float *activated;
    const float *zeros;
  };

  void step(const Unit &unit) const {
    const auto &loops = selectedLoops().recurrent;
    const auto H = shape_.out;
    const float *gates[G];
    for (std::int64_t gate = 0; gate < G; ++gate) {
      float *to = unit.gates + shape_.unit(gate);
      loops.activate(shape_.functionOf(gate), to, to,
                     unit.bias + shape_.unit(gate), H);
      gates[gate] = to;
    }
    loops.lstmState(unit.c, gates[LstmForget], unit.c, gates[LstmInput],
                    gates[LstmCandidate], H);
    loops.activate(shape_.activation, unit.activated, unit.c, unit.zeros, H);
    if (saves_) {
      std::copy_n(unit.c, H, unit.gates + LstmState * H);
    }
    selectedLoops().poolRows.multiply(unit.y, gates[LstmOutput], unit.activated,
                                      H);
    std::copy_n(unit.y, H, unit.h);
  }

  void walk(const Walk &walk) const override {
    const auto H = shape_.out;
    const auto begin = walk.samples.begin, count = walk.count();
    const auto *operands = walk.operands;
    float *h = walk.workspace, *c = h + count * H, *activated = c + count * H,
          *zeros = activated + H;
    std::fill_n(zeros, H, 0.0f);
    copyState(walk, at_.h, h);
    copyState(walk, at_.c, c);
    for (std::int64_t t = 0; t < shape_.steps; ++t) {
      outputWeights().multiply(walk.weights, {h, H, 0, gatesOf(walk, t, 0),
                                              gateRow(), H, count, true});
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = t * shape_.batch + begin + i;
        float *y = dataOf<float>(operands, at_.count) + row * H;
        if (t >= walk.steps.of(begin + i)) {
          std::fill_n(y, H, 0.0f);
          std::fill_n(gatesOf(walk, t, i), gateRow(), 0.0f);
          continue;
        }
        step({gatesOf(walk, t, i), dataOf<const float>(operands, at_.biases),
              h + i * H, c + i * H, y, activated, zeros});
      }
    }
    std::copy_n(h, count * H,
                dataOf<float>(operands, at_.count + 1) + begin * H);
    std::copy_n(c, count * H,
                dataOf<float>(operands, at_.count + 2) + begin * H);
  }

  ForwardOperands at_; // outputs follow
  LstmShape shape_;
  bool saves_;
};

class LstmGradPlan final : public RecurrentWalkPlan {
public:
  explicit LstmGradPlan(const Signature &signature)
      : LstmGradPlan(signature, {signature.attributes, true},
                     {backwardShape(signature), signature.attributes}) {}

private:
  LstmGradPlan(const Signature &signature, const BackwardOperands &at,
               const LstmShape &shape)
      : RecurrentWalkPlan(signature, cellOf(signature, at, shape)), at_(at),
        shape_(shape) {}

  // Its memory: the gradients of both states, the state's activation, zeros.
  static Cell cellOf(const Signature &signature, const BackwardOperands &at,
                     const LstmShape &shape) {
    const auto dGates = at.count;
    const bool hasInputs = isGiven(signature.attributes, "inputGrad");
    return {.shape = shape,
            .gates = G,
            .isBack = true,
            .x = hasInputs ? dGates + 3 : absent,
            .gateRows = dGates,
            .parts = LstmPartCount,
            .inputWeights = at.inputWeights,
            .outputWeights = at.outputWeights,
            .steps = at.steps,
            .walked = {at.saved, at.h, at.c, at.dy, at.dh, at.dc, dGates + 1,
                       dGates + 2},
            .perSample = 3,
            .perWalk = 1};
  }

  // One sample's step back.
  struct Unit {
    const float *saved;           // [parts, out]
    const float *before;          // [parts, out], saved a step earlier, or null
    const float *firstH, *firstC; // [out], for where that is null
    const float *dh;              // [out]
    float *dc;        // [out], becomes the gradient of the state before
    float *activated; // [out] of this state, becomes that of the state before
    const float *zeros;
    float *dGates; // [parts, out], may be `saved`
  };

  void step(const Unit &unit) const {
    const auto H = shape_.out;
    const auto &loops = selectedLoops().recurrent;
    const auto gate = [&](LstmGate g) { return unit.saved + shape_.unit(g); };
    const auto dGate = [&](LstmGate g) { return unit.dGates + shape_.unit(g); };
    const bool isFirst = unit.before == nullptr;
    const float *stateBefore =
        isFirst ? unit.firstC : unit.before + LstmState * H;
    loops.lstmGrad(shape_.activation, shape_.recurrent,
                   {gate(LstmForget), gate(LstmInput), gate(LstmCandidate),
                    gate(LstmOutput), unit.activated, stateBefore, unit.dh,
                    unit.dc, dGate(LstmForget), dGate(LstmInput),
                    dGate(LstmCandidate), dGate(LstmOutput)},
                   H);
    float *outputBefore = unit.dGates + LstmBefore * H;
    if (isFirst) {
      std::copy_n(unit.firstH, H, outputBefore);
      return;
    }
    loops.activate(shape_.activation, unit.activated, stateBefore, unit.zeros,
                   H);
    selectedLoops().poolRows.multiply(
        outputBefore, unit.before + shape_.unit(LstmOutput), unit.activated, H);
  }

  void walk(const Walk &walk) const override {
    const auto H = shape_.out, B = shape_.batch;
    const auto begin = walk.samples.begin, count = walk.count();
    const auto *operands = walk.operands;
    float *dh = walk.workspace, *dc = dh + count * H,
          *activated = dc + count * H, *zeros = activated + count * H;
    std::fill_n(zeros, H, 0.0f);
    copyState(walk, at_.dh, dh);
    copyState(walk, at_.dc, dc);
    const auto *saved = dataOf<const float>(operands, at_.saved);
    for (std::int64_t t = shape_.steps; t-- > 0;) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto sample = begin + i, row = t * B + sample;
        const auto length = walk.steps.of(sample);
        if (t >= length) { // the state passed by as it was
          std::fill_n(gatesOf(walk, t, i), gateRow(), 0.0f);
          continue;
        }
        const float *rowSaved = saved + row * gateRow();
        if (t + 1 == length) {
          selectedLoops().recurrent.activate(
              shape_.activation, activated + i * H, rowSaved + LstmState * H,
              zeros, H);
        }
        if (at_.dy != absent) {
          adder()(dh + i * H, dataOf<const float>(operands, at_.dy) + row * H,
                  1, H);
        }
        step({rowSaved, t > 0 ? rowSaved - B * gateRow() : nullptr,
              dataOf<const float>(operands, at_.h) + sample * H,
              dataOf<const float>(operands, at_.c) + sample * H, dh + i * H,
              dc + i * H, activated + i * H, zeros, gatesOf(walk, t, i)});
        std::fill_n(dh + i * H, H, 0.0f);
      }
      outputWeights().multiply(walk.weights, {gatesOf(walk, t, 0), gateRow(), H,
                                              dh, H, 0, count, true});
    }
    std::copy_n(dh, count * H,
                dataOf<float>(operands, at_.count + 1) + begin * H);
    std::copy_n(dc, count * H,
                dataOf<float>(operands, at_.count + 2) + begin * H);
  }

  BackwardOperands at_; // outputs follow
  LstmShape shape_;
};

std::optional<std::vector<Layout>> keptLayouts(const Signature &signature) {
  return keptWeightsLayouts(signature, {signature.attributes, true});
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  const ForwardOperands at(signature.attributes, true);
  return isTakenRecurrent(signature, at.steps)
             ? std::make_unique<LstmPlan>(signature)
             : nullptr;
}

std::unique_ptr<Plan> planGrad(const Signature &signature) {
  const BackwardOperands at(signature.attributes, true);
  return isTakenRecurrent(signature, at.steps)
             ? std::make_unique<LstmGradPlan>(signature)
             : nullptr;
}

constexpr KernelEntry forwardEntries[] = {
    {"kept", keptLayouts, planForward},
    {"samples", allPlain, planForward},
    {"half", allPlain, planAsFloat<planForward>}};
constexpr KernelEntry gradEntries[] = {
    {"samples", allPlain, planGrad}, {"half", allPlain, planAsFloat<planGrad>}};

} // namespace

std::span<const KernelEntry> lstmKernels() {
  return forwardEntries;
}
std::span<const KernelEntry> lstmGradKernels() {
  return gradEntries;
}

} // namespace kernels
