// Which of the values that a loop carries stay in a layout from iteration to
// iteration: weights that convolutions want so, and what updates them with
// gradients that are made so.
#pragma once

#include "compiler/ValueIr.hpp"

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace poplar::compiler {

// Whether a node of this kind works on each element by itself, so that it runs
// over operands of the result's shape in any layout; others are scalars or
// broadcast.
bool isElementwise(const kernels::Kind &kind);

class CarriedLayouts {
public:
  // The layout that a node's kernel wants of an operand, inputs first.
  using Wanted =
      std::function<kernels::Layout(const Node &node, std::size_t operand)>;
  CarriedLayouts(const ValueProgram &program, Wanted wanted)
      : program_(program), wanted_(std::move(wanted)) {}

  // For each value that the loop carries.
  std::vector<kernels::Layout> of(const Node &loop);

private:
  // What is known of the values of one body. An argument that only
  // element-wise nodes read takes the layout of what it meets.
  struct Body {
    std::unordered_map<ValueId, kernels::Layout> arguments;
    std::unordered_set<ValueId> adaptable;
    std::unordered_map<ValueId, std::pair<const Node *, std::size_t>> makers;
  };

  void collect(const Region &region, Body &body) const;
  void addReads(const Region &region, Body &body,
                std::unordered_set<ValueId> &plain) const;
  kernels::Layout layoutOf(const Body &body, ValueId value) const;

  const ValueProgram &program_;
  Wanted wanted_;
};

} // namespace poplar::compiler
