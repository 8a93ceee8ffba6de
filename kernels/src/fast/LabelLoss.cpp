// "labelLoss" of row-major floats, in shards of samples.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include "kinds/LabelLoss.hpp"
#include "loops/Loops.hpp"

#include <algorithm>
#include <cmath>

namespace kernels {

namespace {

class LabelLossPlan final : public Plan {
public:
  explicit LabelLossPlan(const Signature &signature)
      : classes_(signature.inputs[0].shape[1]),
        isCrossEntropy_(signature.attributes.getString("loss") ==
                        "CROSS_ENTROPY"),
        hasScales_(signature.attributes.getInt("hasScales") != 0),
        epsilon_(static_cast<float>(signature.attributes.getFloat("epsilon"))),
        loss_(signature.inputs.size()) {
    const auto samples = signature.inputs[0].shape[0];
    const double work = 0.2 * static_cast<double>(samples * classes_);
    const auto count = shardCount(samples, work);
    for (std::int64_t i = 0; i < count && samples > 0; ++i) {
      const auto range = shardRange(samples, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (const std::size_t operand :
           {std::size_t{0}, std::size_t{1}, loss_, loss_ + 1}) {
        task.accesses.push_back(
            rowAccess(signature, operand, range.begin, range.end));
      }
      for (std::size_t operand = 2; operand < loss_; ++operand) {
        task.accesses.push_back(wholeAccess(signature, operand));
      }
      tasks_.push_back(std::move(task));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const float deltasScale =
        hasScales_ ? *dataOf<const float>(operands, 2) : 1.0f;
    const float scaling = hasScales_ ? *dataOf<const float>(operands, 3) : 1.0f;
    for (auto n = shards_[task].begin; n < shards_[task].end; ++n) {
      runSample(dataOf<const float>(operands, 0) + n * classes_,
                dataOf<const std::uint32_t>(operands, 1)[n], deltasScale,
                scaling, dataOf<float>(operands, loss_) + n,
                dataOf<float>(operands, loss_ + 1) + n * classes_);
    }
  }

private:
  void runSample(const float *p, std::uint32_t label, float deltasScale,
                 float scaling, float *loss, float *deltas) const {
    *loss = 0;
    if (label == maskedLabel) {
      std::fill_n(deltas, classes_, 0.0f);
      return;
    }
    const bool isInside = label < static_cast<std::uint64_t>(classes_);
    const float inverse = 1.0f / scaling;
    for (std::int64_t c = 0; c < classes_; ++c) {
      deltas[c] = p[c] * inverse;
    }
    if (isInside) {
      deltas[label] -= 1;
    }
    if (!isCrossEntropy_) {
      *loss = 0.5f * selectedLoops().reduce.row[static_cast<std::size_t>(
                         ReduceOp::SquareAdd)](0, deltas, 1, classes_);
    } else if (isInside) {
      *loss = -std::log(p[label] * inverse + epsilon_);
    }
    for (std::int64_t c = 0; c < classes_ && hasScales_; ++c) {
      deltas[c] *= deltasScale;
    }
  }

  std::int64_t classes_;
  bool isCrossEntropy_, hasScales_;
  float epsilon_;
  std::size_t loss_; // operand
  std::vector<ShardRange> shards_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  const bool isFloat = signature.inputs[0].type == DataType::Float &&
                       (signature.inputs.size() < 4 ||
                        (signature.inputs[2].type == DataType::Float &&
                         signature.inputs[3].type == DataType::Float));
  if (!isFloat || !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<LabelLossPlan>(signature);
}

constexpr KernelEntry entries[] = {{"samples", allPlain, plan},
                                   {"half", allPlain, planAsFloat<plan>}};

} // namespace

std::span<const KernelEntry> labelLossKernels() {
  return entries;
}

} // namespace kernels
