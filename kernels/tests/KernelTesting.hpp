// A call of a kind on data of its own, for tests: runs the reference or a fast
// kernel and hands back the outputs. Fast kernels run their tasks in a shuffled
// order and are held to the accesses that they declare.
#pragma once

#include <kernels/Kind.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kernels::testing {

// An input: its type and, for views, its strides.
struct Input {
  TensorType tensor;
  Strides strides;            // empty: row-major
  std::vector<double> values; // empty: random in [-1, 1), or small integers
};

class PlanMemory;

class Call {
public:
  Call(std::string_view kind, Attributes attributes, std::vector<Input> inputs);

  // Strides of an output, in place of row-major ones.
  Call &outputStrides(std::size_t output, Strides strides);
  // The layout in which an input was made.
  Call &found(std::size_t input, Layout layout);
  // Says that an input stays from run to run.
  Call &kept(std::size_t input);

  // Each output's elements, row-major.
  using Results = std::vector<std::vector<double>>;
  Results reference() const; // computed once
  // Of the kind's kernel `entry`; `overwrites` shares storage between the
  // kind's in-place pairs.
  Results fast(std::size_t entry = 0, bool overwrites = false) const;
  bool isTaken(std::size_t entry = 0) const;
  std::size_t kernelCount() const { return kind_->kernels.size(); }
  // The kind's first kernel of that name.
  std::size_t kernelNamed(std::string_view name) const;
  // Microseconds of one run of all tasks, best of some.
  double microseconds(std::size_t entry = 0) const;

  // Kind, attributes and operands, for failures.
  std::string describe() const;

  const std::vector<TensorType> &outputTypes() const { return outputTypes_; }
  std::size_t taskCount(std::size_t entry = 0) const;

  // The inputs' elements, row-major; random ones are made by then.
  const std::vector<double> &inputValues(std::size_t input) const {
    return values_[input];
  }
  void setInput(std::size_t input, std::size_t element, double value) {
    values_[input][element] = value;
    reference_.clear();
  }

private:
  struct Storage;
  // Operands in the layouts that a kernel wants.
  struct Operands {
    std::vector<OperandSpec> inputs, outputs;
    Signature signature(const Attributes &attributes) const {
      return {attributes, inputs, outputs};
    }
  };
  struct Planned {
    Operands operands;
    std::unique_ptr<Plan> plan; // null: not taken
  };
  void makeValues();
  Planned makePlan(std::size_t entry) const;
  Storage makeStorage(const Operands &operands) const;
  static Results read(const Operands &operands, const Storage &storage);
  void runChecked(const Planned &planned,
                  const std::vector<std::uint32_t> &order, Storage &storage,
                  PlanMemory &memory) const;
  void runInPlace(const Planned &planned,
                  const std::vector<std::uint32_t> &order, Storage &storage,
                  PlanMemory &memory) const;

  const Kind *kind_;
  Attributes attributes_;
  Operands operands_; // plain
  std::vector<TensorType> outputTypes_;
  std::vector<std::vector<double>> given_;
  std::vector<std::vector<double>> values_;
  mutable Results reference_; // empty: not computed
};

// Fails the test where a fast kernel that takes the call and the reference
// differ by more than `tolerance`, relative to the larger of 1 and the
// reference.
void expectTakersMatchReference(const Call &call, double tolerance);
// Fails it, too, where no fast kernel takes the call.
void expectFastMatchesReference(const Call &call, double tolerance);

// Fails the test where gradient `grads[input]` of `loss`, a sum of the forward
// call's first output weighted by `weights`, differs from central differences.
void expectGradient(Call forward, const std::vector<double> &weights,
                    std::size_t input, const std::vector<double> &gradient,
                    double tolerance);

} // namespace kernels::testing
