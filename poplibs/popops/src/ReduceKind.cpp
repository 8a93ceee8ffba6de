// "reduce" as a whole kind.
#include <popops/internal/Kinds.hpp>
#include <popops/internal/ReducePlan.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/internal/Emit.hpp>

#include <algorithm>

namespace popops::internal {

using poplar::Tensor;

namespace {

// True when the innermost dimension is one of those that are reduced.
bool reducesInnermost(const support::Shape &shape,
                      const kernels::Attributes::Ints &dims) {
  auto d = static_cast<std::int64_t>(shape.size()) - 1;
  while (d > 0 && shape[static_cast<std::size_t>(d)] == 1) {
    --d;
  }
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

} // namespace

void reduceWithOutput(poplar::Graph &graph,
                      const kernels::Attributes &attributes,
                      const Tensor &input, const Tensor &output,
                      poplar::program::Sequence &program,
                      const poplar::DebugContext &debugContext) {
  const auto elements = std::max<std::uint64_t>(1, input.numElements());
  const auto results = std::max<std::uint64_t>(1, output.numElements());
  const auto &view = poplar::internal::tensorView(input);
  const Reduction reduction{
      .op = attributes.getString("op"),
      .type = view.type,
      .outputType = poplar::internal::tensorView(output).type,
      .outputs = results,
      .partials = std::max<std::uint64_t>(1, elements / results),
      .isInner = reducesInnermost(view.shape, attributes.getInts("dims"))};
  auto phases = planReductionOf(graph, "", reduction, input);
  poputil::internal::emit(
      graph, program,
      {"reduce", attributes, {input}, {output}, std::move(phases)},
      debugContext);
}

std::vector<Tensor>
reduce(poplar::Graph &graph, const kernels::Attributes &attributes,
       const std::vector<Tensor> &inputs, poplar::program::Sequence &program,
       const poplar::DebugContext &debugContext, const poplar::OptionFlags &) {
  const auto outputs = poputil::internal::addOutputs(
      graph, "reduce", attributes, inputs,
      poputil::internal::tilesOf(graph, inputs.front()), debugContext);
  reduceWithOutput(graph, attributes, inputs.front(), outputs.front(), program,
                   debugContext);
  return outputs;
}

} // namespace popops::internal
