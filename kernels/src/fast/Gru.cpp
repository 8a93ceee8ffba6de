// "gru" of row-major floats.
#include "FastKernels.hpp"
#include "GruShape.hpp"
#include "HalfPlan.hpp"

namespace kernels {

namespace {

constexpr auto G = gruGates;

class GruPlan final : public RecurrentPlan {
public:
  explicit GruPlan(const Signature &signature)
      : at_(signature.attributes, false),
        shape_({signature.inputs[0].shape[0], signature.inputs[0].shape[1],
                signature.inputs[0].shape[2], signature.inputs[1].shape[1]},
               signature.attributes),
        saves_(isGiven(signature.attributes, "saves")), y_(at_.count),
        steps_(stepCounts(signature, at_.steps, shape_.steps)),
        products_(reserve(shape_.rows() * G * shape_.out)) {
    const double inputWork =
        productWork(shape_.rows(), G * shape_.out, shape_.in);
    rows_ = rowShards(shape_.rows(), inputWork);
    for (const auto &rows : rows_) {
      gemms_.emplace_back(GemmShape{rows.end - rows.begin, shape_.out,
                                    shape_.in, shape_.in, shape_.out,
                                    G * shape_.out});
      gemmScratch_.push_back(reserveBytes(gemms_.back().scratchBytes()));
      addTask(signature, 0, inputWork / static_cast<double>(rows_.size()),
              {at_.x, at_.inputWeights});
    }
    const double stateWork =
        productWork(shape_.rows(), G * shape_.out, shape_.out);
    samples_ = sampleShards(shape_.batch, stateWork);
    for (const auto &samples : samples_) {
      const auto count = samples.end - samples.begin;
      gemms_.emplace_back(GemmShape{.m = count,
                                    .n = shape_.out,
                                    .k = shape_.out,
                                    .lda = shape_.out,
                                    .ldb = shape_.out,
                                    .ldy = G * shape_.out,
                                    .isAdded = true});
      gemmScratch_.push_back(reserveBytes(gemms_.back().scratchBytes()));
      // State, reset state or products with the state, parts not saved.
      states_.push_back(
          reserve((count + G * count + GruPartCount + G) * shape_.out));
      addTask(signature, 1, stateWork / static_cast<double>(samples_.size()),
              {at_.h, at_.outputWeights, at_.biases, at_.steps, at_.attention,
               y_, y_ + 1, saves_ ? y_ + 2 : OperandOrder::absent});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const auto H = shape_.out;
    float *products = floats(scratch, products_);
    std::byte *gemmScratch = scratch + gemmScratch_[task];
    if (task < rows_.size()) {
      const auto begin = rows_[task].begin;
      for (std::int64_t g = 0; g < G; ++g) {
        gemms_[task].run(
            dataOf<const float>(operands, at_.x) + begin * shape_.in,
            dataOf<const float>(operands, at_.inputWeights) + g * shape_.in * H,
            products + begin * G * H + g * H, gemmScratch);
      }
      return;
    }
    const std::size_t shard = task - rows_.size();
    Walk walk{operands,    products,      floats(scratch, states_[shard]),
              gemmScratch, &gemms_[task], samples_[shard]};
    runWalk(walk);
  }

private:
  struct Walk {
    std::byte *const *operands;
    float *products;
    float *memory;
    std::byte *gemmScratch;
    const Gemm *gemm;
    ShardRange samples;

    std::int64_t count() const { return samples.end - samples.begin; }
  };

  void runWalk(const Walk &walk) const {
    const auto H = shape_.out;
    const auto begin = walk.samples.begin;
    float *h = walk.memory;
    std::copy_n(dataOf<const float>(walk.operands, at_.h) + begin * H,
                walk.count() * H, h);
    auto steps = steps_;
    if (at_.steps != OperandOrder::absent) {
      steps.data = dataOf<const std::int32_t>(walk.operands, at_.steps);
    }
    for (std::int64_t t = 0; t < shape_.steps; ++t) {
      if (shape_.resetsAfter) {
        stepAfter(walk, t, h);
      } else {
        stepBefore(walk, t, h);
      }
      for (std::int64_t i = 0; i < walk.count(); ++i) {
        finish(walk, t, i, t < steps.of(begin + i), h + i * H);
      }
    }
    std::copy_n(h, walk.count() * H,
                dataOf<float>(walk.operands, y_ + 1) + begin * H);
  }

  float *rowOf(const Walk &walk, std::int64_t t, std::int64_t i) const {
    return walk.products +
           (t * shape_.batch + walk.samples.begin + i) * G * shape_.out;
  }
  const float *weights(const Walk &walk, std::int64_t gate) const {
    return dataOf<const float>(walk.operands, at_.outputWeights) +
           shape_.unit(gate) * shape_.out;
  }
  // Of the input, or of the state with resetAfter.
  const float *bias(const Walk &walk, std::int64_t gate, int which) const {
    return dataOf<const float>(walk.operands, at_.biases) +
           (shape_.position(gate) * (shape_.resetsAfter ? 2 : 1) + which) *
               shape_.out;
  }
  float *behindState(const Walk &walk) const {
    return walk.memory + walk.count() * shape_.out;
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
      walk.gemm->run(h, weights(walk, gate), state + shape_.unit(gate),
                     walk.gemmScratch);
    }
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      float *z = rowOf(walk, t, i);
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
    float *first = rowOf(walk, t, 0);
    for (const std::int64_t gate : {GruReset, GruUpdate}) {
      walk.gemm->run(h, weights(walk, gate), first + shape_.unit(gate),
                     walk.gemmScratch);
    }
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      float *z = rowOf(walk, t, i);
      for (const std::int64_t gate : {GruReset, GruUpdate}) {
        const auto at = shape_.unit(gate);
        loops.activate(shape_.recurrent, z + at, z + at, bias(walk, gate, 0),
                       H);
      }
      selectedLoops().poolRows.multiply(
          product + i * H, z + shape_.unit(GruReset), h + i * H, H);
    }
    walk.gemm->run(product, weights(walk, GruCandidate),
                   first + shape_.unit(GruCandidate), walk.gemmScratch);
    for (std::int64_t i = 0; i < walk.count(); ++i) {
      float *z = rowOf(walk, t, i) + shape_.unit(GruCandidate);
      loops.activate(shape_.activation, z, z, bias(walk, GruCandidate, 0), H);
    }
  }

  void finish(const Walk &walk, std::int64_t t, std::int64_t i, bool isLive,
              float *h) const {
    const auto H = shape_.out;
    const auto row = t * shape_.batch + walk.samples.begin + i;
    float *y = dataOf<float>(walk.operands, y_) + row * H;
    float *saved =
        saves_ ? dataOf<float>(walk.operands, y_ + 2) + row * GruPartCount * H
               : nullptr;
    if (!isLive) {
      std::fill_n(y, H, 0.0f);
      if (saves_) {
        std::fill_n(saved, GruPartCount * H, 0.0f);
      }
      return;
    }
    const float *z = rowOf(walk, t, i);
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

  ForwardOperands at_;
  GruShape shape_;
  bool saves_;
  std::size_t y_; // operand of the first output
  StepCounts steps_;
  std::size_t products_; // offset in the scratch memory
  std::vector<ShardRange> rows_, samples_;
  std::vector<Gemm> gemms_;              // by task
  std::vector<std::size_t> gemmScratch_; // by task
  std::vector<std::size_t> states_;      // by range of samples
};

std::unique_ptr<Plan> planForward(const Signature &signature) {
  const ForwardOperands at(signature.attributes, false);
  return isTakenRecurrent(signature, at.steps)
             ? std::make_unique<GruPlan>(signature)
             : nullptr;
}

constexpr KernelEntry entries[] = {
    {"samples", allPlain, planForward},
    {"half", allPlain, planAsFloat<planForward>}};

} // namespace

std::span<const KernelEntry> gruKernels() {
  return entries;
}

} // namespace kernels
