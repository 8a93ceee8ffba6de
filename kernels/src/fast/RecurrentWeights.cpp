// "lstmWeightGrad" and "gruWeightGrad" of row-major floats: a product over all
// steps and samples for each gate, cut by rows of the weights, and sums for the
// biases.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "RecurrentPlan.hpp"

namespace kernels {

namespace {

// How the cells differ.
struct WeightCell {
  std::int64_t gates, parts;
  std::int64_t before; // the part that output weights saw
  // Of a GRU: its candidate's gate; the part that its weights saw where not
  // `before`; the part that multiplies its gradient (negative: none).
  std::int64_t candidate = -1;
  std::int64_t candidateSaw = -1;
  std::int64_t factor = -1;
};

class WeightGradPlan final : public RecurrentPlan {
public:
  WeightGradPlan(const Signature &signature, const WeightCell &cell)
      : cell_(cell), shape_{signature.inputs[0].shape[0],
                            signature.inputs[0].shape[1],
                            signature.inputs[0].shape[2],
                            signature.inputs[1].shape[3]} {
    if (cell.factor >= 0) {
      scaled_ = reserve(shape_.rows() * shape_.out);
      addTask(signature, 0,
              0.2 * static_cast<double>(shape_.rows() * shape_.out), {1, 2});
    }
    for (std::int64_t g = 0; g < cell.gates; ++g) {
      addProducts(signature, g, false);
      addProducts(signature, g, true);
    }
    addTask(signature, 1,
            0.1 * static_cast<double>(shape_.rows() * cell.gates * shape_.out),
            {2, 5});
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const bool scales = cell_.factor >= 0;
    if (scales && task == 0) {
      scaleCandidate(operands, floats(scratch, scaled_));
    } else if (task + 1 == tasks_.size()) {
      sumBiases(operands, scratch);
    } else {
      multiply(products_[task - (scales ? 1 : 0)], operands, scratch);
    }
  }

private:
  struct Product {
    std::int64_t gate;
    bool isOutput; // of the output weights
    ShardRange rows;
    Gemm gemm;
    std::size_t scratch;
  };

  std::int64_t seenWidth(bool isOutput) const {
    return isOutput ? cell_.parts * shape_.out : shape_.in;
  }
  bool isScaled(std::int64_t gate) const {
    return cell_.factor >= 0 && gate == cell_.candidate;
  }

  void addProducts(const Signature &signature, std::int64_t gate,
                   bool isOutput) {
    const auto height = isOutput ? shape_.out : shape_.in;
    const double work = productWork(height, shape_.out, shape_.rows());
    const auto shards = rowShards(height, work);
    for (const auto &rows : shards) {
      const bool scaled = isOutput && isScaled(gate);
      Gemm gemm({.m = rows.end - rows.begin,
                 .n = shape_.out,
                 .k = shape_.rows(),
                 .lda = seenWidth(isOutput),
                 .ldb = scaled ? shape_.out : cell_.gates * shape_.out,
                 .ldy = shape_.out,
                 .isTransposedA = true});
      const auto memory = reserveBytes(gemm.scratchBytes());
      products_.push_back({gate, isOutput, rows, std::move(gemm), memory});
      addTask(signature, 1, work / static_cast<double>(shards.size()),
              {isOutput ? 1u : 0u, 2});
      const std::size_t result = isOutput ? 4 : 3;
      const auto first = gate * height * shape_.out;
      tasks_.back().accesses.push_back(
          elementAccess(signature, result, first + rows.begin * shape_.out,
                        first + rows.end * shape_.out));
    }
  }

  void scaleCandidate(std::byte *const *operands, float *scaled) const {
    const auto H = shape_.out;
    for (std::int64_t row = 0; row < shape_.rows(); ++row) {
      selectedLoops().poolRows.multiply(
          scaled + row * H,
          dataOf<const float>(operands, 2) +
              (row * cell_.gates + cell_.candidate) * H,
          dataOf<const float>(operands, 1) +
              (row * cell_.parts + cell_.factor) * H,
          H);
    }
  }

  void multiply(const Product &product, std::byte *const *operands,
                std::byte *scratch) const {
    const auto H = shape_.out;
    const auto gate = product.gate;
    const auto *dGates = dataOf<const float>(operands, 2) + gate * H;
    const auto height = product.isOutput ? H : shape_.in;
    const float *seen = dataOf<const float>(operands, 0);
    if (product.isOutput) {
      const bool isOther = gate == cell_.candidate && cell_.candidateSaw >= 0;
      seen = dataOf<const float>(operands, 1) +
             (isOther ? cell_.candidateSaw : cell_.before) * H;
      dGates = isScaled(gate) ? floats(scratch, scaled_) : dGates;
    }
    float *weights = dataOf<float>(operands, product.isOutput ? 4 : 3);
    product.gemm.run(seen + product.rows.begin, dGates,
                     weights + (gate * height + product.rows.begin) * H,
                     scratch + product.scratch);
  }

  void sumBiases(std::byte *const *operands, std::byte *scratch) const {
    const auto H = shape_.out;
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    auto *biases = dataOf<float>(operands, 5);
    const auto *dGates = dataOf<const float>(operands, 2);
    // With two biases to a gate, the second is behind the factor.
    const std::int64_t perGate = cell_.factor >= 0 ? 2 : 1;
    std::fill_n(biases, cell_.gates * perGate * H, 0.0f);
    for (std::int64_t row = 0; row < shape_.rows(); ++row) {
      for (std::int64_t g = 0; g < cell_.gates; ++g) {
        const float *gradient = dGates + (row * cell_.gates + g) * H;
        add(biases + g * perGate * H, gradient, 1, H);
        if (perGate == 2) {
          add(biases + (g * perGate + 1) * H,
              isScaled(g) ? floats(scratch, scaled_) + row * H : gradient, 1,
              H);
        }
      }
    }
  }

  WeightCell cell_;
  RecurrentShape shape_;
  std::size_t scaled_ = 0; // offset in the scratch memory
  std::vector<Product> products_;
};

std::unique_ptr<Plan> planLstm(const Signature &signature) {
  if (!isTakenRecurrent(signature, OperandOrder::absent)) {
    return nullptr;
  }
  return std::make_unique<WeightGradPlan>(
      signature, WeightCell{lstmGates, LstmPartCount, LstmBefore});
}

std::unique_ptr<Plan> planGru(const Signature &signature) {
  if (!isTakenRecurrent(signature, OperandOrder::absent)) {
    return nullptr;
  }
  const auto candidate = gatePositions("gruWeightGrad", signature.attributes,
                                       gruGates)[GruCandidate];
  const bool resetsAfter = isGiven(signature.attributes, "resetAfter");
  return std::make_unique<WeightGradPlan>(
      signature, WeightCell{gruGates, GruPartCount, GruBefore, candidate,
                            resetsAfter ? -1 : std::int64_t{GruProduct},
                            resetsAfter ? std::int64_t{GruReset} : -1});
}

constexpr KernelEntry lstmEntries[] = {
    {"products", allPlain, planLstm},
    {"half", allPlain, planAsFloat<planLstm>}};
constexpr KernelEntry gruEntries[] = {{"products", allPlain, planGru},
                                      {"half", allPlain, planAsFloat<planGru>}};

} // namespace

std::span<const KernelEntry> lstmWeightGradKernels() {
  return lstmEntries;
}
std::span<const KernelEntry> gruWeightGradKernels() {
  return gruEntries;
}

} // namespace kernels
