// "gruGrad" of row-major floats.
#include "FastKernels.hpp"
#include "GruShape.hpp"
#include "HalfPlan.hpp"

namespace kernels {

namespace {

constexpr auto G = gruGates;

class GruGradPlan final : public RecurrentWalkPlan {
public:
  explicit GruGradPlan(const Signature &signature)
      : GruGradPlan(signature, {signature.attributes, false},
                    {backwardShape(signature), signature.attributes}) {}

private:
  GruGradPlan(const Signature &signature, const BackwardOperands &at,
              const GruShape &shape)
      : RecurrentWalkPlan(signature, cellOf(signature, at, shape)), at_(at),
        shape_(shape), attends_(at.attention != absent), dGates_(at.count) {}

  // Its memory: Rows.
  static Cell cellOf(const Signature &signature, const BackwardOperands &at,
                     const GruShape &shape) {
    const auto dGates = at.count;
    const bool attends = at.attention != absent;
    const bool hasInputs = isGiven(signature.attributes, "inputGrad");
    return {.shape = shape,
            .gates = G,
            .isBack = true,
            .x = hasInputs ? dGates + (attends ? 3 : 2) : absent,
            .gateRows = dGates,
            .parts = G,
            .inputWeights = at.inputWeights,
            .outputWeights = at.outputWeights,
            .steps = at.steps,
            .walked = {at.saved, at.dy, at.dh, at.attention, dGates + 1,
                       attends ? dGates + 2 : absent},
            .perSample = 4,
            .perWalk = 1};
  }

  struct Rows {
    float *dh, *before, *toState, *back; // [count, out]
    float *spare;                        // [out]
  };

  // Up to the gradient behind the candidate's output weights.
  void beginStep(std::byte *const *operands, std::int64_t t,
                 std::int64_t sample, std::int64_t i, const Rows &rows) const {
    const auto &loops = selectedLoops().recurrent;
    const auto H = shape_.out;
    const auto row = t * shape_.batch + sample;
    const float *saved =
        dataOf<const float>(operands, at_.saved) + row * GruPartCount * H;
    float *dGates = dataOf<float>(operands, dGates_) + row * G * H;
    float *dUpdate = dGates + shape_.unit(GruUpdate);
    float *dCandidate = dGates + shape_.unit(GruCandidate);
    if (at_.dy != absent) {
      adder()(rows.dh + i * H, dataOf<const float>(operands, at_.dy) + row * H,
              1, H);
    }
    const float attention =
        attentionOf(operands, at_.attention, sample, t, shape_.steps);
    const float *update = saved + GruUpdate * H;
    loops.gruStateGrad(rows.dh + i * H, attention, update,
                       saved + GruBefore * H, saved + GruCandidate * H, dUpdate,
                       dCandidate, rows.before + i * H, H);
    if (attends_) {
      selectedLoops().poolRows.multiply(rows.spare, dUpdate, update, H);
      dataOf<float>(operands, dGates_ + 2)[sample * shape_.steps + t] =
          -selectedLoops().reduce.row[static_cast<std::size_t>(ReduceOp::Add)](
              0, rows.spare, 1, H);
      for (std::int64_t j = 0; j < H; ++j) {
        dUpdate[j] *= 1.0f - attention;
      }
    }
    loops.multiplySlope(shape_.recurrent, dUpdate, update, H);
    loops.multiplySlope(shape_.activation, dCandidate, saved + GruCandidate * H,
                        H);
    if (shape_.resetsAfter) {
      selectedLoops().poolRows.multiply(rows.toState + i * H, dCandidate,
                                        saved + GruReset * H, H);
    } else {
      std::copy_n(dCandidate, H, rows.toState + i * H);
    }
    std::fill_n(rows.back + i * H, H, 0.0f);
  }

  // From what came back through the candidate's output weights.
  void endStep(std::byte *const *operands, std::int64_t t, std::int64_t sample,
               std::int64_t i, const Rows &rows) const {
    const auto multiply = selectedLoops().poolRows.multiply;
    const auto H = shape_.out;
    const auto row = t * shape_.batch + sample;
    const float *saved =
        dataOf<const float>(operands, at_.saved) + row * GruPartCount * H;
    float *dGates = dataOf<float>(operands, dGates_) + row * G * H;
    float *dReset = dGates + shape_.unit(GruReset);
    const float *reset = saved + GruReset * H;
    const float *back = rows.back + i * H;
    if (shape_.resetsAfter) {
      multiply(dReset, dGates + shape_.unit(GruCandidate),
               saved + GruProduct * H, H);
      adder()(rows.before + i * H, back, 1, H);
    } else {
      multiply(dReset, back, saved + GruBefore * H, H);
      selectedLoops().recurrent.multiplyAdd(rows.before + i * H, back, reset,
                                            H);
    }
    selectedLoops().recurrent.multiplySlope(shape_.recurrent, dReset, reset, H);
  }

  // A step that the sample does not have: its state passed by as it was.
  void skipStep(std::byte *const *operands, std::int64_t t, std::int64_t sample,
                std::int64_t i, const Rows &rows) const {
    const auto H = shape_.out;
    const auto row = t * shape_.batch + sample;
    std::fill_n(dataOf<float>(operands, dGates_) + row * G * H, G * H, 0.0f);
    std::copy_n(rows.dh + i * H, H, rows.before + i * H);
    std::fill_n(rows.toState + i * H, H, 0.0f);
    std::fill_n(rows.back + i * H, H, 0.0f);
    if (attends_) {
      dataOf<float>(operands, dGates_ + 2)[sample * shape_.steps + t] = 0;
    }
  }

  // y [count, out] += a * the gate's output weights; rows of `a` are `aRow`
  // apart.
  void multiplyGate(const Walk &walk, std::int64_t gate, const float *a,
                    std::int64_t aRow, float *y) const {
    outputWeights().multiplyGate(
        walk.weights, shape_.position(gate),
        {a, aRow, 0, y, shape_.out, 0, walk.count(), true});
  }

  void walk(const Walk &walk) const override {
    const auto H = shape_.out;
    const auto begin = walk.samples.begin, count = walk.count();
    const auto *operands = walk.operands;
    const auto size = count * H;
    float *memory = walk.workspace;
    const Rows rows{memory, memory + size, memory + 2 * size, memory + 3 * size,
                    memory + 4 * size};
    copyState(walk, at_.dh, rows.dh);
    for (std::int64_t t = shape_.steps; t-- > 0;) {
      for (std::int64_t i = 0; i < count; ++i) {
        if (t < walk.steps.of(begin + i)) {
          beginStep(operands, t, begin + i, i, rows);
        } else {
          skipStep(operands, t, begin + i, i, rows);
        }
      }
      multiplyGate(walk, GruCandidate, rows.toState, H, rows.back);
      for (std::int64_t i = 0; i < count; ++i) {
        if (t < walk.steps.of(begin + i)) {
          endStep(operands, t, begin + i, i, rows);
        }
      }
      for (const std::int64_t gate : {GruReset, GruUpdate}) {
        multiplyGate(walk, gate, gatesOf(walk, t, 0) + shape_.unit(gate), G * H,
                     rows.before);
      }
      std::copy_n(rows.before, size, rows.dh);
    }
    std::copy_n(rows.dh, size,
                dataOf<float>(operands, dGates_ + 1) + begin * H);
  }

  BackwardOperands at_;
  GruShape shape_;
  bool attends_;
  std::size_t dGates_; // operand of the first output
};

std::unique_ptr<Plan> planGrad(const Signature &signature) {
  const BackwardOperands at(signature.attributes, false);
  return isTakenRecurrent(signature, at.steps)
             ? std::make_unique<GruGradPlan>(signature)
             : nullptr;
}

constexpr KernelEntry entries[] = {{"samples", allPlain, planGrad},
                                   {"half", allPlain, planAsFloat<planGrad>}};

} // namespace

std::span<const KernelEntry> gruGradKernels() {
  return entries;
}

} // namespace kernels
