#include <poputil/TileMapping.hpp>

#include <poputil/Util.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <map>

namespace poputil {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;

namespace {

using Tiles = std::vector<unsigned>; // sorted

struct Use {
  Interval region; // of the variable
  Tiles tiles;
};

// What tiles use of one variable.
struct VariableUse {
  Tensor variable; // flattened
  std::vector<std::pair<Interval, unsigned>> uses;
};

// Disjoint regions in ascending order, each with all tiles that use it.
std::vector<Use>
regionsByTiles(const std::vector<std::pair<Interval, unsigned>> &uses) {
  std::map<std::size_t, std::vector<std::pair<unsigned, int>>> changes;
  for (const auto &[region, tile] : uses) {
    changes[region.begin()].emplace_back(tile, 1);
    changes[region.end()].emplace_back(tile, -1);
  }
  std::map<unsigned, int> active;
  std::vector<Use> regions;
  std::size_t begin = 0;
  for (const auto &[at, changed] : changes) {
    if (!active.empty()) {
      Tiles tiles;
      for (const auto &[tile, count] : active) {
        tiles.push_back(tile);
      }
      if (!regions.empty() && regions.back().region.end() == begin &&
          regions.back().tiles == tiles) {
        regions.back().region = {regions.back().region.begin(), at};
      } else {
        regions.push_back({{begin, at}, std::move(tiles)});
      }
    }
    for (const auto &[tile, change] : changed) {
      if ((active[tile] += change) == 0) {
        active.erase(tile);
      }
    }
    begin = at;
  }
  return regions;
}

} // namespace

struct TensorUseTracker::Data {
  unsigned numTiles;
  unsigned startTile;
  bool isAscending;
  std::map<unsigned, VariableUse> variables; // by id

  // Elements of the regions to tiles, in the order that tiles are dealt to.
  void deal(VariableUse &variable, const std::vector<Interval> &regions,
            const Tiles &users, unsigned grainSize,
            unsigned minElementsPerTile) const {
    Tiles order = users;
    std::sort(order.begin(), order.end(), [this](unsigned a, unsigned b) {
      return invTransformTileIndex(a, numTiles, startTile, isAscending) <
             invTransformTileIndex(b, numTiles, startTile, isAscending);
    });
    const auto parts =
        splitRegions(regions, grainSize, static_cast<unsigned>(order.size()),
                     minElementsPerTile);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      for (const auto &region : parts[part]) {
        variable.uses.emplace_back(region, order[part]);
      }
    }
  }
};

TensorUseTracker::TensorUseTracker(unsigned numTiles, unsigned startTile,
                                   bool ascendingMappingOrder)
    : data_(new Data{numTiles, startTile, ascendingMappingOrder, {}}) {}
TensorUseTracker::TensorUseTracker(const TensorUseTracker &other)
    : data_(new Data(*other.data_)) {}
TensorUseTracker::TensorUseTracker(TensorUseTracker &&) noexcept = default;
TensorUseTracker &TensorUseTracker::operator=(const TensorUseTracker &other) {
  data_ = std::make_unique<Data>(*other.data_);
  return *this;
}
TensorUseTracker &
TensorUseTracker::operator=(TensorUseTracker &&) noexcept = default;
TensorUseTracker::~TensorUseTracker() = default;

void TensorUseTracker::add(const Graph &graph, unsigned tile, const Tensor &t) {
  for (const auto &region : t.getVarRegions()) {
    if (graph.isConstant(region.var)) {
      continue;
    }
    auto &variable = data_->variables[region.var.getId()];
    if (!variable.variable.valid()) {
      variable.variable = graph.getVariable(region.var).flatten();
    }
    variable.uses.emplace_back(region.interval, tile);
  }
}

void TensorUseTracker::add(TensorUseTracker other) {
  for (auto &[id, uses] : other.data_->variables) {
    auto &variable = data_->variables[id];
    variable.variable = uses.variable;
    variable.uses.insert(variable.uses.end(), uses.uses.begin(),
                         uses.uses.end());
  }
}

void TensorUseTracker::resolve(const Graph &, unsigned grainSize,
                               unsigned minElementsPerTile,
                               bool extendPartialUsage,
                               MappingMethod mappingMethod) {
  for (auto &[id, variable] : data_->variables) {
    auto regions = regionsByTiles(variable.uses);
    variable.uses.clear();
    if (extendPartialUsage && !regions.empty()) {
      for (std::size_t i = 0; i < regions.size(); ++i) {
        const auto end = i + 1 < regions.size()
                             ? regions[i + 1].region.begin()
                             : variable.variable.numElements();
        const auto begin = i == 0 ? 0 : regions[i].region.begin();
        regions[i].region = {begin, end};
      }
    }
    // A halo as a whole lies on one of its tiles; otherwise regions that the
    // same tiles use are divided together.
    const bool keepsWhole = mappingMethod == MappingMethod::OptimizeHaloRegions;
    std::map<Tiles, std::vector<Interval>> byTiles;
    for (const auto &use : regions) {
      byTiles[use.tiles].push_back(use.region);
    }
    for (const auto &[tiles, shared] : byTiles) {
      if (keepsWhole) {
        data_->deal(variable, shared, {tiles.front()}, grainSize, 0);
      } else {
        data_->deal(variable, shared, tiles, grainSize,
                    mappingMethod == MappingMethod::None ? minElementsPerTile
                                                         : 0);
      }
    }
  }
}

void TensorUseTracker::mapTensorsByUse(Graph &graph, unsigned grainSize,
                                       unsigned minElementsPerTile,
                                       bool extendPartialUsage,
                                       MappingMethod mappingMethod) {
  resolve(graph, grainSize, minElementsPerTile, extendPartialUsage,
          mappingMethod);
  for (const auto &[id, variable] : data_->variables) {
    for (const auto &[region, tile] : variable.uses) {
      graph.setTileMapping(variable.variable.slice(region), tile);
    }
  }
}

bool TensorUseTracker::empty() const {
  return data_->variables.empty();
}

} // namespace poputil
