#include <popops/Reduce.hpp>

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
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
  // Of BOOL tensors read as 0 and 1.
  case Operation::LOGICAL_AND:
  case Operation::MIN:
    return "MIN";
  case Operation::LOGICAL_OR:
  case Operation::MAX:
    return "MAX";
  case Operation::LOG_ADD:
    break;
  }
  throw poplibs_error("[popops::reduce] operation LOG_ADD is not implemented; "
                      "use exp, reduce with ADD and log");
}

void checkOptions(const OptionFlags &options) {
  for (const auto &[name, value] : options) {
    support::requireUser<poplar::invalid_option>(
        name == "accumType.interTile" || name == "accumType.inVertex",
        "Unrecognised option '{}'", name);
    support::requireUser<poplar::invalid_option>(
        value == "float" || value == "half",
        "Invalid value '{}' for option '{}': Not one of the values: ['float', "
        "'half']",
        value, name);
  }
}

// The reduced values before update; a new tensor.
Tensor reduceValues(Graph &graph, Tensor in, const poplar::Type &outType,
                    const std::vector<std::size_t> &dims,
                    const ReduceParams &params, Sequence &prog,
                    const DebugContext &debugContext,
                    const OptionFlags &options) {
  checkOptions(options);
  poputil::internal::requireCodelets(graph, "popops", "popops::Reduce");
  for (const auto dim : dims) {
    support::requireUser<poplibs_error>(
        dim < in.rank(), "[popops::reduce] dimension {} is not one of shape {}",
        dim, in.shapeToString());
  }
  const bool isLogical =
      params.op == Operation::LOGICAL_AND || params.op == Operation::LOGICAL_OR;
  if (isLogical) {
    in = cast(graph, in, poplar::INT, prog, {debugContext, "AsInt"});
  }
  kernels::Attributes attributes{
      {"op", kindOperation(params.op)},
      {"dims", kernels::Attributes::Ints(dims.begin(), dims.end())},
      {"scale", 1.0}};
  auto out = internal::reduce(graph, attributes, {in}, prog,
                              {debugContext, "Reduce"}, {})
                 .front();
  if (out.elementType() != outType) {
    out = cast(graph, out, outType, prog, debugContext);
  }
  if (params.useScale) {
    auto scale = params.scale.reshape({});
    if (scale.elementType() != outType) {
      scale = cast(graph, scale, outType, prog, debugContext);
    }
    mulInPlace(graph, out, scale, prog, {debugContext, "Scale"});
  }
  return out;
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
    support::requireUser<poplibs_error>(
        execute != nullptr,
        "[popops::reduce] this reduction needs a copy; use the form that "
        "takes a Sequence");
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
  return reduceValues(graph, in, outType, dims, params, prog, debugContext,
                      options);
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
  const auto values = reduceValues(graph, in, out.elementType(), dims, params,
                                   prog, debugContext, options);
  support::requireUser<poplibs_error>(
      values.numElements() == out.numElements(),
      "[popops::reduceWithOutput] the result has shape {}, the output {}",
      values.shapeToString(), out.shapeToString());
  const auto result = values.reshape(out.shape());
  bool isComplete = true;
  graph.getTileMapping(out, &isComplete);
  if (!isComplete) {
    graph.setTileMapping(out, graph.getTileMapping(result));
  }
  using namespace expr;
  if (params.update) {
    mapInPlace(graph, Add(_1, _2), {out, result}, prog,
               {debugContext, "Update"});
  } else {
    mapWithOutput(graph, _1, {result}, out, prog, {debugContext, "Output"});
  }
}

Tensor reduce(Graph &graph, const Tensor &in,
              const std::vector<std::size_t> &dims, ReduceParams params,
              std::vector<ComputeSet> &computeSets,
              const DebugContext &debugContext, const OptionFlags &options) {
  Tensor out;
  collectComputeSets(computeSets, [&](Sequence &prog) {
    out = reduce(graph, in, dims, params, prog, debugContext, options);
  });
  return out;
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
