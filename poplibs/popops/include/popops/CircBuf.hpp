// A buffer of the last tensors that were added to it.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace popops {

class CircBuf {
public:
  CircBuf(poplar::Graph &graph, const poplar::Type &type, unsigned size,
          const std::vector<std::size_t> &shape,
          const poplar::DebugContext &debugContext = {});

  // The i-th last entry: 0 is the one that was added last.
  poplar::Tensor prev(unsigned i, poplar::program::Sequence &seq,
                      const poplar::DebugContext &debugContext = {});
  void add(poplar::Tensor t, poplar::program::Sequence &seq,
           const poplar::DebugContext &debugContext = {});

  // Where the last entry is: UNSIGNED_INT {1}.
  poplar::Tensor getIndex() const { return index_; }
  unsigned size() const { return size_; }
  // The tile mapping of an entry.
  poplar::Graph::TileToTensorMapping getTileMapping();

private:
  poplar::Graph &graph_;
  unsigned size_;
  poplar::Tensor index_;
  poplar::Tensor entries_; // [size, shape]
};

} // namespace popops
