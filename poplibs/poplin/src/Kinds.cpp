// Matrix products and convolutions as whole kinds.
#include <poplin/internal/Kinds.hpp>

#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/ConvPhases.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/internal/Emit.hpp>

#include <fmt/core.h>

namespace poplin::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::internal::TileRange;

namespace {

ConvProblem problemOf(DataType type, const ConvOptions &options) {
  ConvProblem problem;
  problem.inputType = problem.outputType = type;
  problem.partialsType = partialsType(options, type);
  return problem;
}

DataType typeOf(const Tensor &tensor) {
  return poplar::internal::tensorView(tensor).type;
}

Extents extents(const Attributes &attributes, std::string_view name) {
  const auto &values = attributes.getInts(name);
  return {static_cast<std::uint64_t>(values[0]),
          static_cast<std::uint64_t>(values[1])};
}

Extents fieldOf(const Tensor &tensor) {
  return {tensor.dim(2), tensor.dim(3)};
}

std::uint64_t groupsOf(const Attributes &attributes) {
  return static_cast<std::uint64_t>(attributes.getInt("groups"));
}

std::string convName(const Extents &kernel) {
  return fmt::format("Conv_{}x{}", kernel[0], kernel[1]);
}

struct Call {
  Graph &graph;
  std::string_view kind;
  const Attributes &attributes;
  const std::vector<Tensor> &inputs;
  TileRange tiles;
  std::vector<Tensor> outputs;

  Call(Graph &graph, std::string_view kind, const Attributes &attributes,
       const std::vector<Tensor> &inputs, const DebugContext &debugContext)
      : graph(graph), kind(kind), attributes(attributes), inputs(inputs),
        tiles(poputil::internal::tilesOf(graph, inputs.front())),
        outputs(poputil::internal::addOutputs(graph, kind, attributes, inputs,
                                              tiles, debugContext)) {}

  std::vector<Tensor> emit(std::vector<poplar::internal::GroupPhase> phases,
                           Sequence &program,
                           const DebugContext &debugContext) const {
    poputil::internal::emit(
        graph, program, {kind, attributes, inputs, outputs, std::move(phases)},
        debugContext);
    return outputs;
  }
};

// What the descriptor fuses after the product.
void addFusedPasses(const Call &call, unsigned channelDim,
                    std::vector<poplar::internal::GroupPhase> &phases) {
  const bool hasBias = call.attributes.getInt("bias") != 0;
  addEpilogue(call.graph, hasBias ? &call.inputs[2] : nullptr,
              call.attributes.getString("activation"), call.outputs.front(),
              channelDim, phases);
}

} // namespace

std::vector<Tensor> matMul(Graph &graph, const Attributes &attributes,
                           const std::vector<Tensor> &inputs, Sequence &program,
                           const DebugContext &debugContext,
                           const OptionFlags &flags) {
  const Call call(graph, "matmul", attributes, inputs, debugContext);
  const auto options = parseMatMulOptions(flags);
  const auto &a = inputs[0];
  const auto &b = inputs[1];
  const unsigned rank = a.rank();
  auto problem = problemOf(typeOf(a), options);
  problem.groups = rank == 3 ? a.dim(0) : 1;
  problem.inField = problem.outField = {1, a.dim(rank - 2)};
  problem.inChans = a.dim(rank - 1);
  problem.outChans = b.dim(rank - 1);
  const auto limits = planLimits(graph, call.tiles, options);
  const auto plan = cachedPlan(graph, problem, limits, true);
  ConvOperand left{a, isStrided(a)};
  ConvOperand right{b, isStrided(b)};
  if (plan.swapsOperands) {
    std::swap(left, right);
  }
  auto phases = convPhases(graph, "Conv_1x1", problem, plan, limits, call.tiles,
                           left, right);
  addFusedPasses(call, rank - 1, phases);
  return call.emit(std::move(phases), program, debugContext);
}

std::vector<Tensor> convolution(Graph &graph, const Attributes &attributes,
                                const std::vector<Tensor> &inputs,
                                Sequence &program,
                                const DebugContext &debugContext,
                                const OptionFlags &flags) {
  const Call call(graph, "convolution", attributes, inputs, debugContext);
  const auto options = parseConvOptions(flags);
  const auto &x = inputs[0];
  const auto &w = inputs[1];
  auto problem = problemOf(typeOf(x), options);
  problem.groups = groupsOf(attributes);
  problem.batch = x.dim(0);
  problem.inChans = w.dim(1);
  problem.outChans = w.dim(0) / problem.groups;
  problem.inField = fieldOf(x);
  problem.outField = fieldOf(call.outputs.front());
  problem.kernel = fieldOf(w);
  problem.kernelDilation = extents(attributes, "dilations");
  problem.stride = extents(attributes, "strides");
  const auto limits = planLimits(graph, call.tiles, options);
  const auto plan = cachedPlan(graph, problem, limits, false);
  auto phases =
      convPhases(graph, convName(problem.kernel), problem, plan, limits,
                 call.tiles, {x, isStrided(x)}, {w, isStrided(w)});
  addFusedPasses(call, 1, phases);
  return call.emit(std::move(phases), program, debugContext);
}

std::vector<Tensor> convolutionDataGrad(Graph &graph,
                                        const Attributes &attributes,
                                        const std::vector<Tensor> &inputs,
                                        Sequence &program,
                                        const DebugContext &debugContext,
                                        const OptionFlags &flags) {
  const Call call(graph, "convolutionDataGrad", attributes, inputs,
                  debugContext);
  const auto options = parseConvOptions(flags);
  const auto &dy = inputs[0];
  const auto &w = inputs[1];
  auto problem = problemOf(typeOf(dy), options);
  problem.groups = groupsOf(attributes);
  problem.batch = dy.dim(0);
  problem.inChans = w.dim(0) / problem.groups;
  problem.outChans = w.dim(1);
  problem.inField = fieldOf(dy);
  problem.outField = fieldOf(call.outputs.front());
  problem.kernel = fieldOf(w);
  problem.kernelDilation = extents(attributes, "dilations");
  problem.inputDilation = extents(attributes, "strides");
  const auto limits = planLimits(graph, call.tiles, options);
  const auto plan = cachedPlan(graph, problem, limits, false);
  // The kernel is flipped and its channels are exchanged.
  auto phases = convPhases(graph, convName(problem.kernel), problem, plan,
                           limits, call.tiles, {dy, isStrided(dy)}, {w, true});
  return call.emit(std::move(phases), program, debugContext);
}

// As the product of the unfolded inputs, [C*kh*kw, N*OH*OW], with the
// gradients, [N*OH*OW, O].
std::vector<Tensor> convolutionWeightGrad(Graph &graph,
                                          const Attributes &attributes,
                                          const std::vector<Tensor> &inputs,
                                          Sequence &program,
                                          const DebugContext &debugContext,
                                          const OptionFlags &flags) {
  const Call call(graph, "convolutionWeightGrad", attributes, inputs,
                  debugContext);
  const auto options = parseConvOptions(flags);
  const auto &dy = inputs[0];
  const auto &x = inputs[1];
  const auto kernel = extents(attributes, "kernelShape");
  auto problem = problemOf(typeOf(dy), options);
  problem.groups = groupsOf(attributes);
  problem.inChans = dy.dim(0) * dy.dim(2) * dy.dim(3);
  problem.outChans = dy.dim(1) / problem.groups;
  problem.inField =
      problem.outField = {1, x.dim(1) / problem.groups * kernel[0] * kernel[1]};
  const auto limits = planLimits(graph, call.tiles, options);
  const auto plan = cachedPlan(graph, problem, limits, true);
  ConvOperand left{x, true};
  ConvOperand right{dy, true};
  if (plan.swapsOperands) {
    std::swap(left, right);
  }
  auto phases = convPhases(graph, convName(kernel) + "/WeightDeltas", problem,
                           plan, limits, call.tiles, left, right);
  return call.emit(std::move(phases), program, debugContext);
}

} // namespace poplin::internal
