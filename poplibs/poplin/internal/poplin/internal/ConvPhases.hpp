// The supersteps of a planned convolution or matrix product.
#pragma once

#include <poplin/internal/ConvOptions.hpp>
#include <poputil/internal/Phases.hpp>

#include <string>
#include <vector>

namespace poplin::internal {

// One operand of the product as it lies before.
struct ConvOperand {
  poplar::Tensor tensor;
  // It must be rearranged before the exchange: its view is strided, or its
  // dimensions change their meaning (weight updates).
  bool needsRearranging = false;
};

// Phases "<name>/Transpose" where an operand is rearranged,
// "<name>/Convolve" and "<name>/Reduce"; in serial steps also "/Slice",
// "/Update", "/AddInPlace" and what comes once, before or after them.
std::vector<poplar::internal::GroupPhase>
convPhases(const poplar::Graph &graph, const std::string &name,
           const ConvProblem &problem, const ConvPlan &plan,
           const PlanLimits &limits, poputil::internal::TileRange tiles,
           const ConvOperand &input, const ConvOperand &weights);

// Plans a problem that creators know beforehand and spreads the variable over
// the tiles that the plan uses, so that each finds a part of what it needs at
// home. Problems without work have no plan: the variable is mapped linearly.
void mapOperand(poplar::Graph &graph, const poplar::Tensor &tensor,
                const ConvProblem &problem, const ConvOptions &options,
                bool isMatMul);

// Phases that add a bias to `output` and apply an activation, where given. The
// bias runs along dimension `channelDim`.
void addEpilogue(const poplar::Graph &graph, const poplar::Tensor *bias,
                 const std::string &activation, const poplar::Tensor &output,
                 unsigned channelDim,
                 std::vector<poplar::internal::GroupPhase> &phases);

// True when a tensor's elements are not one run of a variable.
bool isStrided(const poplar::Tensor &tensor);

} // namespace poplin::internal
