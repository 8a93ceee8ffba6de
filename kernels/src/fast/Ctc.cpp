// "ctcLoss" of row-major floats, sample by sample.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <kernels/Expression.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernels {

namespace {

// The logarithm of 0: finite, so that differences are numbers.
constexpr float never = -1e30f;
constexpr float impossible = -1e29f; // any sum with a `never` is below

class CtcLossPlan final : public Plan {
public:
  explicit CtcLossPlan(const Signature &signature)
      : steps_(signature.inputs[0].shape[0]),
        batch_(signature.inputs[0].shape[1]),
        classes_(signature.inputs[0].shape[2]),
        labels_(signature.inputs[1].shape[1]), size_(2 * labels_ + 1),
        blank_(signature.attributes.getInt("blank")),
        hasGradient_(signature.attributes.getInt("gradient") != 0),
        isBeforeSoftmax_(signature.attributes.getInt("includeSoftmax") != 0),
        zeroesInfinity_(signature.attributes.getInt("zeroInfinity") != 0) {
    // Rows have two positions more on either side, which are never reached.
    row_ = size_ + 4;
    const double work = 10.0 * static_cast<double>(batch_ * steps_ * size_);
    const auto count = shardCount(batch_, work);
    workspaceBytes_ =
        static_cast<std::size_t>((2 * steps_ + 4) * row_ + classes_) *
            sizeof(float) +
        static_cast<std::size_t>(size_) * sizeof(std::int64_t);
    for (std::int64_t i = 0; i < count; ++i) {
      shards_.push_back(shardRange(batch_, count, i));
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        task.accesses.push_back(wholeAccess(signature, operand));
      }
      tasks_.push_back(std::move(task));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    for (auto b = shards_[task].begin; b < shards_[task].end; ++b) {
      runSample(b, operands, memory.workspace);
    }
  }

private:
  struct Sample {
    const float *logProbs; // of the first step; steps are batch * classes apart
    std::int64_t steps, size;
    std::int64_t *symbols;
    float *before, *after; // [steps, row], from the first position on
    float *skipTo;         // 0 where a position is reached from two before
    float *skipFrom;       // the same by the position before
    float *emitted;        // a step's probabilities by position
    float *next;
    float *occupied; // [classes]
  };

  Sample makeSample(std::int64_t b, std::byte *const *operands,
                    std::byte *workspace) const {
    Sample s{};
    s.logProbs = dataOf<const float>(operands, 0) + b * classes_;
    s.steps = std::min<std::int64_t>(dataOf<const std::int32_t>(operands, 2)[b],
                                     steps_);
    const auto length = std::min<std::int64_t>(
        dataOf<const std::int32_t>(operands, 3)[b], labels_);
    s.size = 2 * length + 1;
    s.symbols = reinterpret_cast<std::int64_t *>(workspace);
    auto *memory = reinterpret_cast<float *>(s.symbols + size_);
    std::fill_n(memory, (2 * steps_ + 4) * row_, never);
    s.before = memory + 2;
    s.after = s.before + steps_ * row_;
    s.skipTo = s.after + steps_ * row_;
    s.skipFrom = s.skipTo + row_;
    s.emitted = s.skipFrom + row_;
    s.next = s.emitted + row_;
    s.occupied = memory + (2 * steps_ + 4) * row_;
    const auto *labels = dataOf<const std::int32_t>(operands, 1) + b * labels_;
    for (std::int64_t i = 0; i < s.size; ++i) {
      s.symbols[i] = i % 2 == 0 ? blank_ : labels[i / 2];
      if (i >= 2 && s.symbols[i] != s.symbols[i - 2]) {
        s.skipTo[i] = 0;
        s.skipFrom[i - 2] = 0;
      }
    }
    return s;
  }

  void emit(const Sample &s, std::int64_t t, float *to) const {
    const float *probabilities = s.logProbs + t * batch_ * classes_;
    for (std::int64_t i = 0; i < s.size; ++i) {
      to[i] = probabilities[s.symbols[i]];
    }
  }

  void walk(const Sample &s) const {
    const auto addThree = selectedLoops().ctc.addThree;
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    for (std::int64_t t = 0; t < s.steps; ++t) {
      float *row = s.before + t * row_;
      if (t == 0) {
        std::fill_n(row, std::min<std::int64_t>(s.size, 2), 0.0f);
      } else {
        const float *last = row - row_;
        addThree(row, last, last - 1, last - 2, s.skipTo, s.size);
      }
      emit(s, t, s.emitted);
      add(row, s.emitted, 1, s.size);
    }
    for (std::int64_t t = s.steps; t-- > 0;) {
      float *row = s.after + t * row_;
      if (t + 1 == s.steps) {
        const auto last = std::max<std::int64_t>(s.size - 2, 0);
        std::fill(row + last, row + s.size, 0.0f);
        continue;
      }
      emit(s, t + 1, s.next);
      add(s.next, row + row_, 1, s.size);
      addThree(row, s.next, s.next + 1, s.next + 2, s.skipFrom, s.size);
    }
  }

  void runSample(std::int64_t b, std::byte *const *operands,
                 std::byte *workspace) const {
    const Sample s = makeSample(b, operands, workspace);
    walk(s);
    float total = s.steps == 0 && s.size == 1 ? 0.0f : never;
    if (s.steps > 0) {
      const float *last = s.before + (s.steps - 1) * row_;
      const float a = last[s.size - 1];
      const float c = s.size > 1 ? last[s.size - 2] : never;
      const float top = std::max(a, c);
      total = top + std::log(std::exp(a - top) + std::exp(c - top));
    }
    const bool isLost = total < impossible;
    dataOf<float>(operands, 4)[b] =
        !isLost           ? -total
        : zeroesInfinity_ ? 0.0f
                          : std::numeric_limits<float>::infinity();
    if (hasGradient_) {
      writeGradient(s, b, total, isLost, dataOf<float>(operands, 5));
    }
  }

  void writeGradient(const Sample &s, std::int64_t b, float total, bool isLost,
                     float *gradients) const {
    const auto exponent =
        selectedLoops().elementwise.operators[static_cast<std::size_t>(
            ElementwiseOp::EXPONENT)];
    for (std::int64_t t = 0; t < steps_; ++t) {
      float *to = gradients + (t * batch_ + b) * classes_;
      if (t >= s.steps || (isLost && zeroesInfinity_)) {
        std::fill_n(to, classes_, 0.0f);
        continue;
      }
      if (isBeforeSoftmax_) {
        exponent(to, s.logProbs + t * batch_ * classes_, nullptr, nullptr,
                 classes_);
      } else {
        std::fill_n(to, classes_, 0.0f);
      }
      std::fill_n(s.occupied, classes_, 0.0f);
      for (std::int64_t i = 0; i < s.size; ++i) {
        const float way = s.before[t * row_ + i] + s.after[t * row_ + i];
        s.occupied[s.symbols[i]] +=
            isLost ? std::numeric_limits<float>::quiet_NaN()
                   : std::exp(way - total);
      }
      for (std::int64_t c = 0; c < classes_; ++c) {
        to[c] -= s.occupied[c];
      }
    }
  }

  std::int64_t steps_, batch_, classes_, labels_, size_, blank_;
  bool hasGradient_, isBeforeSoftmax_, zeroesInfinity_;
  std::int64_t row_ = 0; // floats
  std::vector<ShardRange> shards_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (signature.inputs[0].type != DataType::Float ||
      signature.outputs[0].type != DataType::Float ||
      !isAllRowMajor(signature) || signature.inputs[0].shape[0] == 0 ||
      signature.inputs[0].shape[1] == 0) {
    return nullptr;
  }
  return std::make_unique<CtcLossPlan>(signature);
}

constexpr KernelEntry entries[] = {{"samples", allPlain, plan},
                                   {"half", allPlain, planAsFloat<plan>}};

} // namespace

std::span<const KernelEntry> ctcLossKernels() {
  return entries;
}

} // namespace kernels
