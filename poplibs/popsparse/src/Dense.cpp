#include "Dense.hpp"

#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popsparse::internal {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

void requireTensors(const TensorMetaData &metaData, const Tensor &metaInfo,
                    std::size_t values) {
  requireUser<poplibs_error>(
      metaInfo.elementType() == poplar::UNSIGNED_SHORT &&
          metaInfo.numElements() == 2 * metaData.numBlocks &&
          values == metaData.numBlocks * metaData.blockSize(),
      "[popsparse] meta-info of {}{} and {} values given; {} of UNSIGNED_SHORT "
      "and {} are needed",
      metaInfo.elementType().toString().cloneAsString(),
      metaInfo.shapeToString(), values, 2 * metaData.numBlocks,
      metaData.numBlocks * metaData.blockSize());
}

// Which row of a [all blocks, blockSize] each block is: [numBlocks, 1]. What no
// block takes is outside.
Tensor blockNumbers(Graph &graph, const TensorMetaData &metaData,
                    const Tensor &metaInfo, Sequence &prog,
                    const DebugContext &debugContext) {
  namespace pe = popops::expr;
  const auto perRow =
      static_cast<unsigned>(metaData.columns / metaData.blockDimensions[1]);
  const Tensor wide = popops::cast(graph, metaInfo.flatten(),
                                   poplar::UNSIGNED_INT, prog, debugContext);
  const std::size_t count = metaData.numBlocks;
  return popops::map(graph, pe::_1 * pe::Const(perRow) + pe::_2,
                     {wide.slice(0, count), wide.slice(count, 2 * count)}, prog,
                     {debugContext, "blockNumbers"})
      .reshape({count, 1});
}

std::size_t blocksDown(const TensorMetaData &metaData) {
  return metaData.rows / metaData.blockDimensions[0];
}

std::size_t blocksAcross(const TensorMetaData &metaData) {
  return metaData.columns / metaData.blockDimensions[1];
}

} // namespace

Tensor addMetaInfo(Graph &graph, const TensorMetaData &metaData,
                   const DebugContext &debugContext) {
  const Tensor metaInfo =
      graph.addVariable(poplar::UNSIGNED_SHORT, {2 * metaData.numBlocks},
                        {debugContext, "metaInfo"});
  poputil::mapTensorLinearly(graph, metaInfo);
  return metaInfo;
}

Tensor addValues(Graph &graph, const poplar::Type &type,
                 const TensorMetaData &metaData,
                 const DebugContext &debugContext) {
  const Tensor values =
      graph.addVariable(type, {metaData.numBlocks * metaData.blockSize()},
                        {debugContext, "nzValues"});
  poputil::mapTensorLinearly(graph, values);
  return values;
}

Tensor toDense(Graph &graph, const TensorMetaData &metaData,
               const Tensor &metaInfo, const Tensor &nzValues, Sequence &prog,
               const DebugContext &debugContext) {
  requireTensors(metaData, metaInfo, nzValues.numElements());
  const DebugContext context{debugContext, "toDense"};
  const std::size_t down = blocksDown(metaData);
  const std::size_t across = blocksAcross(metaData);
  const std::size_t size = metaData.blockSize();
  const Tensor blocks =
      graph.addVariable(nzValues.elementType(), {down * across, size}, context);
  poputil::mapTensorLinearly(graph, blocks);
  popops::zero(graph, blocks, prog, context);
  popops::multiUpdate(graph, blocks,
                      nzValues.reshape({metaData.numBlocks, 1, size}),
                      blockNumbers(graph, metaData, metaInfo, prog, context),
                      {0}, {1}, prog, {}, {}, context);
  const auto &[height, width] = metaData.blockDimensions;
  return blocks.reshape({down, across, height, width})
      .dimShuffle({0, 2, 1, 3})
      .reshape({metaData.rows, metaData.columns});
}

Tensor atBlocks(Graph &graph, const TensorMetaData &metaData,
                const Tensor &metaInfo, const Tensor &dense, Sequence &prog,
                const DebugContext &debugContext) {
  const std::size_t size = metaData.blockSize();
  requireTensors(metaData, metaInfo, metaData.numBlocks * size);
  const DebugContext context{debugContext, "atBlocks"};
  const auto &[height, width] = metaData.blockDimensions;
  const std::size_t down = blocksDown(metaData);
  const std::size_t across = blocksAcross(metaData);
  const Tensor blocks = dense.reshape({down, height, across, width})
                            .dimShuffle({0, 2, 1, 3})
                            .reshape({down * across, size});
  return popops::multiSlice(
             graph, blocks,
             blockNumbers(graph, metaData, metaInfo, prog, context), {0}, {1},
             prog, {}, {}, context)
      .flatten();
}

} // namespace popsparse::internal
