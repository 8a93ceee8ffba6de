#include <popops/NormaliseImage.hpp>

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>

#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

constexpr std::size_t channels = 3;

void checkShape(std::string_view function,
                const std::vector<std::size_t> &shape) {
  requireUser<poplibs_error>(
      !shape.empty() && shape.back() == channels,
      "[popops::{}] the image has shape {{{}}}; its innermost dimension must "
      "be 3 channels",
      function, fmt::join(shape, ","));
}

} // namespace

Tensor createNormaliseImageInput(Graph &graph, const poplar::Type &type,
                                 const std::vector<std::size_t> &shape,
                                 const DebugContext &debugContext) {
  checkShape("createNormaliseImageInput", shape);
  const auto image = graph.addVariable(type, shape, {debugContext, "image"});
  poputil::mapTensorLinearly(graph, image, 4 * channels, channels);
  return image;
}

Tensor normaliseImage(Graph &graph, Tensor tIn, float inScale, Tensor inOffsets,
                      Tensor inScales, Sequence &prog,
                      const DebugContext &debugContext) {
  const DebugContext context(debugContext, "normaliseImage");
  checkShape("normaliseImage", tIn.shape());
  const auto type = inOffsets.elementType();
  requireUser<poplibs_error>(
      inOffsets.numElements() == channels &&
          inScales.numElements() == channels && inScales.elementType() == type,
      "[popops::normaliseImage] offsets {} and scales {} must be 3 elements of "
      "one type",
      inOffsets.shapeToString(), inScales.shapeToString());
  requireUser<poplibs_error>(
      tIn.elementType() == poplar::UNSIGNED_CHAR || tIn.elementType() == type,
      "[popops::normaliseImage] the image has type {}; it must be "
      "UNSIGNED_CHAR or that of the offsets, {}",
      std::string(tIn.elementType().toString()), std::string(type.toString()));
  if (tIn.elementType() == poplar::UNSIGNED_CHAR) {
    tIn = cast(graph, tIn, type, prog, context);
  }
  auto shape = tIn.shape();
  shape.back() = channels + 1;
  const auto result = graph.addVariable(type, shape, context);
  poputil::mapTensorLinearly(graph, result, 4 * (channels + 1), channels + 1);
  const auto last = static_cast<unsigned>(shape.size() - 1);
  using namespace expr;
  mapWithOutput(graph, Mul(Sub(Mul(_1, Const(inScale)), _2), _3),
                {tIn, inOffsets.flatten(), inScales.flatten()},
                result.slice(0, channels, last), prog, context);
  zero(graph, result.slice(channels, channels + 1, last), prog, context);
  return result;
}

} // namespace popops
