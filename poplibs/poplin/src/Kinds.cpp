// Matrix products and convolutions as whole kinds.
#include <poplin/internal/Kinds.hpp>

#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/ConvPhases.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/internal/Emit.hpp>

#include <fmt/ranges.h>

namespace poplin::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::internal::TileRange;

namespace {

DataType typeOf(const Tensor &tensor) {
  return poplar::internal::tensorView(tensor).type;
}

Extents extents(const Attributes &attributes, std::string_view name) {
  return foldedField(attributes.getInts(name));
}

Extents fieldOf(const Tensor &tensor) {
  const auto shape = tensor.shape();
  return foldedField(std::vector(shape.begin() + 2, shape.end()));
}

std::uint64_t groupsOf(const Attributes &attributes) {
  return static_cast<std::uint64_t>(attributes.getInt("groups"));
}

// "Conv_3x3", from the extents of the kernel.
template <typename Values> std::string convName(const Values &kernel) {
  return fmt::format("Conv_{}", fmt::join(kernel, "x"));
}

std::string convName(const Tensor &weights) {
  const auto shape = weights.shape();
  return convName(std::vector(shape.begin() + 2, shape.end()));
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

ConvProblem problemOf(const Call &call, const ConvOptions &options) {
  ConvProblem problem;
  problem.inputType = typeOf(call.inputs.front());
  problem.outputType = typeOf(call.outputs.front());
  problem.partialsType = partialsType(options, problem.outputType);
  return problem;
}

// The phases of a product as planned. There are none where an operand is
// empty: a sum of nothing is zero.
std::vector<poplar::internal::GroupPhase>
plannedPhases(const Call &call, const std::string &name,
              const ConvProblem &problem, const ConvOptions &options,
              bool isMatMul, ConvOperand left, ConvOperand right) {
  if (left.tensor.numElements() == 0 || right.tensor.numElements() == 0) {
    return {};
  }
  const auto limits = planLimits(call.graph, call.tiles, options);
  const auto plan = cachedPlan(call.graph, problem, limits, isMatMul);
  if (plan.swapsOperands) {
    std::swap(left, right);
  }
  return convPhases(call.graph, name, problem, plan, limits, call.tiles, left,
                    right);
}

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
  auto problem = problemOf(call, options);
  problem.groups = rank == 3 ? a.dim(0) : 1;
  problem.inField = problem.outField = {1, a.dim(rank - 2)};
  problem.inChans = a.dim(rank - 1);
  problem.outChans = b.dim(rank - 1);
  auto phases = plannedPhases(call, "Conv_1x1", problem, options, true,
                              {a, isStrided(a)}, {b, isStrided(b)});
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
  auto problem = problemOf(call, options);
  problem.groups = groupsOf(attributes);
  problem.batch = x.dim(0);
  problem.inChans = w.dim(1);
  problem.outChans = w.dim(0) / problem.groups;
  problem.inField = fieldOf(x);
  problem.outField = fieldOf(call.outputs.front());
  problem.kernel = fieldOf(w);
  problem.kernelDilation = extents(attributes, "dilations");
  problem.stride = extents(attributes, "strides");
  auto phases = plannedPhases(call, convName(w), problem, options, false,
                              {x, isStrided(x)}, {w, isStrided(w)});
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
  auto problem = problemOf(call, options);
  problem.groups = groupsOf(attributes);
  problem.batch = dy.dim(0);
  problem.inChans = w.dim(0) / problem.groups;
  problem.outChans = w.dim(1);
  problem.inField = fieldOf(dy);
  problem.outField = fieldOf(call.outputs.front());
  problem.kernel = fieldOf(w);
  problem.kernelDilation = extents(attributes, "dilations");
  problem.inputDilation = extents(attributes, "strides");
  // The kernel is flipped and its channels are exchanged.
  auto phases = plannedPhases(call, convName(w), problem, options, false,
                              {dy, isStrided(dy)}, {w, true});
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
  const auto &kernel = attributes.getInts("kernelShape");
  auto problem = problemOf(call, options);
  problem.groups = groupsOf(attributes);
  problem.inChans = dy.dim(1) == 0 ? 0 : dy.numElements() / dy.dim(1);
  problem.outChans = dy.dim(1) / problem.groups;
  problem.inField = problem.outField = {
      1, x.dim(1) / problem.groups *
             static_cast<std::uint64_t>(support::elementCount(kernel))};
  auto phases = plannedPhases(call, convName(kernel) + "/WeightDeltas", problem,
                              options, true, {x, true}, {dy, true});
  return call.emit(std::move(phases), program, debugContext);
}

} // namespace poplin::internal
