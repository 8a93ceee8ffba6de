// "gruGrad" of row-major floats.
#include "FastKernels.hpp"
#include "GruShape.hpp"
#include "HalfPlan.hpp"

namespace kernels {

namespace {

constexpr auto G = gruGates;

// Stage 0 walks back through time; stage 1 makes the inputs' gradients.
class GruGradPlan final : public RecurrentPlan {
public:
  explicit GruGradPlan(const Signature &signature)
      : at_(signature.attributes, false),
        shape_({signature.inputs[0].shape[0], signature.inputs[0].shape[1],
                signature.inputs[1].shape[1], signature.inputs[0].shape[3]},
               signature.attributes),
        attends_(at_.attention != OperandOrder::absent), dGates_(at_.count),
        dx_(dGates_ + (attends_ ? 3 : 2)),
        steps_(stepCounts(signature, at_.steps, shape_.steps)) {
    const double stateWork =
        productWork(shape_.rows(), G * shape_.out, shape_.out);
    samples_ = sampleShards(shape_.batch, stateWork);
    for (const auto &samples : samples_) {
      const auto count = samples.end - samples.begin;
      gemms_.emplace_back(throughWeights(count, shape_.out, G * shape_.out));
      candidateGemms_.emplace_back(
          throughWeights(count, shape_.out, shape_.out));
      gemmScratch_.push_back(
          reserveBytes(std::max(gemms_.back().scratchBytes(),
                                candidateGemms_.back().scratchBytes())));
      states_.push_back(reserve((4 * count + 1) * shape_.out));
      addTask(signature, 0, stateWork / static_cast<double>(samples_.size()),
              {at_.saved, at_.outputWeights, at_.dy, at_.dh, at_.steps,
               at_.attention, dGates_, dGates_ + 1,
               attends_ ? dGates_ + 2 : OperandOrder::absent});
    }
    if (isGiven(signature.attributes, "inputGrad")) {
      addInputTasks(signature);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    std::byte *gemmScratch = scratch + gemmScratch_[task];
    if (task < samples_.size()) {
      walk(task, operands, floats(scratch, states_[task]), gemmScratch);
      return;
    }
    const auto H = shape_.out;
    const auto [begin, end] = rows_[task - samples_.size()];
    float *dx = dataOf<float>(operands, dx_) + begin * shape_.in;
    std::fill_n(dx, (end - begin) * shape_.in, 0.0f);
    for (std::int64_t g = 0; g < G; ++g) {
      gemms_[task].run(
          dataOf<const float>(operands, dGates_) + begin * G * H + g * H,
          dataOf<const float>(operands, at_.inputWeights) + g * shape_.in * H,
          dx, gemmScratch);
    }
  }

private:
  // y [m,n] += a * transposed weights, rows of `a` are `lda` apart.
  GemmShape throughWeights(std::int64_t m, std::int64_t n,
                           std::int64_t lda) const {
    return {.m = m,
            .n = n,
            .k = shape_.out,
            .lda = lda,
            .ldb = shape_.out,
            .ldy = n,
            .isTransposedB = true,
            .isAdded = true};
  }

  void addInputTasks(const Signature &signature) {
    const double work = productWork(shape_.rows(), G * shape_.out, shape_.in);
    rows_ = rowShards(shape_.rows(), work);
    for (const auto &rows : rows_) {
      gemms_.emplace_back(
          throughWeights(rows.end - rows.begin, shape_.in, G * shape_.out));
      gemmScratch_.push_back(reserveBytes(gemms_.back().scratchBytes()));
      addTask(signature, 1, work / static_cast<double>(rows_.size()),
              {at_.inputWeights, dGates_, dx_});
    }
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
    if (at_.dy != OperandOrder::absent) {
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

  void walk(std::size_t shard, std::byte *const *operands, float *memory,
            std::byte *gemmScratch) const {
    const auto H = shape_.out;
    const auto [begin, end] = samples_[shard];
    const auto count = end - begin;
    const auto size = count * H;
    const Rows rows{memory, memory + size, memory + 2 * size, memory + 3 * size,
                    memory + 4 * size};
    if (at_.dh == OperandOrder::absent) {
      std::fill_n(rows.dh, size, 0.0f);
    } else {
      std::copy_n(dataOf<const float>(operands, at_.dh) + begin * H, size,
                  rows.dh);
    }
    auto steps = steps_;
    if (at_.steps != OperandOrder::absent) {
      steps.data = dataOf<const std::int32_t>(operands, at_.steps);
    }
    const auto weights = [&](std::int64_t gate) {
      return dataOf<const float>(operands, at_.outputWeights) +
             shape_.unit(gate) * H;
    };
    for (std::int64_t t = shape_.steps; t-- > 0;) {
      for (std::int64_t i = 0; i < count; ++i) {
        if (t < steps.of(begin + i)) {
          beginStep(operands, t, begin + i, i, rows);
        } else {
          skipStep(operands, t, begin + i, i, rows);
        }
      }
      candidateGemms_[shard].run(rows.toState, weights(GruCandidate), rows.back,
                                 gemmScratch);
      for (std::int64_t i = 0; i < count; ++i) {
        if (t < steps.of(begin + i)) {
          endStep(operands, t, begin + i, i, rows);
        }
      }
      const float *dGates = dataOf<const float>(operands, dGates_) +
                            (t * shape_.batch + begin) * G * H;
      for (const std::int64_t gate : {GruReset, GruUpdate}) {
        gemms_[shard].run(dGates + shape_.unit(gate), weights(gate),
                          rows.before, gemmScratch);
      }
      std::copy_n(rows.before, size, rows.dh);
    }
    std::copy_n(rows.dh, size,
                dataOf<float>(operands, dGates_ + 1) + begin * H);
  }

  BackwardOperands at_;
  GruShape shape_;
  bool attends_;
  std::size_t dGates_, dx_; // operands
  StepCounts steps_;
  std::vector<ShardRange> samples_, rows_;
  std::vector<Gemm> gemms_;              // by task
  std::vector<Gemm> candidateGemms_;     // by range of samples
  std::vector<std::size_t> gemmScratch_; // by task
  std::vector<std::size_t> states_;      // by range of samples
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
