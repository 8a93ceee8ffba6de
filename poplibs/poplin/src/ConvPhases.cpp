#include <poplin/internal/ConvPhases.hpp>

#include "ConvCandidate.hpp"

#include <kernels/cost/Memory.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <poputil/Broadcast.hpp>
#include <poputil/TileMapping.hpp>

#include <fmt/core.h>

namespace poplin::internal {

using kernels::Expression;
using kernels::cost::ceilDiv;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poputil::internal::distinctSharesOf;
using poputil::internal::PhaseBuilder;
using poputil::internal::supervisorVertex;
using poputil::internal::TileRange;
using poputil::internal::TileShare;
using poputil::internal::vertexName;

namespace {

// Vertices are templates of types and of whether worklists fit 16 bits, and of
// the number of units or channels.
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
  case ConvMethod::Slic:
    return fmt::format("poplin::ConvPartial1xNSLIC<{},{},{}>", in, partials,
                       plan.grouping.convGroupsPerGroup);
  case ConvMethod::HorizontalMac:
    return fmt::format("poplin::ConvPartialHorizontalMac<{},{},true>", in,
                       partials);
  case ConvMethod::VerticalMac:
    return fmt::format("poplin::ConvPartialVerticalMac<{},{},true,{}>", in,
                       partials, plan.grouping.convGroupsPerGroup);
  case ConvMethod::OuterProduct:
    return fmt::format("poplin::OuterProduct<{}>", in);
  }
  return {};
}

// The length of a view's rows in memory, along whichever dimensions they run.
std::uint64_t rowLength(const poplar::internal::TensorView &view) {
  std::int64_t shortest = std::max<std::int64_t>(view.elements(), 1);
  for (const auto &piece : view.pieces) {
    std::int64_t row = 1;
    for (auto d = piece.extents.size(); d-- > 0;) {
      row *= piece.strides[d] == row ? piece.extents[d] : 1;
    }
    shortest = std::min(shortest, row);
  }
  return static_cast<std::uint64_t>(shortest);
}

// What the phases of one operation are built from.
struct Emitter {
  const poplar::Graph &graph;
  const std::string &name;
  const ConvProblem &problem;
  const ConvPlan &plan;
  const PlanLimits &limits;
  TileRange tiles; // of the IPU
  TileRange used;  // by the plan
  std::vector<GroupPhase> phases = {};

  // A phase of one vertex on every tile of the plan, if it takes any time.
  void addVertex(const std::string &stage, std::string type,
                 std::uint64_t cycles, std::uint32_t edges) {
    if (cycles == 0) {
      return;
    }
    PhaseBuilder phase(name + stage);
    phase.addVertex(used, supervisorVertex(std::move(type), cycles, edges));
    phases.push_back(phase.build());
  }

  void addTransforms(const ConvOperand &input, const ConvOperand &weights);
  void addBroadcast(const ConvOperand &input);
  void addConvolve(const ConvOperand &input, const ConvOperand &weights);
  void addReduce();

private:
  void rearrange(PhaseBuilder &phase, const ConvOperand &operand,
                 std::uint64_t channelsPerGroup, std::uint64_t steps) const;
  void receive(PhaseBuilder &phase, const ConvOperand &operand,
               std::uint64_t needed, std::uint64_t fetched,
               bool isShared) const;
};

// Spreads the part of an operand that a serial step takes evenly, in the order
// that the vertices want. A tile's share is a block as deep as the group of
// channels that a vertex reads at once: it arrives in runs as they lie in
// memory, one for each channel, and a copy on the tile puts it in order.
void Emitter::rearrange(PhaseBuilder &phase, const ConvOperand &operand,
                        std::uint64_t channelsPerGroup,
                        std::uint64_t steps) const {
  const auto &view = poplar::internal::tensorView(operand.tensor);
  const auto size = support::sizeOf(view.type);
  const auto elements =
      ceilDiv(static_cast<std::uint64_t>(view.elements()), steps * tiles.count);
  const auto run = std::clamp<std::uint64_t>(elements / channelsPerGroup, 1,
                                             rowLength(view));
  auto from = distinctSharesOf(graph, operand.tensor);
  for (TileShare &share : from) {
    share.elements = static_cast<std::int64_t>(
        ceilDiv(static_cast<std::uint64_t>(share.elements), steps));
  }
  phase.exchange(from, size, tiles, elements * size, ceilDiv(elements, run));
  // Section 7.3: 5/4 of the bytes at the width of an element.
  phase.addVertex(tiles, supervisorVertex("poplar_rt::DstStridedCopyDA32",
                                          elements * 5 / 4 + 1, 2));
}

void Emitter::addTransforms(const ConvOperand &input,
                            const ConvOperand &weights) {
  const auto &cost = plan.cost;
  PhaseBuilder phase(name + "/Transpose");
  if (cost.transformCopy > 0) {
    const auto bytes = cost.transformExchange * 4;
    phase.receive(used, bytes, 2);
    phase.send(used, bytes, 2);
    phase.addTemporary(used, 2 * cost.transformBytes -
                                 std::min(2 * cost.transformBytes, bytes));
    phase.addVertex(used, supervisorVertex("poplar_rt::DstStridedCopyDA32",
                                           cost.transformCopy, 2));
  } else if (input.needsRearranging || weights.needsRearranging) {
    if (input.needsRearranging) {
      rearrange(phase, input, plan.grouping.inChansPerGroup,
                plan.split.serialInChans);
    }
    if (weights.needsRearranging) {
      rearrange(phase, weights, plan.grouping.outChansPerGroup,
                plan.split.steps());
    }
  } else {
    return;
  }
  phases.push_back(phase.build());
}

// Tiles that hold a part of the operand fetch the rest of what they need; those
// that hold nothing of it fetch everything. What is there needs no buffer, if
// it was not made for this step.
void Emitter::receive(PhaseBuilder &phase, const ConvOperand &operand,
                      std::uint64_t needed, std::uint64_t fetched,
                      bool isShared) const {
  const bool isAtHome =
      !operand.needsRearranging && plan.cost.transformCopy == 0;
  const auto take = [&](unsigned first, unsigned end, std::uint64_t bytes) {
    // Twice the rate counts as half the bytes: what lies beside them in the
    // same exchange is not shared.
    const auto onBus = isShared ? ceilDiv(bytes, 2) : bytes;
    phase.receive({first, end - first}, onBus);
    phase.addTemporary({first, end - first},
                       (isAtHome ? bytes : needed) - onBus);
  };
  const auto size = support::sizeOf(problem.inputType);
  unsigned next = used.first;
  for (const TileShare &from : distinctSharesOf(graph, operand.tensor)) {
    phase.send(from.tiles, static_cast<std::uint64_t>(from.elements) * size);
    const auto first = std::clamp(from.tiles.first, next, used.end());
    const auto end = std::clamp(from.tiles.end(), first, used.end());
    if (next < first) {
      take(next, first, needed);
    }
    if (first < end) {
      take(first, end, fetched);
    }
    next = std::max(next, end);
  }
  if (next < used.end()) {
    take(next, used.end(), needed);
  }
}

// Every step reads the same inputs: they are brought once.
void Emitter::addBroadcast(const ConvOperand &input) {
  if (plan.cost.broadcastInput == 0) {
    return;
  }
  const auto &share = plan.share;
  PhaseBuilder phase(name + "/BroadcastInput");
  receive(phase, input, share.inputBytes, share.inputBytesIn,
          share.isInputShared);
  phase.addVertex(used, supervisorVertex("poplar_rt::Memcpy64Bit",
                                         ceilDiv(share.inputBytes, 8), 2));
  phases.push_back(phase.build());
}

void Emitter::addConvolve(const ConvOperand &input,
                          const ConvOperand &weights) {
  PhaseBuilder phase(name + "/Convolve");
  const auto &share = plan.share;
  std::uint64_t operands = share.weightBytes;
  if (plan.cost.broadcastInput == 0) {
    receive(phase, input, share.inputBytes, share.inputBytesIn,
            share.isInputShared);
    operands += share.inputBytes;
  }
  receive(phase, weights, share.weightBytes, share.weightBytesIn, false);
  phase.addTemporary(used, plan.cost.tempBytes -
                               std::min(plan.cost.tempBytes, operands));
  phase.addVertex(used, supervisorVertex(partialVertexName(problem, plan),
                                         plan.cost.compute, 4, 2 * share.macs));
  phases.push_back(phase.build());
}

void Emitter::addReduce() {
  auto inStep = problem;
  if (plan.split.serialInChans > 1) {
    inStep.outputType = problem.partialsType;
  }
  for (const auto &stage :
       reduceStages(inStep, limits, plan.share.partials, plan.split.depth())) {
    PhaseBuilder phase(name + (stage.fanIn == 1 ? "/Cast" : "/Reduce"));
    phase.receive(used, stage.exchangedBytes, stage.fanIn);
    phase.send(used, stage.exchangedBytes, stage.fanIn);
    const bool isCast = stage.fanIn == 1;
    const auto edges = stage.isSingleInput || isCast ? 2 : stage.fanIn + 1;
    phase.addVertex(used,
                    supervisorVertex(
                        isCast ? vertexName("popops::Cast1D",
                                            {problem.partialsType, stage.type})
                               : vertexName(stage.isSingleInput
                                                ? "poplin::ReduceAddSingleInput"
                                                : "poplin::ReduceAdd",
                                            {stage.type, problem.partialsType}),
                        stage.cycles, static_cast<std::uint32_t>(edges),
                        isCast ? 0 : stage.outputs * stage.fanIn));
    phases.push_back(phase.build());
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
  Emitter emitter{graph,
                  name,
                  problem,
                  plan,
                  limits,
                  tiles,
                  {tiles.first, static_cast<unsigned>(plan.split.tiles())}};
  const auto &cost = plan.cost;
  const auto type = problem.inputType;
  emitter.addVertex("/RearrangeBeforeSlice", "poplar_rt::DstStridedCopyDA32",
                    cost.rearrangeBeforeSlice, 2);
  emitter.addBroadcast(input);
  for (std::uint64_t step = 0; step < plan.split.steps(); ++step) {
    emitter.addVertex("/Slice", vertexName("popops::DynamicSlice1D", {type}),
                      cost.dynamicSlice, 2);
    emitter.addTransforms(input, weights);
    emitter.addConvolve(input, weights);
    emitter.addReduce();
    emitter.addVertex(
        "/Update",
        vertexName("popops::DynamicUpdateSlice1D", {problem.outputType}),
        cost.dynamicUpdate, 2);
    emitter.addVertex(
        "/AddInPlace",
        fmt::format("popops::BinaryOp1DInPlace<popops::expr::BinaryOpType::"
                    "ADD,{}>",
                    support::toString(problem.partialsType)),
        cost.addInPlace, 2);
  }
  emitter.addVertex(
      "/Cast",
      vertexName("popops::Cast1D", {problem.partialsType, problem.outputType}),
      cost.outputCast, 2);
  return std::move(emitter.phases);
}

void mapOperand(poplar::Graph &graph, const Tensor &tensor,
                const ConvProblem &problem, const ConvOptions &options,
                bool isMatMul) {
  if (tensor.numElements() == 0 || problem.macs() == 0) {
    poputil::mapTensorLinearly(graph, tensor);
    return;
  }
  const TileRange tiles{0, graph.getTarget().getTilesPerIPU()};
  const auto limits = planLimits(graph, tiles, options);
  const auto plan = cachedPlan(graph, problem, limits, isMatMul);
  const auto grain =
      vectorWidth(limits.tile, poplar::internal::tensorView(tensor).type);
  poplar::internal::setLinearMapping(
      graph, tensor,
      poputil::internal::linearPiece(
          static_cast<std::int64_t>(tensor.numElements()), 0,
          static_cast<std::int64_t>(grain),
          {0, static_cast<unsigned>(plan.split.tiles())}));
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
