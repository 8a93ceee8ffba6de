// The options of matrix products and convolutions that a plan depends on, and
// where plans are kept.
#pragma once

#include <poplin/ConvParams.hpp>
#include <poplin/PlanningCache.hpp>
#include <poplin/internal/ConvPlan.hpp>
#include <poputil/internal/Tiles.hpp>

#include <poplar/OptionFlags.hpp>

namespace poplin::internal {

struct ConvOptions {
  double availableMemoryProportion = 0.6;
  DataType partialsType = DataType::Float;
  bool use128BitConvUnitLoad = false;
  bool enableMultiStageReduce = true;
  bool enableFastReduce = false;
  bool enableSingleInputReduce = true;
  ConvPass pass = ConvPass::None;
  PlanConstraints constraints;
};

// Throws poplar::invalid_option for a name or value that is not documented.
ConvOptions parseMatMulOptions(const poplar::OptionFlags &options);
ConvOptions parseConvOptions(const poplar::OptionFlags &options);

// Reads the JSON of option planConstraints: method.type, convGroupsPerGroup,
// inChansPerGroup, partialChansPerGroup, and of level "0" partition and
// transform.swapOperands.
PlanConstraints parsePlanConstraints(const std::string &option,
                                     const std::string &json);

// What a plan on these tiles may use.
PlanLimits planLimits(const poplar::Graph &graph,
                      poputil::internal::TileRange tiles,
                      const ConvOptions &options);
// The type of partial sums; never narrower than the output.
DataType partialsType(const ConvOptions &options, DataType outputType);

// The problems of public calls. Fields of any number of dimensions are folded
// into rows and columns.
ConvProblem convProblem(const ConvParams &params, const ConvOptions &options);
ConvProblem weightUpdateProblem(const ConvParams &params,
                                const ConvOptions &options);
ConvProblem matMulProblem(const poplar::Type &inputType,
                          const poplar::Type &outputType,
                          const std::vector<std::size_t> &aShape,
                          const std::vector<std::size_t> &bShape,
                          const ConvOptions &options);

// Plans through the graph's cache: equal problems are planned once.
ConvPlan cachedPlan(poplar::Graph &graph, const ConvProblem &problem,
                    const PlanLimits &limits, bool isMatMul);
// The same through a cache of the user's, where there is one.
ConvPlan cachedPlan(PlanningCache *cache, const ConvProblem &problem,
                    const PlanLimits &limits, bool isMatMul);
// From here on the graph's plans are found in, and go to, the user's cache.
void usePlanningCache(poplar::Graph &graph, PlanningCache *cache);

} // namespace poplin::internal
