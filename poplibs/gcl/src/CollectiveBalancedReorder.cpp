#include <gcl/CollectiveBalancedReorder.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>

namespace gcl {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poputil::poplibs_error;

namespace {

// A run of the reference tensor and where it lies among the gathered slices.
struct Placed {
  Interval reference;
  Interval gathered;
};

// Cuts a tile's runs of the reference so that each replica has `perReplica` of
// the tile's elements, from `begin` of its slice on.
void placeTile(const std::vector<Interval> &runs, std::size_t perReplica,
               std::size_t begin, std::size_t slice,
               std::vector<Placed> &placed) {
  std::size_t done = 0; // of the tile's elements
  for (Interval run : runs) {
    while (run.size() > 0) {
      const std::size_t replica = done / perReplica;
      const std::size_t within = done % perReplica;
      const std::size_t count = std::min(run.size(), perReplica - within);
      const std::size_t at = replica * slice + begin + within;
      placed.push_back({{run.begin(), run.begin() + count}, {at, at + count}});
      run = Interval(run.begin() + count, run.end());
      done += count;
    }
  }
}

} // namespace

void CollectiveBalancedHostRearrangement::rearrangeForCollective(
    const char *in, char *out, std::int64_t elemByteSize) const {
  const auto size = static_cast<std::size_t>(elemByteSize);
  std::memset(out, 0, getNumRearrangedTensorElems() * size);
  for (const Interval &run : gatheredToRefSlices) {
    std::memcpy(out + run.begin() * size, in, run.size() * size);
    in += run.size() * size;
  }
}

void CollectiveBalancedHostRearrangement::undoRearrangeForCollective(
    const char *in, char *out, std::int64_t elemByteSize) const {
  const auto size = static_cast<std::size_t>(elemByteSize);
  for (const Interval &run : gatheredToRefSlices) {
    std::memcpy(out, in + run.begin() * size, run.size() * size);
    out += run.size() * size;
  }
}

CollectiveBalancedReorder::CollectiveBalancedReorder(
    Graph &graph, Tensor tensor, unsigned replicationFactor,
    const DebugContext &debugContext, bool)
    : graph_(graph), shape_(tensor.shape()),
      debugPath_(debugContext.getPathName()) {
  support::requireUser<poplibs_error>(
      replicationFactor > 0,
      "[gcl::CollectiveBalancedReorder] {} replicas given; at least one is "
      "needed",
      replicationFactor);
  host_.replicationFactor = replicationFactor;
  const auto mapping = graph.getTileMapping(tensor);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    std::size_t elements = 0;
    for (const Interval &run : mapping[tile]) {
      elements += run.size();
    }
    if (elements > 0) {
      const std::size_t begin = host_.totalElementsPerReplica;
      const std::size_t share =
          (elements + replicationFactor - 1) / replicationFactor;
      tiles_.push_back({tile, begin, begin + share});
      host_.totalElementsPerReplica += share;
    }
  }
  std::vector<Placed> placed;
  for (const TileSlice &slice : tiles_) {
    placeTile(mapping[slice.tile], slice.end - slice.begin, slice.begin,
              host_.totalElementsPerReplica, placed);
  }
  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
    return a.reference.begin() < b.reference.begin();
  });
  for (const Placed &run : placed) {
    host_.gatheredToRefSlices.push_back(run.gathered);
  }
}

Tensor
CollectiveBalancedReorder::createMapped(const poplar::Type &type,
                                        unsigned slices,
                                        const DebugContext &debugContext) {
  const std::size_t size = host_.totalElementsPerReplica;
  Tensor tensor = graph_.addVariable(type, {slices * size}, debugContext);
  for (unsigned slice = 0; slice < slices; ++slice) {
    for (const TileSlice &part : tiles_) {
      graph_.setTileMapping(
          tensor.slice(slice * size + part.begin, slice * size + part.end),
          part.tile);
    }
  }
  return tensor;
}

Tensor CollectiveBalancedReorder::createReplicaSlice(const poplar::Type &type) {
  return createMapped(type, 1, debugPath_ + "/replicaSlice");
}

Tensor CollectiveBalancedReorder::createCollectivesTensor(
    const poplar::Type &type, const std::string &debugPrefix) {
  return createMapped(type, host_.replicationFactor,
                      debugPrefix + "/collectives");
}

Tensor CollectiveBalancedReorder::undoRearrangeForCollective(
    const Tensor &tensor) const {
  support::requireUser<poplibs_error>(
      tensor.numElements() == host_.getNumRearrangedTensorElems(),
      "[gcl::CollectiveBalancedReorder::undoRearrangeForCollective] {} "
      "elements given; the slices of {} replicas have {}",
      tensor.numElements(), host_.replicationFactor,
      host_.getNumRearrangedTensorElems());
  const Tensor flat = tensor.flatten();
  return poplar::concat(flat.slices(host_.gatheredToRefSlices)).reshape(shape_);
}

} // namespace gcl
