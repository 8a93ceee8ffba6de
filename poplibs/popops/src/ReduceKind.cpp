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

std::vector<Tensor>
reduce(poplar::Graph &graph, const kernels::Attributes &attributes,
       const std::vector<Tensor> &inputs, poplar::program::Sequence &program,
       const poplar::DebugContext &debugContext, const poplar::OptionFlags &) {
  const auto &input = inputs.front();
  const auto tiles = poputil::internal::tilesOf(graph, input);
  const auto outputs = poputil::internal::addOutputs(
      graph, "reduce", attributes, inputs, tiles, debugContext);
  const auto elements = std::max<std::uint64_t>(1, input.numElements());
  const auto results =
      std::max<std::uint64_t>(1, outputs.front().numElements());
  const auto &view = poplar::internal::tensorView(input);
  const Reduction reduction{
      .op = attributes.getString("op"),
      .type = view.type,
      .outputType = view.type,
      .outputs = results,
      .partials = elements / results,
      .isInner = reducesInnermost(view.shape, attributes.getInts("dims"))};
  poputil::internal::emit(
      graph, program,
      {"reduce", attributes, inputs, outputs,
       planReduction(graph, "", reduction,
                     poputil::internal::sharesOf(graph, input), tiles)},
      debugContext);
  return outputs;
}

} // namespace popops::internal
