// Lowers the user vertices of a compute set.
#include "model/VertexSteps.hpp"

#include "model/Constants.hpp"
#include "model/EdgeTraffic.hpp"
#include "model/VertexState.hpp"
#include "model/ViewTiles.hpp"
#include <poplar/internal/TargetData.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace poplar::model {

namespace {

using internal::ComputeSetData;
using internal::GraphData;
using internal::TileRun;
using internal::VertexId;
using internal::VertexTable;
using internal::VertexUse;

// Vertices of a tile that cost the same.
struct VertexClass {
  std::uint32_t type;
  std::uint32_t edges;
  std::uint64_t cycles;
  std::uint64_t flops;

  friend bool operator==(const VertexClass &, const VertexClass &) = default;
};

struct VertexClassHash {
  std::size_t operator()(const VertexClass &key) const {
    std::size_t hash = key.type;
    for (const std::uint64_t part :
         {std::uint64_t{key.edges}, key.cycles, key.flops}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15U; // golden ratio
    }
    return hash;
  }
};

struct ClassCount {
  VertexClass key;
  std::uint32_t count;

  friend bool operator==(const ClassCount &, const ClassCount &) = default;
};

// What one tile does, in the order of its vertices.
struct TileWork {
  std::vector<ClassCount> classes;
  std::uint64_t bufferBytes = 0;

  friend bool operator==(const TileWork &, const TileWork &) = default;
};

class TileClasses {
public:
  void add(const VertexClass &key) {
    if (last_ >= counts_.size() || !(counts_[last_].key == key)) {
      const auto [entry, isNew] = index_.try_emplace(key, counts_.size());
      if (isNew) {
        counts_.push_back({key, 0});
      }
      last_ = entry->second;
    }
    counts_[last_].count += 1;
  }

  std::vector<ClassCount> take() {
    index_.clear();
    last_ = 0;
    return std::exchange(counts_, {});
  }

private:
  std::vector<ClassCount> counts_;
  std::unordered_map<VertexClass, std::size_t, VertexClassHash> index_;
  std::size_t last_ = 0;
};

// The mapped vertices in ascending order of tiles.
std::vector<VertexId> sortByTile(const VertexTable &table,
                                 const ComputeSetData &computeSet) {
  std::vector<VertexId> sorted;
  sorted.reserve(computeSet.vertices.size());
  for (const VertexId vertex : computeSet.vertices) {
    if (table[vertex].tile != internal::VertexData::unmapped) {
      sorted.push_back(vertex);
    }
  }
  const auto isBefore = [&](VertexId a, VertexId b) {
    return table[a].tile < table[b].tile;
  };
  if (!std::is_sorted(sorted.begin(), sorted.end(), isBefore)) {
    std::stable_sort(sorted.begin(), sorted.end(), isBefore);
  }
  return sorted;
}

class RunBuilder {
public:
  RunBuilder(const VertexTable &table, std::vector<TileRun> &runs)
      : table_(table), runs_(runs) {}

  void add(unsigned tile, TileWork work) {
    if (tiles_ == 0 || first_ + tiles_ != tile || work != work_) {
      finish();
      first_ = tile;
      work_ = std::move(work);
    }
    tiles_ += 1;
  }

  void finish() {
    if (tiles_ == 0) {
      return;
    }
    TileRun run;
    run.firstTile = first_;
    run.tileCount = tiles_;
    run.temporaryBytes = work_.bufferBytes;
    for (const auto &[key, count] : work_.classes) {
      const internal::VertexType &type = *table_.types[key.type];
      VertexUse use;
      use.type = type.name;
      use.count = count;
      use.cycles = key.cycles;
      use.isSupervisor = type.base != internal::VertexBase::Worker;
      use.edges = key.edges;
      use.stateBytes = stateBytes(type);
      use.codeBytes = userVertexCodeBytes;
      use.flops = key.flops;
      run.vertices.push_back(std::move(use));
    }
    runs_.push_back(std::move(run));
    tiles_ = 0;
  }

private:
  const VertexTable &table_;
  std::vector<TileRun> &runs_;
  TileWork work_; // of tiles [first_, first_ + tiles_)
  unsigned first_ = 0;
  unsigned tiles_ = 0;
};

VertexClass classOf(const VertexTable &table, VertexId vertex,
                    unsigned workerContexts) {
  std::uint32_t edges = 0;
  forEachEdge(table, vertex, [&](const auto &, const auto &) { ++edges; });
  return {table[vertex].type, edges, cyclesOf(table, vertex, workerContexts),
          table[vertex].flops};
}

} // namespace

VertexSteps lowerVertices(const GraphData &graph,
                          const internal::ExecuteNode &execute) {
  const VertexTable &table = graph.vertices;
  const auto sorted =
      sortByTile(table, graph.computeSets[execute.computeSet.index()]);
  const auto statusHome = sharesOf(graph, execute.exitStatus);
  VertexSteps result;
  EdgeTraffic traffic(graph);
  RunBuilder builder(table, result.runs);
  TileClasses classes;
  for (std::size_t i = 0; i < sorted.size();) {
    const unsigned tile = table[sorted[i]].tile;
    for (; i < sorted.size() && table[sorted[i]].tile == tile; ++i) {
      classes.add(classOf(table, sorted[i], graph.target->workerContexts));
      traffic.addVertex(sorted[i], tile);
    }
    builder.add(tile, {classes.take(), traffic.endTile(tile)});
    if (!statusHome.empty()) {
      traffic.addResult(tile, statusHome.front().firstTile);
    }
  }
  builder.finish();
  result.before = traffic.takeStepsBefore();
  if (!result.before.empty() &&
      result.before.back().kind == StepKind::Exchange) {
    for (TileRun &run : result.before.back().ownRuns) {
      result.runs.push_back(std::move(run));
    }
    result.before.pop_back();
  }
  result.after = traffic.takeStepsAfter();
  return result;
}

} // namespace poplar::model
