// The user vertices of a compute set as C++ objects, ready to run: fields
// filled with addresses, objects of one type side by side, cut into shards.
#pragma once

#include "engine/AlignedBuffer.hpp"

#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace poplar::engine {

class VertexSet {
public:
  using AddressOf = std::function<std::byte *(internal::VariableId)>;

  // `addressOf` gives element 0 of a variable, stored row-major. The graph must
  // outlive the set.
  VertexSet(const internal::GraphData &graph, internal::ComputeSetId computeSet,
            const AddressOf &addressOf);

  // Shards are independent of each other; how many there are follows from the
  // vertices alone.
  std::size_t shards() const { return shards_.size(); }
  // Some vertex prints: there is one shard, and it runs in program order.
  bool isPrinting() const { return isPrinting_; }
  // Expected nanoseconds on one core.
  double cost(std::size_t shard) const { return shards_[shard].cost; }

  // Elements of a variable that a shard touches, from the first to the last.
  struct Touch {
    internal::VariableId variable;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool isWritten = false;
  };
  const std::vector<Touch> &touches(std::size_t shard) const {
    return shards_[shard].touches;
  }

  // False when some compute() returned false.
  bool run(std::size_t shard) const;

  // Gives fields that vertices may have changed their first values again.
  void restore();

private:
  // Objects of one type, one after another.
  struct Batch {
    const internal::VertexType *type = nullptr;
    std::byte *first = nullptr;
    std::size_t stride = 0;
    std::size_t count = 0;
  };
  // An edge that is not one run of elements: gathered before, scattered after.
  struct Scattered {
    const internal::TensorView *view = nullptr;
    std::byte *packed = nullptr;
    bool isWritten = false;
  };
  struct Shard {
    std::vector<Batch> batches;
    std::vector<Scattered> scattered;
    std::vector<Touch> touches;
    double cost = 0;
  };
  class Builder;

  std::vector<std::byte *> addresses_; // by variable
  AlignedBuffer objects_;
  AlignedBuffer tables_; // spans and pointers that lists of edges point to
  AlignedBuffer packed_; // gathered elements
  // Objects and tables as they were at first, if some type keeps values.
  std::vector<std::byte> pristine_;
  std::vector<Shard> shards_;
  bool isPrinting_ = false;
};

// The vertices of a graph by compute set, made when they are first asked for:
// all programs that execute a compute set run the same objects.
class VertexSets {
public:
  VertexSets(const internal::GraphData &graph, VertexSet::AddressOf addressOf)
      : graph_(graph), addressOf_(std::move(addressOf)),
        sets_(graph.computeSets.size()) {}

  VertexSet &of(internal::ComputeSetId computeSet);
  void restore();

private:
  const internal::GraphData &graph_;
  VertexSet::AddressOf addressOf_;
  std::vector<std::unique_ptr<VertexSet>> sets_;
};

} // namespace poplar::engine
