#include <popops/Reduce.hpp>

#include "Options.hpp"

#include <popops/internal/Kinds.hpp>

#include <kernels/Expression.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::ComputeSet;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

std::string kindOperation(Operation op) {
  switch (op) {
  case Operation::ADD:
    return "ADD";
  case Operation::SQUARE_ADD:
    return "SQUARE_ADD";
  case Operation::MUL:
    return "MUL";
  case Operation::MIN:
    return "MIN";
  case Operation::MAX:
    return "MAX";
  case Operation::LOGICAL_AND:
    return "LOGICAL_AND";
  case Operation::LOGICAL_OR:
    return "LOGICAL_OR";
  case Operation::LOG_ADD:
    return "LOG_ADD";
  }
  throw poplibs_error("[popops::reduce] unknown operation");
}

constexpr internal::OptionRule optionRules[] = {
    {"accumType.interTile", internal::OptionRule::Kind::PartialsType},
    {"accumType.inVertex", internal::OptionRule::Kind::PartialsType},
};

bool isFloating(const poplar::Type &type) {
  return type == poplar::FLOAT || type == poplar::HALF;
}

void checkCall(const Graph &graph, const Tensor &in,
               const std::vector<std::size_t> &dims, const ReduceParams &params,
               const OptionFlags &options) {
  internal::checkOptions(options, optionRules);
  poputil::internal::requireCodelets(graph, "popops", "popops::Reduce");
  for (const auto dim : dims) {
    support::requireUser<poplibs_error>(
        dim < in.rank(), "[popops::reduce] dimension {} is not one of shape {}",
        dim, in.shapeToString());
  }
  const bool isSum =
      params.op == Operation::ADD || params.op == Operation::SQUARE_ADD;
  support::requireUser<poplibs_error>(
      isSum || (!params.update && !params.useScale),
      "[popops::reduce] {} with a scale or an update; only ADD and SQUARE_ADD "
      "may have them",
      kindOperation(params.op));
  support::requireUser<poplibs_error>(
      !params.useScale ||
          (isFloating(in.elementType()) && params.scale.numElements() == 1 &&
           params.scale.elementType() == poplar::FLOAT),
      "[popops::reduce] the scale must be one FLOAT and the input FLOAT or "
      "HALF");
}

kernels::Attributes attributesOf(const std::vector<std::size_t> &dims,
                                 Operation op, const poplar::Type &outType) {
  return {{"op", kindOperation(op)},
          {"dims", kernels::Attributes::Ints(dims.begin(), dims.end())},
          {"scale", 1.0},
          {"outType",
           static_cast<std::int64_t>(poplar::internal::toDataType(outType))}};
}

// out = scale * reduce(in), plus what it holds if `update`: in the type of the
// sums, rounded once.
void finish(Graph &graph, const Tensor &sums, const Tensor &out,
            const ReduceParams &params, Sequence &prog,
            const DebugContext &debugContext) {
  using kernels::ElementwiseOp;
  using kernels::Expression;
  const auto type = poplar::internal::toDataType(sums.elementType());
  const auto outType = poplar::internal::toDataType(out.elementType());
  std::vector<Tensor> inputs{sums};
  const auto add = [&](const Tensor &tensor) {
    inputs.push_back(tensor);
    auto input = Expression::input(static_cast<unsigned>(inputs.size() - 1));
    return poplar::internal::toDataType(tensor.elementType()) == type
               ? input
               : Expression::cast(type, std::move(input));
  };
  auto value = Expression::input(0);
  if (params.useScale) {
    value = Expression::apply(ElementwiseOp::MULTIPLY,
                              {value, add(params.scale.reshape({}))});
  }
  if (params.update) {
    value = Expression::apply(ElementwiseOp::ADD, {add(out), value});
  }
  if (type != outType) {
    value = Expression::cast(outType, std::move(value));
  }
  internal::elementwiseWithOutput(graph, value, inputs, out, prog,
                                  {debugContext, "ReduceFinish"});
}

// Reduces into `out`, which has the shape that is left.
void reduceInto(Graph &graph, const Tensor &in, const Tensor &out,
                const std::vector<std::size_t> &dims,
                const ReduceParams &params, Sequence &prog,
                const DebugContext &debugContext) {
  const DebugContext context(debugContext, "Reduce");
  if (!params.update && !params.useScale) {
    internal::reduceWithOutput(graph,
                               attributesOf(dims, params.op, out.elementType()),
                               in, out, prog, context);
    return;
  }
  const auto sumType =
      isFloating(in.elementType()) ? poplar::FLOAT : in.elementType();
  const auto sums =
      internal::reduce(graph, attributesOf(dims, params.op, sumType), {in},
                       prog, context, {})
          .front();
  finish(graph, sums, out, params, prog, debugContext);
}

// Runs `build` and hands out the compute sets that it executed.
template <typename Build>
void collectComputeSets(std::vector<ComputeSet> &computeSets, Build &&build) {
  Sequence prog;
  build(prog);
  const auto &node = *poplar::internal::programNode(prog);
  const auto &steps = std::get<poplar::internal::SequenceNode>(node.op);
  for (const auto &step : steps.children) {
    const auto *execute = std::get_if<poplar::internal::ExecuteNode>(&step->op);
    support::requireInternal(execute != nullptr,
                             "a reduction does not only execute vertices");
    computeSets.emplace_back(
        static_cast<unsigned>(execute->computeSet.index()));
  }
}

} // namespace

Tensor reduce(Graph &graph, const Tensor &in, const poplar::Type &outType,
              const std::vector<std::size_t> &dims, ReduceParams params,
              Sequence &prog, const DebugContext &debugContext,
              const OptionFlags &options) {
  support::requireUser<poplibs_error>(
      !params.update, "Cannot do an update using reduce(); call "
                      "reduceWithOutput() instead.");
  checkCall(graph, in, dims, params, options);
  const auto out =
      poputil::internal::addOutputs(
          graph, "reduce", attributesOf(dims, params.op, outType), {in},
          poputil::internal::tilesOf(graph, in), {debugContext, "Reduce"})
          .front();
  reduceInto(graph, in, out, dims, params, prog, debugContext);
  return out;
}

Tensor reduce(Graph &graph, const Tensor &in,
              const std::vector<std::size_t> &dims, ReduceParams params,
              Sequence &prog, const DebugContext &debugContext,
              const OptionFlags &options) {
  return reduce(graph, in, in.elementType(), dims, params, prog, debugContext,
                options);
}

void reduceWithOutput(Graph &graph, const Tensor &in, const Tensor &out,
                      const std::vector<std::size_t> &dims, ReduceParams params,
                      Sequence &prog, const DebugContext &debugContext,
                      const OptionFlags &options) {
  checkCall(graph, in, dims, params, options);
  const auto type =
      poputil::internal::inferOutputs(
          "reduce", attributesOf(dims, params.op, out.elementType()), {in})
          .front();
  const std::vector<std::size_t> shape(type.shape.begin(), type.shape.end());
  support::requireUser<poplibs_error>(
      static_cast<std::size_t>(support::elementCount(type.shape)) ==
          out.numElements(),
      "[popops::reduceWithOutput] the result has shape {}, the output {}",
      support::toString(type.shape), out.shapeToString());
  bool isComplete = true;
  graph.getTileMapping(out, &isComplete);
  if (!isComplete) {
    poputil::mapTensorLinearly(graph, out);
  }
  reduceInto(graph, in, out.reshape(shape), dims, params, prog, debugContext);
}

Tensor reduce(Graph &graph, const Tensor &in, const poplar::Type &outType,
              const std::vector<std::size_t> &dims, ReduceParams params,
              std::vector<ComputeSet> &computeSets,
              const DebugContext &debugContext, const OptionFlags &options) {
  Tensor out;
  collectComputeSets(computeSets, [&](Sequence &prog) {
    out = reduce(graph, in, outType, dims, params, prog, debugContext, options);
  });
  return out;
}

Tensor reduce(Graph &graph, const Tensor &in,
              const std::vector<std::size_t> &dims, ReduceParams params,
              std::vector<ComputeSet> &computeSets,
              const DebugContext &debugContext, const OptionFlags &options) {
  return reduce(graph, in, in.elementType(), dims, params, computeSets,
                debugContext, options);
}

void reduceWithOutput(Graph &graph, const Tensor &in, const Tensor &out,
                      const std::vector<std::size_t> &dims, ReduceParams params,
                      std::vector<ComputeSet> &computeSets,
                      const DebugContext &debugContext,
                      const OptionFlags &options) {
  collectComputeSets(computeSets, [&](Sequence &prog) {
    reduceWithOutput(graph, in, out, dims, params, prog, debugContext, options);
  });
}

void reduceMany(Graph &graph, const std::vector<SingleReduceOp> &reductions,
                std::vector<Tensor> &outputs, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options) {
  outputs.resize(reductions.size());
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    const auto &op = reductions[i];
    const DebugContext context(debugContext, op.debugName);
    if (outputs[i].valid()) {
      reduceWithOutput(graph, op.in, outputs[i], op.dims, op.params, prog,
                       context, options);
    } else {
      outputs[i] =
          reduce(graph, op.in, op.useOutType ? op.outType : op.in.elementType(),
                 op.dims, op.params, prog, context, options);
    }
  }
}

} // namespace popops
