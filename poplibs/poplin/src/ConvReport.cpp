// Reports of plans, and plans made ahead.
#include "ConvReport.hpp"

#include <poplin/Convolution.hpp>
#include <poplin/internal/ConvOptions.hpp>

#include <fmt/ostream.h>

namespace poplin {

using internal::ConvOptions;
using internal::ConvPlan;
using internal::ConvProblem;
using poplar::Graph;
using poplar::OptionFlags;

namespace internal {

void printPlan(std::ostream &out, const ConvPlan &plan) {
  const auto &split = plan.split;
  const auto &grouping = plan.grouping;
  const auto &cost = plan.cost;
  const auto &transforms = plan.transforms;
  fmt::print(out, "  Plan: {} cycles, {} bytes of temporary memory a tile\n",
             plan.totalCycles(), cost.tempBytes);
  fmt::print(out,
             "        method                 {}\n"
             "        convGroupsPerGroup     {}\n"
             "        inChansPerGroup        {}\n"
             "        partialChansPerGroup   {}\n",
             toString(grouping.method), grouping.convGroupsPerGroup,
             grouping.inChansPerGroup, grouping.outChansPerGroup);
  fmt::print(out,
             "        swapOperands           {}\n"
             "        expandDims             {},{}\n"
             "        flattenDims            {}\n"
             "        combineConvGroups      {}\n"
             "        jointPlan              {}\n",
             plan.swapsOperands, transforms.expandsDims[0],
             transforms.expandsDims[1], transforms.flattensField,
             transforms.combinedGroups, plan.isJoint);
  fmt::print(out,
             "        fieldSplit             {},{}\n"
             "        batchSplit             {}\n"
             "        outChanSplit.serial    {}\n"
             "        outChanSplit.parallel  {}\n"
             "        kernelSplit            {}\n"
             "        inChanSplit.serial     {}\n"
             "        inChanSplit.parallel   {}\n"
             "        convGroupSplit         {}\n"
             "        tiles                  {}\n",
             split.rows, split.columns, split.batch, split.serialOutChans,
             split.outChans, split.kernelRows, split.serialInChans,
             split.inChans, split.groups, split.tiles());
  fmt::print(out,
             "  Cycles of each of {} steps: slice {}, transform {} + exchange "
             "{}, exchange of inputs {}, weights {}, partials {}, compute {}, "
             "reduce {}, update {}, add {}\n"
             "  Cycles once: broadcast {}, rearrange {}, cast {}\n",
             split.steps(), cost.dynamicSlice, cost.transformCopy,
             cost.transformExchange, cost.exchangeInput, cost.exchangeWeights,
             cost.exchangePartials, cost.compute, cost.reduce,
             cost.dynamicUpdate, cost.addInPlace, cost.broadcastInput,
             cost.rearrangeBeforeSlice, cost.outputCast);
}

} // namespace internal

namespace {

ConvPlan planned(const Graph &graph, const ConvProblem &problem,
                 const ConvOptions &options, bool isMatMul,
                 PlanningCache *cache) {
  const auto tiles = graph.getTarget().getTilesPerIPU();
  return cachedPlan(cache, problem, planLimits(graph, {0, tiles}, options),
                    isMatMul);
}

ConvPlan plannedForward(const Graph &graph, const ConvParams &params,
                        const OptionFlags &flags, PlanningCache *cache) {
  params.validate();
  const auto options = internal::parseConvOptions(flags);
  return planned(graph, internal::convProblem(params, options), options, false,
                 cache);
}

} // namespace

void reportPlanInfo(std::ostream &out, const Graph &graph,
                    const ConvParams &params, const OptionFlags &options,
                    PlanningCache *cache) {
  internal::printPlan(out, plannedForward(graph, params, options, cache));
}

PlanCosts reportPlanEstimatedCosts(const Graph &graph, const ConvParams &params,
                                   const OptionFlags &options,
                                   PlanningCache *cache) {
  const auto plan = plannedForward(graph, params, options, cache);
  return {plan.totalCycles(), plan.cost.tempBytes};
}

void reportWeightUpdatePlanInfo(std::ostream &out, const Graph &graph,
                                const ConvParams &fwdParams,
                                const OptionFlags &fwdOptions,
                                PlanningCache *cache) {
  fwdParams.validate();
  const auto options = internal::parseConvOptions(fwdOptions);
  internal::printPlan(
      out, planned(graph, internal::weightUpdateProblem(fwdParams, options),
                   options, true, cache));
}

void preplanConvolutions(const std::set<ConvPlanParams> &convs,
                         PlanningCache &cache) {
  for (const auto &[target, params, options] : convs) {
    plannedForward(Graph(*target), params,
                   options != nullptr ? *options : OptionFlags(), &cache);
  }
}

void preplanConvolutions(Graph &graph, const std::set<ConvPlanParams> &convs,
                         PlanningCache &cache) {
  for (const auto &conv : convs) {
    const auto *options = std::get<2>(conv);
    plannedForward(graph, std::get<1>(conv),
                   options != nullptr ? *options : OptionFlags(), &cache);
  }
}

} // namespace poplin
