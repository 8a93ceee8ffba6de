// "maxPool" and "maxPoolGrad" of row-major floats, plane by plane.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "ImageShapes.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

namespace kernels {

namespace {

// Shards are runs of planes (one channel of one sample).
class PlanesPlan : public Plan {
protected:
  PlanesPlan(const Signature &signature, const PoolShape &shape,
             double nanosecondsPerElement)
      : plane_(planeOf(shape)), inElements_(shape.in[0] * shape.in[1]),
        outElements_(shape.out[0] * shape.out[1]) {
    const std::int64_t planes = shape.batch * shape.channels;
    const double work =
        nanosecondsPerElement * static_cast<double>(planes * inElements_);
    const std::int64_t count = shardCount(planes, work);
    for (std::int64_t i = 0; i < count && planes > 0; ++i) {
      const auto range = shardRange(planes, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        const auto elements =
            support::elementCount(signature.operand(operand).shape) / planes;
        task.accesses.push_back(elementAccess(
            signature, operand, range.begin * elements, range.end * elements));
      }
      tasks_.push_back(std::move(task));
    }
    workspaceBytes_ =
        static_cast<std::size_t>(plane_.scratchFloats()) * sizeof(float);
  }

  PoolLoops::Plane plane_;
  std::int64_t inElements_;  // of a plane
  std::int64_t outElements_; // of a plane
  std::vector<ShardRange> shards_;
};

class MaxPoolPlan final : public PlanesPlan {
public:
  MaxPoolPlan(const Signature &signature, const PoolShape &shape)
      : PlanesPlan(signature, shape, 0.15) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const auto *x = dataOf<const float>(operands, 0);
    auto *y = dataOf<float>(operands, 1);
    auto *indices = dataOf<std::uint8_t>(operands, 2);
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      selectedLoops().pool.forward(plane_, x + i * inElements_,
                                   y + i * outElements_,
                                   indices + i * outElements_,
                                   reinterpret_cast<float *>(memory.workspace));
    }
  }
};

class MaxPoolGradPlan final : public PlanesPlan {
public:
  MaxPoolGradPlan(const Signature &signature, const PoolShape &shape)
      : PlanesPlan(signature, shape, 0.15) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const auto *dy = dataOf<const float>(operands, 0);
    const auto *indices = dataOf<const std::uint8_t>(operands, 1);
    auto *dx = dataOf<float>(operands, 2);
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      selectedLoops().pool.gradient(
          plane_, dy + i * outElements_, indices + i * outElements_,
          dx + i * inElements_, reinterpret_cast<float *>(memory.workspace));
    }
  }
};

std::unique_ptr<Plan> planForward(const Signature &signature) {
  if (signature.inputs[0].type != DataType::Float ||
      !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<MaxPoolPlan>(
      signature,
      poolShape("maxPool", signature.attributes, signature.inputs[0].shape));
}

std::unique_ptr<Plan> planGrad(const Signature &signature) {
  if (signature.inputs[0].type != DataType::Float ||
      !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<MaxPoolGradPlan>(
      signature, poolShape("maxPoolGrad", signature.attributes,
                           signature.outputs[0].shape));
}

} // namespace

std::span<const KernelEntry> maxPoolKernels() {
  static const KernelEntry entries[] = {
      laneMaxPool,
      {"planes", allPlain, planForward},
      {"half", allPlain, planAsFloat<planForward>}};
  return entries;
}
std::span<const KernelEntry> maxPoolGradKernels() {
  static const KernelEntry entries[] = {
      laneMaxPoolGrad,
      {"planes", allPlain, planGrad},
      {"half", allPlain, planAsFloat<planGrad>}};
  return entries;
}

} // namespace kernels
