// The k largest or smallest elements along the innermost dimension.
#pragma once

#include <popops/SortOrder.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <ostream>
#include <utility>
#include <vector>

namespace popops {

struct TopKParams {
  TopKParams(unsigned k, bool largest, SortOrder sortOrder,
             bool stableSort = false) noexcept
      : k(k), largest(largest), sortOrder(sortOrder), stableSort(stableSort) {}

  unsigned k;
  bool largest;
  SortOrder sortOrder;
  bool stableSort; // equal elements keep their order; they always do here
};
std::ostream &operator<<(std::ostream &stream, const TopKParams &params);

poplar::Tensor createTopKInput(poplar::Graph &graph, const poplar::Type &type,
                               const std::vector<std::size_t> &shape,
                               const TopKParams &params,
                               const poplar::DebugContext &debugContext = {});

// Not-a-number counts as larger than everything.
poplar::Tensor topK(poplar::Graph &graph, poplar::program::Sequence &prog,
                    const poplar::Tensor &t, const TopKParams &params,
                    const poplar::DebugContext &debugContext = {});
// Also the values that lie where the selected keys do.
std::pair<poplar::Tensor, poplar::Tensor>
topKKeyValue(poplar::Graph &graph, poplar::program::Sequence &prog,
             const poplar::Tensor &keys, const poplar::Tensor &values,
             const TopKParams &params,
             const poplar::DebugContext &debugContext = {});
// Also their positions, as UNSIGNED_INT.
std::pair<poplar::Tensor, poplar::Tensor>
topKWithPermutation(poplar::Graph &graph, poplar::program::Sequence &prog,
                    const poplar::Tensor &t, const TopKParams &params,
                    const poplar::DebugContext &debugContext = {});

} // namespace popops
