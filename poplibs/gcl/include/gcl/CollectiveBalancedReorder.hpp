// An order of a tensor's elements in which replicas share it evenly: every
// replica's slice has as much on each tile as any other's, so that scattering
// and gathering move nothing between the tiles of a replica.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gcl {

// The same order for the host: how to lay out what it writes.
struct CollectiveBalancedHostRearrangement {
  unsigned replicationFactor = 1;
  std::size_t totalElementsPerReplica = 0;
  // The intervals of the gathered slices that, one after another, are the
  // reference tensor.
  std::vector<poplar::Interval> gatheredToRefSlices;
  // A further order of single elements; the orders made here need none, so
  // that it is always empty.
  std::vector<std::size_t> elementMap;

  std::size_t getNumRearrangedTensorElems() const {
    return totalElementsPerReplica * replicationFactor;
  }

  // From the reference's order to that of the slices, and back; padding becomes
  // zero.
  void rearrangeForCollective(const char *in, char *out,
                              std::int64_t elemByteSize) const;
  void undoRearrangeForCollective(const char *in, char *out,
                                  std::int64_t elemByteSize) const;
};

class CollectiveBalancedReorder {
public:
  // `tensor` is the reference: where its elements lie decides the order.
  // `allowElementMap` changes nothing.
  CollectiveBalancedReorder(poplar::Graph &graph, poplar::Tensor tensor,
                            unsigned replicationFactor,
                            const poplar::DebugContext &debugContext = {},
                            bool allowElementMap = false);

  // The slice of one replica, rank 1.
  poplar::Tensor createReplicaSlice(const poplar::Type &type);
  // The slices of all replicas, one after another.
  poplar::Tensor createCollectivesTensor(const poplar::Type &type,
                                         const std::string &debugPrefix);
  // The reference's order and shape, of a tensor that has all slices.
  poplar::Tensor undoRearrangeForCollective(const poplar::Tensor &tensor) const;

  std::vector<std::size_t> getReferenceShape() const { return shape_; }
  const CollectiveBalancedHostRearrangement &getHostRearrangement() const {
    return host_;
  }
  std::size_t getElementsPerReplica() const {
    return host_.totalElementsPerReplica;
  }

private:
  // What a tile has of each replica's slice.
  struct TileSlice {
    unsigned tile;
    std::size_t begin;
    std::size_t end;
  };

  poplar::Tensor createMapped(const poplar::Type &type, unsigned slices,
                              const poplar::DebugContext &debugContext);

  poplar::Graph &graph_;
  std::vector<std::size_t> shape_;
  std::string debugPath_;
  std::vector<TileSlice> tiles_;
  CollectiveBalancedHostRearrangement host_;
};

} // namespace gcl
