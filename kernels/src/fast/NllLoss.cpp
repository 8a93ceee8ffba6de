// "nllLoss" and "nllLossGrad" of row-major floats: one task each, since they
// touch one element per sample or write a few.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <cstddef>

namespace kernels {

namespace {

enum class Reduction : std::uint8_t { Mean, Sum, None };

struct LossShape {
  LossShape(const Signature &signature, std::int64_t batchSize,
            std::int64_t classCount)
      : batch(batchSize), classes(classCount),
        ignoreIndex(signature.attributes.getInt("ignoreIndex")) {
    const auto &name = signature.attributes.getString("reduction");
    reduction = name == "mean"  ? Reduction::Mean
                : name == "sum" ? Reduction::Sum
                                : Reduction::None;
  }

  bool isCounted(std::int32_t label) const {
    return label >= 0 && label < classes &&
           (ignoreIndex < 0 || label != ignoreIndex);
  }
  // What a mean divides by: at least 1, so that a mean over no label is 0.
  float countLabels(const std::int32_t *labels) const {
    return static_cast<float>(std::max<std::ptrdiff_t>(
        1, std::count_if(labels, labels + batch, [&](std::int32_t label) {
          return isCounted(label);
        })));
  }

  std::int64_t batch, classes, ignoreIndex;
  Reduction reduction;
};

class LossPlan : public Plan {
protected:
  LossPlan(const Signature &signature, const LossShape &shape, double work)
      : shape_(shape) {
    tasks_.push_back({0,
                      work,
                      {wholeAccess(signature, 0), wholeAccess(signature, 1),
                       wholeAccess(signature, 2)}});
  }
  LossShape shape_;
};

class NllLossPlan final : public LossPlan {
public:
  explicit NllLossPlan(const Signature &signature)
      : LossPlan(signature,
                 LossShape(signature, signature.inputs[0].shape[0],
                           signature.inputs[0].shape[1]),
                 2.0 * static_cast<double>(signature.inputs[0].shape[0])) {}

  void run(std::uint32_t, std::byte *const *operands, Memory) const override {
    const auto *logp = dataOf<const float>(operands, 0);
    const auto *labels = dataOf<const std::int32_t>(operands, 1);
    auto *loss = dataOf<float>(operands, 2);
    float sum = 0;
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      const float value = shape_.isCounted(labels[n])
                              ? -logp[n * shape_.classes + labels[n]]
                              : 0;
      sum += value;
      if (shape_.reduction == Reduction::None) {
        loss[n] = value;
      }
    }
    if (shape_.reduction == Reduction::Mean) {
      *loss = sum / shape_.countLabels(labels);
    } else if (shape_.reduction == Reduction::Sum) {
      *loss = sum;
    }
  }
};

class NllLossGradPlan final : public LossPlan {
public:
  explicit NllLossGradPlan(const Signature &signature)
      : LossPlan(signature,
                 LossShape(signature, signature.outputs[0].shape[0],
                           signature.outputs[0].shape[1]),
                 0.1 * static_cast<double>(
                           support::elementCount(signature.outputs[0].shape))) {
  }

  void run(std::uint32_t, std::byte *const *operands, Memory) const override {
    const auto *dloss = dataOf<const float>(operands, 0);
    const auto *labels = dataOf<const std::int32_t>(operands, 1);
    auto *dlogp = dataOf<float>(operands, 2);
    const float divisor =
        shape_.reduction == Reduction::Mean ? shape_.countLabels(labels) : 1;
    std::fill_n(dlogp, shape_.batch * shape_.classes, 0.0f);
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      if (shape_.isCounted(labels[n])) {
        const float gradient =
            dloss[shape_.reduction == Reduction::None ? n : 0];
        dlogp[n * shape_.classes + labels[n]] = -gradient / divisor;
      }
    }
  }
};

template <typename LossPlan>
std::unique_ptr<Plan> plan(const Signature &signature) {
  if (signature.inputs[0].type != DataType::Float ||
      !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<LossPlan>(signature);
}

constexpr KernelEntry forwardEntries[] = {
    {"rows", allPlain, plan<NllLossPlan>},
    {"half", allPlain, planAsFloat<plan<NllLossPlan>>}};
constexpr KernelEntry gradEntries[] = {
    {"rows", allPlain, plan<NllLossGradPlan>},
    {"half", allPlain, planAsFloat<plan<NllLossGradPlan>>}};

} // namespace

std::span<const KernelEntry> nllLossKernels() {
  return forwardEntries;
}
std::span<const KernelEntry> nllLossGradKernels() {
  return gradEntries;
}

} // namespace kernels
