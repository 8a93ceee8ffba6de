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

  // Its memory: both states, the state's activation, zeros.
  static Cell cellOf(const Signature &signature, const ForwardOperands &at,
                     const LstmShape &shape) {
    const auto y = at.count;
    const bool saves = isGiven(signature.attributes, "saves");
    return {.shape = shape,
            .gates = G,
            .isBack = false,
            .x = at.x,
            .dGates = absent,
            .inputWeights = at.inputWeights,
            .outputWeights = at.outputWeights,
            .steps = at.steps,
            .walked = {at.h, at.c, at.biases, y, y + 1, y + 2,
                       saves ? y + 3 : absent},
            .perSample = 2,
            .perWalk = 2};
  }

  // One sample's step: gates from `z`, its products with all weights.
  struct Unit {
    float *z;          // [gates, out]
    const float *bias; // [gates, out]
    float *h, *c;      // [out]
    float *saved;      // [parts, out], or null
    float *y;          // [out]
    float *activated;  // where it is kept when not saved
    const float *zeros;
  };

  void step(const Unit &unit) const {
    const auto &loops = selectedLoops().recurrent;
    const auto H = shape_.out;
    const float *gates[G];
    for (std::int64_t gate = 0; gate < G; ++gate) {
      const auto from = shape_.unit(gate);
      float *to = unit.saved != nullptr ? unit.saved + gate * H : unit.z + from;
      loops.activate(shape_.functionOf(gate), to, unit.z + from,
                     unit.bias + from, H);
      gates[gate] = to;
    }
    loops.lstmState(unit.c, gates[LstmForget], unit.c, gates[LstmInput],
                    gates[LstmCandidate], H);
    float *activated =
        unit.saved != nullptr ? unit.saved + LstmActivated * H : unit.activated;
    loops.activate(shape_.activation, activated, unit.c, unit.zeros, H);
    if (unit.saved != nullptr) {
      std::copy_n(unit.c, H, unit.saved + LstmState * H);
      std::copy_n(unit.h, H, unit.saved + LstmBefore * H);
    }
    selectedLoops().poolRows.multiply(unit.y, gates[LstmOutput], activated, H);
    std::copy_n(unit.y, H, unit.h);
  }

  void walk(const Walk &walk) const override {
    const auto H = shape_.out;
    const auto begin = walk.samples.begin, count = walk.count();
    const auto *operands = walk.operands;
    float *h = walk.memory, *c = h + count * H, *activated = c + count * H,
          *zeros = activated + H;
    std::fill_n(zeros, H, 0.0f);
    copyState(walk, at_.h, h);
    copyState(walk, at_.c, c);
    for (std::int64_t t = 0; t < shape_.steps; ++t) {
      outputWeights().multiply(
          walk.weights, {h, H, 0, gatesOf(walk, t, 0), G * H, H, count, true});
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = t * shape_.batch + begin + i;
        float *y = dataOf<float>(operands, at_.count) + row * H;
        float *saved = saves_ ? dataOf<float>(operands, at_.count + 3) +
                                    row * LstmPartCount * H
                              : nullptr;
        if (t >= walk.steps.of(begin + i)) {
          std::fill_n(y, H, 0.0f);
          if (saves_) {
            std::fill_n(saved, LstmPartCount * H, 0.0f);
          }
          continue;
        }
        step({gatesOf(walk, t, i), dataOf<const float>(operands, at_.biases),
              h + i * H, c + i * H, saved, y, activated, zeros});
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

  // Its memory: the gradients of both states.
  static Cell cellOf(const Signature &signature, const BackwardOperands &at,
                     const LstmShape &shape) {
    const auto dGates = at.count;
    const bool hasInputs = isGiven(signature.attributes, "inputGrad");
    return {
        .shape = shape,
        .gates = G,
        .isBack = true,
        .x = hasInputs ? dGates + 3 : absent,
        .dGates = dGates,
        .inputWeights = at.inputWeights,
        .outputWeights = at.outputWeights,
        .steps = at.steps,
        .walked = {at.saved, at.c, at.dy, at.dh, at.dc, dGates + 1, dGates + 2},
        .perSample = 3,
        .perWalk = 1};
  }

  // One sample's step back; `dc` becomes the gradient of the state before.
  void step(const float *saved, const float *stateBefore, const float *dh,
            float *dc, float *dGates) const {
    const auto H = shape_.out;
    const auto part = [&](std::int64_t p) { return saved + p * H; };
    const auto gate = [&](std::int64_t g) { return dGates + shape_.unit(g); };
    selectedLoops().recurrent.lstmGrad(shape_.activation, shape_.recurrent,
                                       {part(LstmForget), part(LstmInput),
                                        part(LstmCandidate), part(LstmOutput),
                                        part(LstmActivated), stateBefore, dh,
                                        dc, gate(LstmForget), gate(LstmInput),
                                        gate(LstmCandidate), gate(LstmOutput)},
                                       H);
  }

  void walk(const Walk &walk) const override {
    const auto H = shape_.out, B = shape_.batch;
    const auto begin = walk.samples.begin, count = walk.count();
    const auto *operands = walk.operands;
    float *dh = walk.memory, *dc = dh + count * H;
    copyState(walk, at_.dh, dh);
    copyState(walk, at_.dc, dc);
    const auto *saved = dataOf<const float>(operands, at_.saved);
    for (std::int64_t t = shape_.steps; t-- > 0;) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = t * B + begin + i;
        float *dGates = gatesOf(walk, t, i);
        if (t >= walk.steps.of(begin + i)) { // the state passed by as it was
          std::fill_n(dGates, G * H, 0.0f);
          continue;
        }
        if (at_.dy != absent) {
          adder()(dh + i * H, dataOf<const float>(operands, at_.dy) + row * H,
                  1, H);
        }
        const float *stateBefore =
            t > 0 ? saved + ((row - B) * LstmPartCount + LstmState) * H
                  : dataOf<const float>(operands, at_.c) + (begin + i) * H;
        step(saved + row * LstmPartCount * H, stateBefore, dh + i * H,
             dc + i * H, dGates);
        std::fill_n(dh + i * H, H, 0.0f);
      }
      outputWeights().multiply(
          walk.weights, {gatesOf(walk, t, 0), G * H, H, dh, H, 0, count, true});
    }
    std::copy_n(dh, count * H,
                dataOf<float>(operands, at_.count + 1) + begin * H);
    std::copy_n(dc, count * H,
                dataOf<float>(operands, at_.count + 2) + begin * H);
  }

  BackwardOperands at_; // outputs follow
  LstmShape shape_;
};

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
