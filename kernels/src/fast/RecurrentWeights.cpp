// "lstmWeightGrad" and "gruWeightGrad" of row-major floats: a product over all
// steps and samples for each gate, cut by rows of the weights, and sums for the
// biases.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "Product.hpp"
#include "RecurrentPlan.hpp"

namespace kernels {

namespace {

// How the cells differ.
struct WeightCell {
  std::int64_t gates;
  std::size_t dGates;  // operand; results follow it
  std::int64_t dParts; // of one of its rows, which the gates begin
  std::int64_t parts;  // of a row of operand 1
  std::int64_t before; // the one that output weights saw
  // Of a GRU: its candidate's gate; the part that its weights saw where not
  // `before`; the part that multiplies its gradient (negative: none).
  std::int64_t candidate = -1;
  std::int64_t candidateSaw = -1;
  std::int64_t factor = -1;
};

// Stage 0 multiplies gradients by the factor, where there is one; stage 1 makes
// the products and sums.
class WeightGradPlan final : public RecurrentPlan {
public:
  WeightGradPlan(const Signature &signature, const WeightCell &cell)
      : cell_(cell), shape_{signature.inputs[0].shape[0],
                            signature.inputs[0].shape[1],
                            signature.inputs[0].shape[2],
                            signature.inputs[1].shape[3]} {
    if (cell.factor >= 0) {
      addScaling(signature);
    }
    for (std::int64_t g = 0; g < cell.gates; ++g) {
      addProducts(signature, g, false);
      addProducts(signature, g, true);
    }
    addTask(signature, 1,
            0.1 * static_cast<double>(shape_.rows() * cell.gates * shape_.out),
            {cell.dGates, result(2)});
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    if (task < scalings_.size()) {
      scale(scalings_[task], operands, memory.scratch);
    } else if (task + 1 == tasks_.size()) {
      sumBiases(operands, memory.scratch);
    } else {
      multiply(products_[task - scalings_.size()], operands, memory);
    }
  }

private:
  struct GateProduct {
    std::int64_t gate;
    bool isOutput; // of the output weights
    ShardRange rows;
    Product product;
  };

  bool isScaled(std::int64_t gate) const {
    return cell_.factor >= 0 && gate == cell_.candidate;
  }

  // The operand of a result: of input weights, output weights or biases.
  std::size_t result(std::size_t index) const {
    return cell_.dGates + 1 + index;
  }

  void addScaling(const Signature &signature) {
    const auto floats = shape_.rows() * shape_.out;
    scaled_ = reserve(floats);
    const double work = 0.2 * static_cast<double>(floats);
    scalings_ = rowShards(shape_.rows(), work);
    for (std::size_t i = 0; i < scalings_.size(); ++i) {
      addTask(signature, 0, work / static_cast<double>(scalings_.size()),
              {1, cell_.dGates});
    }
  }

  void addProducts(const Signature &signature, std::int64_t gate,
                   bool isOutput) {
    constexpr std::int64_t leastRows = 64; // to read the gradients for
    const auto height = isOutput ? shape_.out : shape_.in;
    const double work = productWork(height, shape_.out, shape_.rows());
    const auto count = shardCount(height / leastRows, work);
    const bool scaled = isOutput && isScaled(gate);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto rows = shardRange(height, count, i);
      const Product product(
          {.rows = rows.end - rows.begin,
           .columns = shape_.out,
           .depth = shape_.rows(),
           .aRow = 1,
           .aDepth = isOutput ? cell_.parts * shape_.out : height,
           .bDepth = scaled ? shape_.out : cell_.dParts * shape_.out,
           .bColumn = 1,
           .yRow = shape_.out,
           .yColumn = 1});
      workspaceBytes_ = std::max(workspaceBytes_, product.workspaceBytes());
      products_.push_back({gate, isOutput, rows, product});
      addTask(signature, 1, work / static_cast<double>(count),
              {isOutput ? 1u : 0u, cell_.dGates});
      const auto first = gate * height * shape_.out;
      tasks_.back().accesses.push_back(elementAccess(
          signature, result(isOutput), first + rows.begin * shape_.out,
          first + rows.end * shape_.out));
    }
  }

  void scale(ShardRange rows, std::byte *const *operands,
             std::byte *scratch) const {
    const auto H = shape_.out;
    for (auto row = rows.begin; row < rows.end; ++row) {
      const float *saved =
          dataOf<const float>(operands, 1) + row * cell_.parts * H;
      const float *dGates =
          dataOf<const float>(operands, cell_.dGates) + row * cell_.dParts * H;
      selectedLoops().poolRows.multiply(floats(scratch, scaled_) + row * H,
                                        dGates + cell_.candidate * H,
                                        saved + cell_.factor * H, H);
    }
  }

  void multiply(const GateProduct &product, std::byte *const *operands,
                Memory memory) const {
    const auto H = shape_.out;
    const auto gate = product.gate;
    const auto *dGates = dataOf<const float>(operands, cell_.dGates) + gate * H;
    const auto height = product.isOutput ? H : shape_.in;
    const float *seen = dataOf<const float>(operands, 0);
    if (product.isOutput) {
      const bool isOther = gate == cell_.candidate && cell_.candidateSaw >= 0;
      seen = dataOf<const float>(operands, 1) +
             (isOther ? cell_.candidateSaw : cell_.before) * H;
      dGates = isScaled(gate) ? floats(memory.scratch, scaled_) : dGates;
    }
    float *weights = dataOf<float>(operands, result(product.isOutput)) +
                     (gate * height + product.rows.begin) * H;
    product.product.run({seen + product.rows.begin, dGates, weights},
                        memory.workspace);
  }

  void sumBiases(std::byte *const *operands, std::byte *scratch) const {
    const auto H = shape_.out;
    auto *biases = dataOf<float>(operands, result(2));
    const auto *dGates = dataOf<const float>(operands, cell_.dGates);
    // With two biases to a gate, the second is behind the factor.
    const std::int64_t perGate = cell_.factor >= 0 ? 2 : 1;
    std::fill_n(biases, cell_.gates * perGate * H, 0.0f);
    for (std::int64_t row = 0; row < shape_.rows(); ++row) {
      for (std::int64_t g = 0; g < cell_.gates; ++g) {
        const float *gradient = dGates + (row * cell_.dParts + g) * H;
        adder()(biases + g * perGate * H, gradient, 1, H);
        if (perGate == 2) {
          adder()(biases + (g * perGate + 1) * H,
                  isScaled(g) ? floats(scratch, scaled_) + row * H : gradient,
                  1, H);
        }
      }
    }
  }

  WeightCell cell_;
  RecurrentShape shape_;
  std::size_t scaled_ = 0;           // offset in the scratch memory
  std::vector<ShardRange> scalings_; // rows
  std::vector<GateProduct> products_;
};

std::unique_ptr<Plan> planLstm(const Signature &signature) {
  if (!isTakenRecurrent(signature, OperandOrder::absent)) {
    return nullptr;
  }
  return std::make_unique<WeightGradPlan>(
      signature,
      WeightCell{lstmGates, 1, LstmPartCount, LstmPartCount, LstmBefore});
}

std::unique_ptr<Plan> planGru(const Signature &signature) {
  if (!isTakenRecurrent(signature, OperandOrder::absent)) {
    return nullptr;
  }
  const auto candidate = gatePositions("gruWeightGrad", signature.attributes,
                                       gruGates)[GruCandidate];
  const bool resetsAfter = isGiven(signature.attributes, "resetAfter");
  return std::make_unique<WeightGradPlan>(
      signature,
      WeightCell{gruGates, 2, gruGates, GruPartCount, GruBefore, candidate,
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
