#include <poplin/MeshGrid.hpp>

#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace poplin {

using poplar::Tensor;
using poputil::poplibs_error;
using support::requireUser;

Tensor linspace(poplar::Graph &graph, const poplar::Type &type, float left,
                float right, std::size_t count,
                const poplar::DebugContext &debugContext) {
  requireUser<poplibs_error>(
      type == poplar::FLOAT || type == poplar::HALF,
      "[poplin::linspace] the type is {}; it must be float or half",
      type.toString().cloneAsString());
  std::vector<float> values(count);
  // From the nearer end, so that both ends are exact.
  const double steps = count > 1 ? static_cast<double>(count - 1) : 1;
  const double step = (double{right} - double{left}) / steps;
  for (std::size_t i = 0; i < count; ++i) {
    const bool isNearLeft = i < (count + 1) / 2;
    values[i] = static_cast<float>(
        isNearLeft ? left + step * static_cast<double>(i)
                   : right - step * static_cast<double>(count - 1 - i));
  }
  const auto tensor =
      graph.addConstant(type, {count}, poplar::ArrayRef<float>(values),
                        {debugContext, "linspace"});
  poputil::mapTensorLinearly(graph, tensor);
  return tensor;
}

std::vector<Tensor> meshgrid2d(poplar::Graph &, Tensor x, Tensor y) {
  requireUser<poplibs_error>(
      x.rank() == 1 && y.rank() == 1,
      "[poplin::meshgrid2d] the vectors have shapes {} and {}; their rank must "
      "be 1",
      x.shapeToString(), y.shapeToString());
  const auto rows = static_cast<unsigned>(y.dim(0));
  const auto columns = static_cast<unsigned>(x.dim(0));
  return {x.expand({0}).broadcast(rows, 0),
          y.expand({1}).broadcast(columns, 1)};
}

} // namespace poplin
