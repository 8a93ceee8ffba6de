#include <popnn/SpatialSoftMax.hpp>

#include <popnn/NonLinearity.hpp>

#include <poplin/MatMul.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popnn {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

// The row and the column of each element of a field, {H * W, 2}.
Tensor coordinates(Graph &graph, const poplar::Type &type, std::size_t height,
                   std::size_t width, const DebugContext &debugContext) {
  const auto at = [](std::size_t i, std::size_t count) {
    return count < 2
               ? -1.0F
               : 2.0F * static_cast<float>(i) / static_cast<float>(count - 1) -
                     1.0F;
  };
  std::vector<float> values;
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      values.insert(values.end(), {at(row, height), at(column, width)});
    }
  }
  const Tensor result = graph.addConstant(type, {height * width, 2},
                                          poplar::ArrayRef<float>(values),
                                          {debugContext, "coordinates"});
  poputil::mapTensorLinearly(graph, result);
  return result;
}

} // namespace

std::pair<Tensor, Tensor> spatialSoftMax2D(Graph &graph, Sequence &prog,
                                           const Tensor &fields,
                                           float temperature,
                                           bool disableSoftmax,
                                           const DebugContext &debugContext) {
  support::requireUser<poputil::poplibs_error>(
      fields.rank() == 3,
      "[popnn::spatialSoftMax2D] fields of shape {}; they must be fields, rows "
      "and columns",
      fields.shapeToString());
  const DebugContext context(debugContext, "spatialSoftMax2D");
  const poplar::Type type = fields.elementType();
  const Tensor scale = graph.addVariable(type, {1}, {context, "temperature"});
  poputil::mapTensorLinearly(graph, scale);
  graph.setInitialValue(scale, temperature);
  Tensor weights = fields.flatten(1, 3);
  if (!disableSoftmax) {
    weights = popops::div(graph, weights, scale, prog, context);
    weights = nonLinearity(graph, NonLinearityType::SOFTMAX_STABLE, weights,
                           prog, context);
  }
  const Tensor expected = poplin::matMul(
      graph, weights,
      coordinates(graph, type, fields.dim(1), fields.dim(2), context), prog,
      context);
  return {expected, scale};
}

} // namespace popnn
