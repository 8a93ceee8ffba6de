#include <poputil/internal/Phases.hpp>

#include <kernels/cost/Memory.hpp>

#include <algorithm>

namespace poputil::internal {

using poplar::internal::GroupPhase;
using poplar::internal::TileRun;
using poplar::internal::VertexUse;

namespace {

// A vector field takes a pointer and a count; each vertex has a little state
// of its own (section 6.2).
constexpr std::uint32_t bytesPerEdge = 8;
constexpr std::uint32_t bytesPerVertex = 4;

void addTo(TileRun &run, const TileRun &part) {
  run.bytesIn += part.bytesIn;
  run.bytesOut += part.bytesOut;
  run.fragmentsIn += part.fragmentsIn;
  run.fragmentsOut += part.fragmentsOut;
  run.temporaryBytes += part.temporaryBytes;
  run.vertices.insert(run.vertices.end(), part.vertices.begin(),
                      part.vertices.end());
}

std::uint32_t clampCount(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      count, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

VertexUse supervisorVertex(std::string type, std::uint64_t cycles,
                           std::uint32_t edges, std::uint64_t flops) {
  VertexUse use = workerVertices(std::move(type), 1, cycles, edges, flops);
  use.isSupervisor = true;
  return use;
}

VertexUse workerVertices(std::string type, std::uint32_t count,
                         std::uint64_t cycles, std::uint32_t edges,
                         std::uint64_t flops) {
  VertexUse use;
  use.codeBytes = kernels::cost::codeBytes(type);
  use.type = std::move(type);
  use.count = count;
  use.cycles = cycles;
  use.edges = edges;
  use.stateBytes = bytesPerVertex + bytesPerEdge * edges;
  use.flops = flops;
  return use;
}

void PhaseBuilder::addVertex(TileRange tiles, VertexUse vertex) {
  TileRun run;
  run.firstTile = tiles.first;
  run.tileCount = tiles.count;
  run.vertices.push_back(std::move(vertex));
  parts_.push_back(std::move(run));
}

void PhaseBuilder::receive(TileRange tiles, std::uint64_t bytes,
                           std::uint64_t fragments, bool isBusShared) {
  if (bytes == 0) {
    return;
  }
  TileRun run;
  run.firstTile = tiles.first;
  run.tileCount = tiles.count;
  run.bytesIn = bytes;
  run.fragmentsIn = clampCount(fragments);
  run.isBusShared = isBusShared;
  run.temporaryBytes = bytes;
  parts_.push_back(std::move(run));
}

void PhaseBuilder::send(TileRange tiles, std::uint64_t bytes,
                        std::uint64_t fragments) {
  if (bytes == 0) {
    return;
  }
  TileRun run;
  run.firstTile = tiles.first;
  run.tileCount = tiles.count;
  run.bytesOut = bytes;
  run.fragmentsOut = clampCount(fragments);
  parts_.push_back(std::move(run));
}

void PhaseBuilder::addTemporary(TileRange tiles, std::uint64_t bytes) {
  TileRun run;
  run.firstTile = tiles.first;
  run.tileCount = tiles.count;
  run.temporaryBytes = bytes;
  parts_.push_back(std::move(run));
}

void PhaseBuilder::exchange(const std::vector<TileShare> &from,
                            std::size_t elementBytes, TileRange to,
                            std::uint64_t bytes, std::uint64_t fragments,
                            bool isBusShared) {
  receive(to, bytes, fragments, isBusShared);
  for (const auto &share : from) {
    send(share.tiles,
         static_cast<std::uint64_t>(share.elements) * elementBytes);
  }
}

GroupPhase PhaseBuilder::build() const {
  std::vector<unsigned> edges;
  for (const auto &part : parts_) {
    edges.push_back(part.firstTile);
    edges.push_back(part.firstTile + part.tileCount);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  GroupPhase phase{name_, {}};
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    TileRun run;
    run.firstTile = edges[i];
    run.tileCount = edges[i + 1] - edges[i];
    bool isUsed = false;
    // The bus is shared if all that arrives is.
    run.isBusShared = true;
    for (const auto &part : parts_) {
      if (part.firstTile <= run.firstTile &&
          run.firstTile < part.firstTile + part.tileCount) {
        addTo(run, part);
        isUsed = true;
        run.isBusShared =
            run.isBusShared && (part.isBusShared || part.bytesIn == 0);
      }
    }
    run.isBusShared = run.isBusShared && run.bytesIn > 0;
    if (isUsed) {
      phase.runs.push_back(std::move(run));
    }
  }
  return phase;
}

std::string vertexName(std::string_view name,
                       std::initializer_list<support::DataType> types) {
  std::string text(name);
  const char *separator = "<";
  for (const auto type : types) {
    text += separator;
    text += support::toString(type);
    separator = ",";
  }
  return text + (types.size() > 0 ? ">" : "");
}

} // namespace poputil::internal
