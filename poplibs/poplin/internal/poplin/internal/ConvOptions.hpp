// The options of matrix products and convolutions that a plan depends on.
#pragma once

#include <poplin/internal/ConvPlan.hpp>
#include <poputil/internal/Tiles.hpp>

#include <poplar/OptionFlags.hpp>

namespace poplin::internal {

struct ConvOptions {
  double availableMemoryProportion = 0.6;
  DataType partialsType = DataType::Float;
  bool use128BitConvUnitLoad = false;
  bool enableMultiStageReduce = true;
};

// Throws poplar::invalid_option for a name or value that is not documented.
ConvOptions parseMatMulOptions(const poplar::OptionFlags &options);
ConvOptions parseConvOptions(const poplar::OptionFlags &options);

// What a plan on these tiles may use.
PlanLimits planLimits(const poplar::Graph &graph,
                      poputil::internal::TileRange tiles,
                      const ConvOptions &options);
// The type of partial sums; never narrower than the output.
DataType partialsType(const ConvOptions &options, DataType outputType);

// Plans through the graph's cache: equal problems are planned once.
ConvPlan cachedPlan(poplar::Graph &graph, const ConvProblem &problem,
                    const PlanLimits &limits, bool isMatMul);

} // namespace poplin::internal
