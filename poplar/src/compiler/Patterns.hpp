// What passes recognise in single nodes.
#pragma once

#include "compiler/ValueIr.hpp"

#include <kernels/Expression.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace poplar::compiler {

bool isKind(const Node &node, std::string_view name);

// The node's kind has a fused activation, and it is on.
bool hasActivation(const Node &node);

// The operator of an element-wise node that applies just one, to its inputs in
// order.
std::optional<kernels::ElementwiseOp> soleOperator(const Node &node);

// The inputs of an element-wise node that computes g * step(y): the gradient
// that comes in and the RELU's result.
struct ReluGradient {
  std::size_t gradient;
  std::size_t result;
};
std::optional<ReluGradient> reluGradientOperands(const Node &node);

// The node makes new values of nothing but `known` ones.
bool followsFrom(const Node &node, const std::unordered_set<ValueId> &known);

} // namespace poplar::compiler
