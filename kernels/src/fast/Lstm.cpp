// "lstm" and "lstmGrad" of row-major floats.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "RecurrentPlan.hpp"

namespace kernels {

namespace {

constexpr std::int64_t G = lstmGates;

struct LstmShape : RecurrentShape {
  Attributes::Ints positions;
  int activation, recurrent; // as GateFunction

  LstmShape(const RecurrentShape &shape, const Attributes &attributes)
      : RecurrentShape(shape), positions(gatePositions("lstm", attributes, G)),
        activation(
            static_cast<int>(gateFunction("lstm", attributes, "activation"))),
        recurrent(static_cast<int>(
            gateFunction("lstm", attributes, "recurrentActivation"))) {}

  int functionOf(std::int64_t gate) const {
    return gate == LstmCandidate ? activation : recurrent;
  }
  // Where a gate's units start among those of all gates.
  std::int64_t unit(std::int64_t gate) const {
    return positions[static_cast<std::size_t>(gate)] * out;
  }
};

class LstmPlan final : public RecurrentPlan {
public:
  explicit LstmPlan(const Signature &signature)
      : at_(signature.attributes, true),
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
      inputGemms_.emplace_back(GemmShape{rows.end - rows.begin, shape_.out,
                                         shape_.in, shape_.in, shape_.out,
                                         G * shape_.out});
      gemmScratch_.push_back(reserveBytes(inputGemms_.back().scratchBytes()));
      addTask(signature, 0, inputWork / static_cast<double>(rows_.size()),
              {at_.x, at_.inputWeights});
    }
    const double stateWork =
        productWork(shape_.rows(), G * shape_.out, shape_.out);
    samples_ = sampleShards(shape_.batch, stateWork);
    for (const auto &samples : samples_) {
      const auto count = samples.end - samples.begin;
      stateGemms_.emplace_back(GemmShape{.m = count,
                                         .n = shape_.out,
                                         .k = shape_.out,
                                         .lda = shape_.out,
                                         .ldb = shape_.out,
                                         .ldy = G * shape_.out,
                                         .isAdded = true});
      gemmScratch_.push_back(reserveBytes(stateGemms_.back().scratchBytes()));
      states_.push_back(reserve((2 * count + 2) * shape_.out));
      addTask(signature, 1, stateWork / static_cast<double>(samples_.size()),
              {at_.h, at_.c, at_.outputWeights, at_.biases, at_.steps, y_,
               y_ + 1, y_ + 2, saves_ ? y_ + 3 : OperandOrder::absent});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const auto H = shape_.out;
    float *products = floats(scratch, products_);
    if (task < rows_.size()) {
      const auto begin = rows_[task].begin;
      for (std::int64_t g = 0; g < G; ++g) {
        inputGemms_[task].run(
            dataOf<const float>(operands, at_.x) + begin * shape_.in,
            dataOf<const float>(operands, at_.inputWeights) + g * shape_.in * H,
            products + begin * G * H + g * H, scratch + gemmScratch_[task]);
      }
      return;
    }
    const std::size_t shard = task - rows_.size();
    walk(shard, operands, products, floats(scratch, states_[shard]),
         scratch + gemmScratch_[task]);
  }

private:
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

  void walk(std::size_t shard, std::byte *const *operands, float *products,
            float *memory, std::byte *gemmScratch) const {
    const auto H = shape_.out;
    const auto [begin, end] = samples_[shard];
    const auto count = end - begin;
    float *h = memory, *c = h + count * H, *activated = c + count * H,
          *zeros = activated + H;
    std::fill_n(zeros, H, 0.0f);
    std::copy_n(dataOf<const float>(operands, at_.h) + begin * H, count * H, h);
    std::copy_n(dataOf<const float>(operands, at_.c) + begin * H, count * H, c);
    const auto *wOut = dataOf<const float>(operands, at_.outputWeights);
    auto steps = steps_;
    if (at_.steps != OperandOrder::absent) {
      steps.data = dataOf<const std::int32_t>(operands, at_.steps);
    }
    for (std::int64_t t = 0; t < shape_.steps; ++t) {
      const auto first = t * shape_.batch + begin;
      for (std::int64_t g = 0; g < G; ++g) {
        stateGemms_[shard].run(h, wOut + g * H * H,
                               products + first * G * H + g * H, gemmScratch);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = first + i;
        float *y = dataOf<float>(operands, y_) + row * H;
        float *saved =
            saves_ ? dataOf<float>(operands, y_ + 3) + row * LstmPartCount * H
                   : nullptr;
        if (t >= steps.of(begin + i)) {
          std::fill_n(y, H, 0.0f);
          if (saves_) {
            std::fill_n(saved, LstmPartCount * H, 0.0f);
          }
          continue;
        }
        step({products + row * G * H, dataOf<const float>(operands, at_.biases),
              h + i * H, c + i * H, saved, y, activated, zeros});
      }
    }
    std::copy_n(h, count * H, dataOf<float>(operands, y_ + 1) + begin * H);
    std::copy_n(c, count * H, dataOf<float>(operands, y_ + 2) + begin * H);
  }

  ForwardOperands at_;
  LstmShape shape_;
  bool saves_;
  std::size_t y_; // operand of the first output
  StepCounts steps_;
  std::size_t products_; // offset in the scratch memory
  std::vector<ShardRange> rows_, samples_;
  std::vector<Gemm> inputGemms_, stateGemms_;
  std::vector<std::size_t> gemmScratch_; // by task
  std::vector<std::size_t> states_;      // by range of samples
};

// Stage 0 walks back through time; stage 1 makes the inputs' gradients.
class LstmGradPlan final : public RecurrentPlan {
public:
  explicit LstmGradPlan(const Signature &signature)
      : at_(signature.attributes, true),
        shape_({signature.inputs[0].shape[0], signature.inputs[0].shape[1],
                signature.inputs[1].shape[1], signature.inputs[0].shape[3]},
               signature.attributes),
        dGates_(at_.count),
        steps_(stepCounts(signature, at_.steps, shape_.steps)) {
    const double stateWork =
        productWork(shape_.rows(), G * shape_.out, shape_.out);
    samples_ = sampleShards(shape_.batch, stateWork);
    for (const auto &samples : samples_) {
      const auto count = samples.end - samples.begin;
      gemms_.emplace_back(GemmShape{.m = count,
                                    .n = shape_.out,
                                    .k = shape_.out,
                                    .lda = G * shape_.out,
                                    .ldb = shape_.out,
                                    .ldy = shape_.out,
                                    .isTransposedB = true,
                                    .isAdded = true});
      gemmScratch_.push_back(reserveBytes(gemms_.back().scratchBytes()));
      states_.push_back(reserve((3 * count + 1) * shape_.out));
      addTask(signature, 0, stateWork / static_cast<double>(samples_.size()),
              {at_.saved, at_.outputWeights, at_.c, at_.dy, at_.dh, at_.dc,
               at_.steps, dGates_, dGates_ + 1, dGates_ + 2});
    }
    if (isGiven(signature.attributes, "inputGrad")) {
      addInputTasks(signature);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    if (task < samples_.size()) {
      walk(task, operands, floats(scratch, states_[task]),
           scratch + gemmScratch_[task]);
      return;
    }
    const auto H = shape_.out;
    const auto [begin, end] = rows_[task - samples_.size()];
    float *dx = dataOf<float>(operands, dGates_ + 3) + begin * shape_.in;
    std::fill_n(dx, (end - begin) * shape_.in, 0.0f);
    for (std::int64_t g = 0; g < G; ++g) {
      gemms_[task].run(
          dataOf<const float>(operands, dGates_) + begin * G * H + g * H,
          dataOf<const float>(operands, at_.inputWeights) + g * shape_.in * H,
          dx, scratch + gemmScratch_[task]);
    }
  }

private:
  void addInputTasks(const Signature &signature) {
    const double work = productWork(shape_.rows(), G * shape_.out, shape_.in);
    rows_ = rowShards(shape_.rows(), work);
    for (const auto &rows : rows_) {
      gemms_.emplace_back(GemmShape{.m = rows.end - rows.begin,
                                    .n = shape_.in,
                                    .k = shape_.out,
                                    .lda = G * shape_.out,
                                    .ldb = shape_.out,
                                    .ldy = shape_.in,
                                    .isTransposedB = true,
                                    .isAdded = true});
      gemmScratch_.push_back(reserveBytes(gemms_.back().scratchBytes()));
      addTask(signature, 1, work / static_cast<double>(rows_.size()),
              {at_.inputWeights, dGates_, dGates_ + 3});
    }
  }

  // One sample's step back; dh is its output's gradient, dc its state's, which
  // becomes that of the state before.
  void step(const float *saved, const float *stateBefore, const float *dh,
            float *dc, float *dGates, float *memory) const {
    const auto &loops = selectedLoops().recurrent;
    const auto multiply = selectedLoops().poolRows.multiply;
    const auto H = shape_.out;
    const auto part = [&](std::int64_t p) { return saved + p * H; };
    multiply(memory, dh, part(LstmOutput), H);
    loops.multiplySlope(shape_.activation, memory, part(LstmActivated), H);
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    add(dc, memory, 1, H);
    multiply(dGates + shape_.unit(LstmForget), dc, stateBefore, H);
    multiply(dGates + shape_.unit(LstmInput), dc, part(LstmCandidate), H);
    multiply(dGates + shape_.unit(LstmCandidate), dc, part(LstmInput), H);
    multiply(dGates + shape_.unit(LstmOutput), dh, part(LstmActivated), H);
    for (std::int64_t gate = 0; gate < G; ++gate) {
      loops.multiplySlope(shape_.functionOf(gate), dGates + shape_.unit(gate),
                          part(gate), H);
    }
    multiply(memory, dc, part(LstmForget), H);
    std::copy_n(memory, H, dc);
  }

  static void fillState(std::byte *const *operands, std::size_t operand,
                        std::int64_t begin, std::int64_t count, float *to) {
    if (operand == OperandOrder::absent) {
      std::fill_n(to, count, 0.0f);
    } else {
      std::copy_n(dataOf<const float>(operands, operand) + begin, count, to);
    }
  }

  void walk(std::size_t shard, std::byte *const *operands, float *memory,
            std::byte *gemmScratch) const {
    const auto H = shape_.out, B = shape_.batch;
    const auto [begin, end] = samples_[shard];
    const auto count = end - begin;
    float *dh = memory, *dc = dh + count * H, *before = dc + count * H,
          *spare = before + count * H;
    fillState(operands, at_.dh, begin * H, count * H, dh);
    fillState(operands, at_.dc, begin * H, count * H, dc);
    const auto *saved = dataOf<const float>(operands, at_.saved);
    const auto *wOut = dataOf<const float>(operands, at_.outputWeights);
    auto *dGates = dataOf<float>(operands, dGates_);
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    auto steps = steps_;
    if (at_.steps != OperandOrder::absent) {
      steps.data = dataOf<const std::int32_t>(operands, at_.steps);
    }
    for (std::int64_t t = shape_.steps; t-- > 0;) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = t * B + begin + i;
        if (t >= steps.of(begin + i)) { // the state passed by as it was
          std::fill_n(dGates + row * G * H, G * H, 0.0f);
          std::copy_n(dh + i * H, H, before + i * H);
          continue;
        }
        if (at_.dy != OperandOrder::absent) {
          add(dh + i * H, dataOf<const float>(operands, at_.dy) + row * H, 1,
              H);
        }
        const float *stateBefore =
            t > 0 ? saved + ((row - B) * LstmPartCount + LstmState) * H
                  : dataOf<const float>(operands, at_.c) + (begin + i) * H;
        step(saved + row * LstmPartCount * H, stateBefore, dh + i * H,
             dc + i * H, dGates + row * G * H, spare);
        std::fill_n(before + i * H, H, 0.0f);
      }
      for (std::int64_t g = 0; g < G; ++g) {
        gemms_[shard].run(dGates + (t * B + begin) * G * H + g * H,
                          wOut + g * H * H, before, gemmScratch);
      }
      std::copy_n(before, count * H, dh);
    }
    std::copy_n(dh, count * H,
                dataOf<float>(operands, dGates_ + 1) + begin * H);
    std::copy_n(dc, count * H,
                dataOf<float>(operands, dGates_ + 2) + begin * H);
  }

  BackwardOperands at_;
  LstmShape shape_;
  std::size_t dGates_; // operand of the first output
  StepCounts steps_;
  std::vector<ShardRange> samples_, rows_;
  std::vector<Gemm> gemms_;              // by task
  std::vector<std::size_t> gemmScratch_; // by task
  std::vector<std::size_t> states_;      // by range of samples
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
