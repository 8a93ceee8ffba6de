#include <popops/CircBuf.hpp>

#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

CircBuf::CircBuf(Graph &graph, const poplar::Type &type, unsigned size,
                 const std::vector<std::size_t> &shape,
                 const DebugContext &debugContext)
    : graph_(graph), size_(size) {
  requireUser<poplibs_error>(size > 0,
                             "[popops::CircBuf] the size is 0; a buffer needs "
                             "at least one entry");
  index_ = graph.addVariable(poplar::UNSIGNED_INT, {1},
                             {debugContext, "CircBufIndex"});
  graph.setTileMapping(index_, 0);
  graph.setInitialValue(index_, 0u);
  auto whole = shape;
  whole.insert(whole.begin(), size);
  entries_ = createSliceableTensor(graph, type, whole, {0}, {1}, 0,
                                   {debugContext, "CircBuf"});
}

Tensor CircBuf::prev(unsigned i, Sequence &seq,
                     const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      i < size_, "[popops::CircBuf] entry {} back is not in a buffer of {}", i,
      size_);
  using namespace expr;
  const auto at = map(graph_, Rem(Add(_1, Const(size_ - i)), Const(size_)),
                      {index_}, seq, {debugContext, "CircBufPrev"});
  return dynamicSlice(graph_, entries_, at, {0}, {1}, seq,
                      {debugContext, "CircBufPrev"})[0];
}

void CircBuf::add(Tensor t, Sequence &seq, const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      t.shape() == entries_[0].shape(),
      "[popops::CircBuf] the tensor has shape {}; entries have {}",
      t.shapeToString(), entries_[0].shapeToString());
  using namespace expr;
  mapInPlace(graph_, Rem(Add(_1, Const(1u)), Const(size_)), {index_}, seq,
             {debugContext, "CircBufAdd"});
  dynamicUpdate(graph_, entries_, t.expand({0}), index_, {0}, {1}, seq,
                {debugContext, "CircBufAdd"});
}

Graph::TileToTensorMapping CircBuf::getTileMapping() {
  return graph_.getTileMapping(entries_[0]);
}

} // namespace popops
