// Where plans are kept, and the problems that public calls are planned as.
#include <poplin/PlanningCache.hpp>

#include <poplin/internal/ConvOptions.hpp>

#include <poplar/internal/Access.hpp>

#include <map>
#include <tuple>

namespace poplin {

struct PlanningCache::Plans {
  using Key = std::tuple<internal::ConvProblem, internal::PlanLimits, bool>;
  std::map<Key, internal::ConvPlan> plans;
};

PlanningCache::PlanningCache() : plans_(std::make_shared<Plans>()) {}
PlanningCache::~PlanningCache() = default;

std::size_t PlanningCache::size() const {
  return plans_->plans.size();
}

namespace internal {

namespace {

std::shared_ptr<void> &slotOf(poplar::Graph &graph) {
  return poplar::internal::graphData(graph).libraryData["poplin/plans"];
}

ConvPlan planned(PlanningCache::Plans &cache, const ConvProblem &problem,
                 const PlanLimits &limits, bool isMatMul) {
  const PlanningCache::Plans::Key key{problem, limits, isMatMul};
  auto at = cache.plans.find(key);
  if (at == cache.plans.end()) {
    at = cache.plans
             .emplace(key, isMatMul ? planMatMul(problem, limits)
                                    : planConvolution(problem, limits))
             .first;
  }
  return at->second;
}

// Types, groups and channels.
ConvProblem problemOf(const ConvParams &params, const ConvOptions &options) {
  ConvProblem problem;
  problem.inputType = poplar::internal::toDataType(params.inputType);
  problem.outputType = poplar::internal::toDataType(params.outputType);
  problem.partialsType = partialsType(options, problem.outputType);
  problem.groups = params.numConvGroups;
  problem.inChans = params.inputChannelsPerConvGroup;
  problem.outChans = params.outputChannelsPerConvGroup;
  return problem;
}

} // namespace

ConvProblem convProblem(const ConvParams &params, const ConvOptions &options) {
  auto problem = problemOf(params, options);
  problem.batch = params.batchSize;
  problem.inField = foldedField(params.inputFieldShape);
  problem.outField = foldedField(params.getOutputFieldShape());
  problem.kernel = foldedField(params.kernelShape);
  problem.kernelDilation = foldedField(params.kernelTransform.dilation);
  problem.stride = foldedField(params.outputTransform.stride);
  problem.inputDilation = foldedField(params.inputTransform.dilation);
  return problem;
}

ConvProblem weightUpdateProblem(const ConvParams &params,
                                const ConvOptions &options) {
  auto problem = problemOf(params, options);
  const auto outField = foldedField(params.getOutputFieldShape());
  const auto kernel = foldedField(params.kernelShape);
  problem.inField = problem.outField = {1, params.inputChannelsPerConvGroup *
                                               kernel[0] * kernel[1]};
  problem.inChans = params.batchSize * outField[0] * outField[1];
  return problem;
}

ConvProblem matMulProblem(const poplar::Type &inputType,
                          const poplar::Type &outputType,
                          const std::vector<std::size_t> &aShape,
                          const std::vector<std::size_t> &bShape,
                          const ConvOptions &options) {
  ConvProblem problem;
  problem.inputType = poplar::internal::toDataType(inputType);
  problem.outputType = poplar::internal::toDataType(outputType);
  problem.partialsType = partialsType(options, problem.outputType);
  problem.groups = aShape.size() == 3 ? aShape.front() : 1;
  problem.inField = problem.outField = {1, aShape[aShape.size() - 2]};
  problem.inChans = aShape.back();
  problem.outChans = bShape.back();
  return problem;
}

ConvPlan cachedPlan(poplar::Graph &graph, const ConvProblem &problem,
                    const PlanLimits &limits, bool isMatMul) {
  auto &slot = slotOf(graph);
  if (!slot) {
    slot = std::make_shared<PlanningCache::Plans>();
  }
  return planned(*static_cast<PlanningCache::Plans *>(slot.get()), problem,
                 limits, isMatMul);
}

ConvPlan cachedPlan(PlanningCache *cache, const ConvProblem &problem,
                    const PlanLimits &limits, bool isMatMul) {
  if (cache != nullptr) {
    return planned(*cache->plans(), problem, limits, isMatMul);
  }
  return isMatMul ? planMatMul(problem, limits)
                  : planConvolution(problem, limits);
}

void usePlanningCache(poplar::Graph &graph, PlanningCache *cache) {
  if (cache == nullptr) {
    return;
  }
  auto &slot = slotOf(graph);
  if (slot && slot != cache->plans()) {
    const auto &known = static_cast<PlanningCache::Plans *>(slot.get())->plans;
    cache->plans()->plans.insert(known.begin(), known.end());
  }
  slot = cache->plans();
}

} // namespace internal
} // namespace poplin
