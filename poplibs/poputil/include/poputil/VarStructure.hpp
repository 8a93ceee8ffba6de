// How the elements of a tensor are grouped in memory.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace poputil {

// A dimension, and how many of its consecutive elements lie side by side.
using GroupingInfo = std::pair<unsigned, unsigned>;

// How many elements of the last dimension lie side by side in a variable, a
// divisor of its size; 0 where there are none.
unsigned detectInnermostGrouping(const poplar::Graph &graph,
                                 const poplar::Tensor &t);

// The groups that elements lie in, the innermost first: of those of one entry
// side by side, the groups of the next lie side by side. A dimension may be
// there more than once. Empty where nothing is grouped; throws poplibs_error
// for a tensor of no dimensions.
std::vector<GroupingInfo> detectDimGroupings(const poplar::Graph &graph,
                                             const poplar::Tensor &t);

// A tensor whose elements lie in nPartitions[d] parts of dimension d, each part
// of a variable of its own; dimensions that do not divide have larger parts
// first.
poplar::Tensor
createPartitionableTensor(poplar::Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape,
                          const std::vector<std::size_t> &nPartitions,
                          const poplar::DebugContext &debugContext = {});

// Calls f(indices of the part, part) for each of such parts.
void iterateTensorPartitions(
    const poplar::Tensor &t, const std::vector<std::size_t> &nPartitions,
    const std::function<void(const std::vector<std::size_t> &,
                             const poplar::Tensor &)> &f);

} // namespace poputil
