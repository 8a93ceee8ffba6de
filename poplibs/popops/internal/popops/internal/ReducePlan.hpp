// The supersteps of a reduction: on each tile what it holds, then across tiles.
#pragma once

#include <poputil/internal/Phases.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace popops::internal {

// `partials` elements are reduced to each of `outputs` results. The partials of
// a result are adjacent (`isInner`) or one row of results apart.
struct Reduction {
  std::string_view op = "ADD"; // as the "reduce" kind names it
  support::DataType type = support::DataType::Float;
  support::DataType outputType = support::DataType::Float;
  std::uint64_t outputs = 1;
  std::uint64_t partials = 1;
  bool isInner = true;
};

// Phases named "<name>/ReduceOnTile" and "<name>/ReduceFinalStage"; in between
// a stage of its own when too many tiles would send to one (section 7.7).
std::vector<poplar::internal::GroupPhase>
planReduction(const poplar::Graph &graph, const std::string &name,
              const Reduction &reduction,
              const std::vector<poputil::internal::TileShare> &input,
              poputil::internal::TileRange outputTiles);

// Of a tensor, on the tiles that hold it; all of its IPU work on one that
// repeats elements.
std::vector<poplar::internal::GroupPhase>
planReductionOf(const poplar::Graph &graph, const std::string &name,
                const Reduction &reduction, const poplar::Tensor &tensor);

} // namespace popops::internal
