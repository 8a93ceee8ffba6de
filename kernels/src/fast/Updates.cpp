// The optimisers' updates as block plans: one pass over weight, gradient and
// state, with the hyper-parameters read when a block runs.
#include "BlockPlan.hpp"
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <algorithm>
#include <cmath>

namespace kernels {

namespace {

float scalar(std::byte *const *operands, std::size_t index) {
  return *dataOf<const float>(operands, index);
}

class SgdPlan final : public BlockPlan {
public:
  explicit SgdPlan(const Signature &signature)
      : SgdPlan(signature, signature.attributes.getInt("momentum") != 0) {}

private:
  SgdPlan(const Signature &signature, bool hasMomentum)
      : BlockPlan(signature,
                  hasMomentum ? std::vector<std::size_t>{0, 1, 4}
                              : std::vector<std::size_t>{0, 1},
                  hasMomentum ? std::vector<std::size_t>{7, 8}
                              : std::vector<std::size_t>{4},
                  hasMomentum ? std::vector<std::size_t>{2, 3, 5, 6}
                              : std::vector<std::size_t>{2, 3},
                  0.25, 0),
        hasMomentum_(hasMomentum),
        isNesterov_(signature.attributes.getInt("nesterov") != 0),
        gradientScale_(static_cast<float>(
            signature.attributes.getFloat("gradientScale"))) {}

  void compute(const Block &block) const override {
    const UpdateLoops::Sgd p{
        .lr = scalar(block.operands, 2),
        .weightDecay = scalar(block.operands, 3),
        .momentum = hasMomentum_ ? scalar(block.operands, 5) : 0,
        .dampening = hasMomentum_ ? scalar(block.operands, 6) : 0,
        .gradientScale = gradientScale_,
        .hasMomentum = hasMomentum_,
        .isNesterov = isNesterov_};
    selectedLoops().update.sgd(
        p, block.inputs[0], block.inputs[1],
        hasMomentum_ ? block.inputs[2] : nullptr, block.outputs[0],
        hasMomentum_ ? block.outputs[1] : nullptr, block.count);
  }

  bool hasMomentum_;
  bool isNesterov_;
  float gradientScale_;
};

// The step counter is advanced by a task of its own, after all have read it.
class AdamPlan final : public BlockPlan {
public:
  explicit AdamPlan(const Signature &signature)
      : BlockPlan(signature, {0, 1, 2, 3}, {10, 11, 12}, {4, 5, 6, 7, 8, 9},
                  0.5, 0),
        isDecoupled_(signature.attributes.getInt("decoupledDecay") != 0),
        isCorrected_(signature.attributes.getInt("biasCorrection") != 0),
        gradientScale_(static_cast<float>(
            signature.attributes.getFloat("gradientScale"))) {
    tasks_.push_back({1,
                      10,
                      {elementAccess(signature, stepIn, 0, 1),
                       elementAccess(signature, stepOut, 0, 1)}});
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    if (task + 1 == tasks_.size()) {
      *dataOf<float>(operands, stepOut) = scalar(operands, stepIn) + 1;
    } else {
      BlockPlan::run(task, operands, memory);
    }
  }

private:
  static constexpr std::size_t stepIn = 4;
  static constexpr std::size_t stepOut = 13;

  void compute(const Block &block) const override {
    const double t = scalar(block.operands, stepIn) + 1;
    const float lr = scalar(block.operands, 5);
    const float beta1 = scalar(block.operands, 6);
    const float beta2 = scalar(block.operands, 7);
    const float weightDecay = scalar(block.operands, 9);
    // In double: for small t, 1 - beta^t loses many bits of a float.
    const double correction1 = isCorrected_ ? 1 - std::pow(beta1, t) : 1;
    const double correction2 = isCorrected_ ? 1 - std::pow(beta2, t) : 1;
    const UpdateLoops::Adam p{
        .beta1 = beta1,
        .beta2 = beta2,
        .epsilon = scalar(block.operands, 8),
        .gradientScale = gradientScale_,
        .decay = isDecoupled_ ? 0 : weightDecay,
        .shrink = isDecoupled_ ? 1 - lr * weightDecay : 1,
        .stepSize = static_cast<float>(lr / correction1),
        .varianceInv = static_cast<float>(1 / std::sqrt(correction2))};
    selectedLoops().update.adam(
        p, block.inputs[0], block.inputs[1], block.inputs[2], block.inputs[3],
        block.outputs[0], block.outputs[1], block.outputs[2], block.count);
  }

  bool isDecoupled_;
  bool isCorrected_;
  float gradientScale_;
};

class RmspropPlan final : public BlockPlan {
public:
  explicit RmspropPlan(const Signature &signature)
      : RmspropPlan(signature, signature.attributes.getInt("momentum") != 0) {}

private:
  RmspropPlan(const Signature &signature, bool hasMomentum)
      : BlockPlan(signature,
                  hasMomentum ? std::vector<std::size_t>{0, 1, 2, 7}
                              : std::vector<std::size_t>{0, 1, 2},
                  hasMomentum ? std::vector<std::size_t>{9, 10, 11}
                              : std::vector<std::size_t>{7, 8},
                  hasMomentum ? std::vector<std::size_t>{3, 4, 5, 6, 8}
                              : std::vector<std::size_t>{3, 4, 5, 6},
                  0.5, 0),
        hasMomentum_(hasMomentum),
        isInside_(signature.attributes.getInt("epsilonInside") != 0),
        gradientScale_(static_cast<float>(
            signature.attributes.getFloat("gradientScale"))) {}

  void compute(const Block &block) const override {
    const UpdateLoops::Rmsprop p{
        .lr = scalar(block.operands, 3),
        .alpha = scalar(block.operands, 4),
        .epsilon = scalar(block.operands, 5),
        .weightDecay = scalar(block.operands, 6),
        .momentum = hasMomentum_ ? scalar(block.operands, 8) : 0,
        .gradientScale = gradientScale_,
        .hasMomentum = hasMomentum_,
        .isEpsilonInside = isInside_};
    selectedLoops().update.rmsprop(
        p, block.inputs[0], block.inputs[1], block.inputs[2],
        hasMomentum_ ? block.inputs[3] : nullptr, block.outputs[0],
        block.outputs[1], hasMomentum_ ? block.outputs[2] : nullptr,
        block.count);
  }

  bool hasMomentum_;
  bool isInside_;
  float gradientScale_;
};

template <typename UpdatePlan>
std::unique_ptr<Plan> plan(const Signature &signature) {
  return std::make_unique<UpdatePlan>(signature);
}

constexpr KernelEntry sgdEntries[] = {{"blocks", allPlain, plan<SgdPlan>}};
constexpr KernelEntry adamEntries[] = {{"blocks", allPlain, plan<AdamPlan>}};
constexpr KernelEntry rmspropEntries[] = {
    {"blocks", allPlain, plan<RmspropPlan>}};

} // namespace

std::span<const KernelEntry> sgdUpdateKernels() {
  return sgdEntries;
}
std::span<const KernelEntry> adamUpdateKernels() {
  return adamEntries;
}
std::span<const KernelEntry> rmspropUpdateKernels() {
  return rmspropEntries;
}

} // namespace kernels
