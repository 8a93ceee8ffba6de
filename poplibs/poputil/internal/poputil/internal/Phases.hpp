// Builds the phases of a vertex group from contributions over ranges of tiles.
#pragma once

#include <poplar/internal/VertexGroup.hpp>
#include <poputil/internal/Tiles.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace poputil::internal {

// A supervisor vertex of a type with these tile cycles on each tile; code size
// comes from the type, state from the number of edges.
poplar::internal::VertexUse supervisorVertex(std::string type,
                                             std::uint64_t cycles,
                                             std::uint32_t edges,
                                             std::uint64_t flops = 0);
// `count` worker vertices on each tile, `cycles` of one context each.
poplar::internal::VertexUse
workerVertices(std::string type, std::uint32_t count, std::uint64_t cycles,
               std::uint32_t edges, std::uint64_t flops = 0);

// Collects what tiles do in one superstep; ranges may overlap.
class PhaseBuilder {
public:
  explicit PhaseBuilder(std::string name) : name_(std::move(name)) {}

  void addVertex(TileRange tiles, poplar::internal::VertexUse vertex);
  void receive(TileRange tiles, std::uint64_t bytes,
               std::uint64_t fragments = 1, bool isBusShared = false);
  void send(TileRange tiles, std::uint64_t bytes, std::uint64_t fragments = 1);
  void addTemporary(TileRange tiles, std::uint64_t bytes);

  // Each tile of `to` takes `bytes` of a tensor that lies as `from` says and
  // has this element size; every element is sent once, however many tiles
  // listen. The bytes land in a temporary buffer.
  void exchange(const std::vector<TileShare> &from, std::size_t elementBytes,
                TileRange to, std::uint64_t bytes, std::uint64_t fragments = 1,
                bool isBusShared = false);

  // Disjoint runs in the order of tiles.
  poplar::internal::GroupPhase build() const;

private:
  std::string name_;
  std::vector<poplar::internal::TileRun> parts_;
};

// "name<float,half>": the spelling of a vertex type, as templateVertex makes
// it.
std::string vertexName(std::string_view name,
                       std::initializer_list<support::DataType> types);

} // namespace poputil::internal
