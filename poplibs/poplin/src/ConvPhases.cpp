#include <poplin/internal/ConvPhases.hpp>

#include <kernels/cost/Memory.hpp>
#include <kernels/cost/Reduction.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <poputil/Broadcast.hpp>

#include <fmt/core.h>

namespace poplin::internal {

using kernels::Expression;
using kernels::cost::ceilDiv;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poputil::internal::PhaseBuilder;
using poputil::internal::sharesOf;
using poputil::internal::supervisorVertex;
using poputil::internal::TileRange;

namespace {

std::string partialVertexName(const ConvProblem &problem,
                              const ConvPlan &plan) {
  const auto in = support::toString(problem.inputType);
  const auto partials = support::toString(problem.partialsType);
  switch (plan.grouping.method) {
  case ConvMethod::Amp1x1:
    return fmt::format("poplin::ConvPartial1x1Out<{},{},true,false>", in,
                       partials);
  case ConvMethod::AmpNx1:
    return fmt::format("poplin::ConvPartialnx1<{},{},true,false>", in,
                       partials);
  case ConvMethod::HorizontalMac:
    return fmt::format("poplin::ConvPartialHorizontalMac<{},{},true>", in,
                       partials);
  }
  return {};
}

// Spreads an operand evenly in the order that the vertices want.
void addRearranging(const poplar::Graph &graph, PhaseBuilder &phase,
                    const ConvOperand &operand, TileRange tiles) {
  const auto &view = poplar::internal::tensorView(operand.tensor);
  const auto size = support::sizeOf(view.type);
  const auto bytes =
      ceilDiv(static_cast<std::uint64_t>(view.elements()) * size, tiles.count);
  phase.exchange(sharesOf(graph, operand.tensor), size, tiles, bytes,
                 ceilDiv(bytes, size));
  // Section 7.3: 5/4 of the bytes at the width of an element.
  phase.addVertex(tiles, supervisorVertex("poplar_rt::DstStridedCopyDA32",
                                          bytes * 5 / (size * 4) + 1, 2));
}

GroupPhase convolvePhase(const poplar::Graph &graph, const std::string &name,
                         const ConvProblem &problem, const ConvPlan &plan,
                         TileRange used, const ConvOperand &input,
                         const ConvOperand &weights) {
  PhaseBuilder phase(name + "/Convolve");
  const auto &share = plan.share;
  // Inputs that both tiles of a bus take arrive at twice the rate: they count
  // half here, as the weights beside them do not.
  const auto inputBytes =
      share.isInputShared ? ceilDiv(share.inputBytesIn, 2) : share.inputBytesIn;
  phase.receive(used, inputBytes + share.weightBytesIn, 2);
  const auto size = support::sizeOf(problem.inputType);
  for (const auto *operand : {&input, &weights}) {
    for (const auto &from : sharesOf(graph, operand->tensor)) {
      phase.send(from.tiles, static_cast<std::uint64_t>(from.elements) * size);
    }
  }
  const auto receivedBytes = inputBytes + share.weightBytesIn;
  phase.addTemporary(used, plan.cost.tempBytes -
                               std::min(plan.cost.tempBytes, receivedBytes));
  if (plan.cost.unfold > 0) {
    phase.addVertex(used, supervisorVertex("poplar_rt::StridedCopyDA32",
                                           plan.cost.unfold, 2));
  }
  phase.addVertex(used, supervisorVertex(partialVertexName(problem, plan),
                                         plan.cost.compute, 4, 2 * share.macs));
  return phase.build();
}

void addReducePhases(const std::string &name, const ConvProblem &problem,
                     const ConvPlan &plan, const PlanLimits &limits,
                     TileRange used, std::vector<GroupPhase> &phases) {
  const auto depth = plan.split.inChans;
  const auto size = support::sizeOf(problem.partialsType);
  auto before = depth;
  for (const auto after : reduceStages(depth, limits.allowMultiStageReduce)) {
    if (before == 1) {
      return;
    }
    const auto outputs = ceilDiv(plan.share.partials * after, depth);
    const auto fanIn = ceilDiv(before, after);
    const auto type = after == 1 ? problem.outputType : problem.partialsType;
    PhaseBuilder phase(name + "/Reduce");
    const auto bytes = outputs * fanIn * size;
    phase.receive(used, bytes, fanIn);
    phase.send(used, bytes, fanIn);
    phase.addVertex(
        used, supervisorVertex(
                  poputil::internal::vertexName("poplin::ReduceAdd",
                                                {type, problem.partialsType}),
                  kernels::cost::convReduceAdd(
                      limits.tile, problem.partialsType, type, outputs, fanIn),
                  static_cast<std::uint32_t>(fanIn + 1), outputs * fanIn));
    phases.push_back(phase.build());
    before = after;
  }
}

} // namespace

bool isStrided(const Tensor &tensor) {
  return !tensor.isContiguous();
}

std::vector<GroupPhase>
convPhases(const poplar::Graph &graph, const std::string &name,
           const ConvProblem &problem, const ConvPlan &plan,
           const PlanLimits &limits, TileRange tiles, const ConvOperand &input,
           const ConvOperand &weights) {
  std::vector<GroupPhase> phases;
  if (input.needsRearranging || weights.needsRearranging) {
    PhaseBuilder phase(name + "/Transpose");
    for (const auto *operand : {&input, &weights}) {
      if (operand->needsRearranging) {
        addRearranging(graph, phase, *operand, tiles);
      }
    }
    phases.push_back(phase.build());
  }
  const TileRange used{tiles.first, static_cast<unsigned>(plan.split.tiles())};
  for (std::uint64_t step = 0; step < plan.split.serialOutChans; ++step) {
    phases.push_back(
        convolvePhase(graph, name, problem, plan, used, input, weights));
    addReducePhases(name, problem, plan, limits, used, phases);
  }
  return phases;
}

void addEpilogue(const poplar::Graph &graph, const Tensor *bias,
                 const std::string &activation, const Tensor &output,
                 unsigned channelDim, std::vector<GroupPhase> &phases) {
  using kernels::ElementwiseOp;
  const auto addPass = [&](const std::string &name,
                           const Expression &expression,
                           const std::vector<Tensor> &inputs) {
    phases.push_back(popops::internal::planPass(
        graph, name, inputs, output,
        popops::internal::chooseVertex(expression, inputs, output)));
  };
  if (bias != nullptr) {
    std::vector<std::size_t> shape(output.rank(), 1);
    shape[channelDim] = bias->numElements();
    auto values = bias->reshape(shape);
    poputil::broadcastToMatch(values, output.shape());
    addPass("AddBias",
            Expression::apply(ElementwiseOp::ADD,
                              {Expression::input(0), Expression::input(1)}),
            {output, values});
  }
  if (!activation.empty()) {
    const auto *op = kernels::findElementwiseOp(activation);
    addPass("NonLinearity", Expression::apply(op->op, {Expression::input(0)}),
            {output});
  }
}

} // namespace poplin::internal
