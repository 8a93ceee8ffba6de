// "splineBasis" and "splineWeighting" on row-major FLOAT operands, in shards of
// edges; halves go through copies in float.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <cmath>

namespace kernels {

namespace {

// Shards of edges, the first dimension of both operands that are cut.
class EdgePlan : public Plan {
protected:
  // Rows of operands for which `isCut` holds; all of the others.
  EdgePlan(const Signature &signature, std::int64_t edges, double perEdge,
           std::initializer_list<bool> isCut) {
    const double work = perEdge * static_cast<double>(edges);
    const auto count = shardCount(edges, work);
    for (std::int64_t i = 0; i < count && edges > 0; ++i) {
      const auto range = shardRange(edges, count, i);
      Task task{0, work / static_cast<double>(count), {}};
      std::size_t operand = 0;
      for (const bool cut : isCut) {
        task.accesses.push_back(
            cut ? rowAccess(signature, operand, range.begin, range.end)
                : wholeAccess(signature, operand));
        ++operand;
      }
      tasks_.push_back(std::move(task));
      shards_.push_back(range);
    }
  }

  std::vector<ShardRange> shards_;
};

class BasisPlan final : public EdgePlan {
public:
  explicit BasisPlan(const Signature &signature)
      : EdgePlan(signature, signature.inputs[0].shape[0],
                 3.0 * static_cast<double>(signature.outputs[0].shape[1] *
                                           signature.inputs[0].shape[1]),
                 {true, false, false, true, true}),
        dimensions_(signature.inputs[0].shape[1]),
        splines_(signature.outputs[0].shape[1]),
        degree_(signature.attributes.getInt("degree")) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *pseudo = dataOf<const float>(operands, 0);
    const auto *sizes = dataOf<const std::int32_t>(operands, 1);
    const auto *isOpen = dataOf<const std::uint8_t>(operands, 2);
    auto *basis = dataOf<float>(operands, 3);
    auto *weightIndex = dataOf<std::int32_t>(operands, 4);
    const auto [begin, end] = shards_[task];
    for (auto edge = begin; edge < end; ++edge) {
      float *products = basis + edge * splines_;
      std::int32_t *weights = weightIndex + edge * splines_;
      std::fill_n(products, splines_, 1.0f);
      std::fill_n(weights, splines_, 0);
      std::int64_t period = 1; // splines in which a piece stays
      std::int32_t stride = 1;
      for (std::int64_t d = 0; d < dimensions_; ++d) {
        addDimension(pseudo[edge * dimensions_ + d], sizes[d], isOpen[d] != 0,
                     period, stride, products, weights);
        period *= degree_ + 1;
        stride *= sizes[d];
      }
    }
  }

private:
  void addDimension(float pseudo, std::int32_t size, bool isOpen,
                    std::int64_t period, std::int32_t stride, float *products,
                    std::int32_t *weights) const {
    const auto open = isOpen ? static_cast<std::int32_t>(degree_) : 0;
    const float scaled = pseudo * static_cast<float>(size - open);
    const float whole = std::floor(scaled);
    float pieces[4];
    piecesAt(scaled - whole, pieces);
    for (std::int64_t s = 0; s < splines_; ++s) {
      const std::int64_t piece = s / period % (degree_ + 1);
      products[s] *= pieces[piece];
      weights[s] += (static_cast<std::int32_t>(whole) +
                     static_cast<std::int32_t>(piece)) %
                    size * stride;
    }
  }

  // All pieces of the B-spline at v in [0, 1).
  void piecesAt(float v, float *pieces) const {
    const float u = 1 - v;
    if (degree_ == 1) {
      pieces[0] = u;
      pieces[1] = v;
    } else if (degree_ == 2) {
      pieces[0] = u * u / 2;
      pieces[1] = -v * v + v + 0.5f;
      pieces[2] = v * v / 2;
    } else {
      pieces[0] = u * u * u / 6;
      pieces[1] = (3 * v * v * v - 6 * v * v + 4) / 6;
      pieces[2] = (-3 * v * v * v + 3 * v * v + 3 * v + 1) / 6;
      pieces[3] = v * v * v / 6;
    }
  }

  std::int64_t dimensions_, splines_, degree_;
};

class WeightingPlan final : public EdgePlan {
public:
  explicit WeightingPlan(const Signature &signature)
      : EdgePlan(signature, signature.inputs[0].shape[0],
                 0.3 * static_cast<double>(signature.inputs[0].shape[1] *
                                           signature.inputs[1].shape[2] *
                                           signature.inputs[2].shape[1]),
                 {true, false, true, true, true}),
        kernels_(signature.inputs[1].shape[0]),
        channelsIn_(signature.inputs[0].shape[1]),
        channelsOut_(signature.inputs[1].shape[2]),
        splines_(signature.inputs[2].shape[1]) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *x = dataOf<const float>(operands, 0);
    const auto *weights = dataOf<const float>(operands, 1);
    const auto *basis = dataOf<const float>(operands, 2);
    const auto *weightIndex = dataOf<const std::int32_t>(operands, 3);
    auto *y = dataOf<float>(operands, 4);
    const auto [begin, end] = shards_[task];
    for (auto edge = begin; edge < end; ++edge) {
      float *row = y + edge * channelsOut_;
      std::fill_n(row, channelsOut_, 0.0f);
      for (std::int64_t s = 0; s < splines_; ++s) {
        const std::int64_t kernel = weightIndex[edge * splines_ + s];
        if (kernel >= 0 && kernel < kernels_) {
          addProduct(basis[edge * splines_ + s], x + edge * channelsIn_,
                     weights + kernel * channelsIn_ * channelsOut_, row);
        }
      }
    }
  }

private:
  void addProduct(float factor, const float *x, const float *weights,
                  float *y) const {
    for (std::int64_t i = 0; i < channelsIn_; ++i) {
      const float scaled = factor * x[i];
      for (std::int64_t o = 0; o < channelsOut_; ++o) {
        y[o] += scaled * weights[i * channelsOut_ + o];
      }
    }
  }

  std::int64_t kernels_, channelsIn_, channelsOut_, splines_;
};

template <typename Planned>
std::unique_ptr<Plan> planFloat(const Signature &signature) {
  if (signature.outputs[0].type != DataType::Float ||
      !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<Planned>(signature);
}

constexpr KernelEntry basisEntries[] = {
    {"edges", allPlain, planFloat<BasisPlan>},
    {"halfEdges", allPlain, planAsFloat<planFloat<BasisPlan>>}};
constexpr KernelEntry weightingEntries[] = {
    {"edges", allPlain, planFloat<WeightingPlan>},
    {"halfEdges", allPlain, planAsFloat<planFloat<WeightingPlan>>}};

} // namespace

std::span<const KernelEntry> splineBasisKernels() {
  return basisEntries;
}
std::span<const KernelEntry> splineWeightingKernels() {
  return weightingEntries;
}

} // namespace kernels
