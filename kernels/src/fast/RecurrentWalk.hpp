// Plans that walk through time, of any cell and in both directions. First the
// weights are packed, unless they lie so from run to run. Products with the
// inputs are made for all steps at once, in shards of rows: forward before the
// walk, back after it. The walk is cut by samples, since they never meet.
#pragma once

#include "GateWeights.hpp"
#include "RecurrentPlan.hpp"

#include <optional>

namespace kernels {

class RecurrentWalkPlan : public RecurrentPlan {
public:
  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const final;

protected:
  static constexpr auto absent = OperandOrder::absent;

  // A call of a cell; sizes are in rows of `out` floats.
  struct Cell {
    RecurrentShape shape;
    std::int64_t gates;
    bool isBack;
    std::size_t x; // operand; back, that of its gradient, or absent
    // The operand whose rows begin with the gates, forward those that are
    // saved, back the gradients; absent: they are in scratch.
    std::size_t gateRows;
    std::int64_t parts;                             // of one of those rows
    std::size_t inputWeights, outputWeights, steps; // operands
    std::vector<std::size_t> walked; // what else a walk reads and writes
    std::int64_t perSample, perWalk; // workspace of a walk
  };
  RecurrentWalkPlan(const Signature &signature, const Cell &cell);

  // Samples through all steps.
  struct Walk {
    std::byte *const *operands;
    ShardRange samples;
    StepCounts steps;
    // [steps, batch, parts, out], gates first: forward the products with
    // inputs, to which the others are added, back the gradients.
    float *gates;
    const float *weights; // panels of the output weights
    float *workspace;

    std::int64_t count() const { return samples.end - samples.begin; }
  };
  virtual void walk(const Walk &walk) const = 0;

  std::int64_t gateUnits() const { return cell_.gates * cell_.shape.out; }
  // From one sample's gates to the next one's.
  std::int64_t gateRow() const { return cell_.parts * cell_.shape.out; }
  // Of one sample's step.
  float *gatesOf(const Walk &walk, std::int64_t t, std::int64_t i) const {
    return walk.gates +
           (t * cell_.shape.batch + walk.samples.begin + i) * gateRow();
  }
  // [samples, out] of an operand [batch, out], zeros where it is absent.
  void copyState(const Walk &walk, std::size_t operand, float *to) const;
  const GateWeights &outputWeights() const { return outputWeights_; }

private:
  enum class Work : std::uint8_t { PackInput, PackOutput, Multiply, Walk };
  struct Job {
    Work work;
    ShardRange range; // of rows or samples
  };

  bool hasInputs() const { return cell_.x != absent; }
  void addPacking(const Signature &signature);
  void addProducts(const Signature &signature, std::uint32_t stage);
  void addWalks(const Signature &signature, std::uint32_t stage);
  float *gates(std::byte *const *operands, std::byte *scratch) const;
  const float *panels(std::byte *const *operands, std::size_t weights,
                      std::byte *scratch, std::size_t packed) const;
  void multiplyInputs(ShardRange rows, std::byte *const *operands,
                      std::byte *scratch) const;

  Cell cell_;
  bool isPacked_; // the weights are given so
  GateWeights inputWeights_, outputWeights_;
  StepCounts steps_;
  std::size_t gates_ = 0, inputPanels_ = 0, outputPanels_ = 0; // in scratch
  std::vector<Job> jobs_;                                      // by task
};

// Of a call forward whose weights stay from run to run: packed once.
std::optional<std::vector<Layout>>
keptWeightsLayouts(const Signature &signature, const ForwardOperands &at);

} // namespace kernels
