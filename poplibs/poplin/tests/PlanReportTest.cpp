// Plans as programs see them: caches, reports, the mapping of operands.
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>

#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace poplin {
namespace {

using poplar::Graph;
using poplar::program::Sequence;

struct PlanReport : testing::Test {
  PlanReport() : graph(poplar::IPUModel().createDevice()) {
    addCodelets(graph);
  }

  Graph graph;
  ConvParams params{poplar::HALF, 4, {14, 14}, {3, 3}, 64, 64, 1};
};

TEST_F(PlanReport, EqualConvolutionsAreOnePlanOfTheCache) {
  PlanningCache cache;
  EXPECT_EQ(cache.size(), 0u);
  Sequence program;
  for (int layer = 0; layer < 3; ++layer) {
    const auto in = createInput(graph, params, "in", {}, &cache);
    const auto weights = createWeights(graph, params, "weights", {}, &cache);
    convolution(graph, in, weights, params, false, program, "conv", {}, &cache);
  }
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(PlanReport, PreplanningFillsTheCache) {
  auto other = params;
  other.batchSize = 8;
  const poplar::OptionFlags options{{"partialsType", "half"}};
  const auto &target = graph.getTarget();
  PlanningCache cache;
  preplanConvolutions({ConvPlanParams(&target, params, nullptr),
                       ConvPlanParams(&target, other, nullptr),
                       ConvPlanParams(&target, params, &options)},
                      cache);
  EXPECT_EQ(cache.size(), 3u);
  createInput(graph, params, "in", options, &cache);
  EXPECT_EQ(cache.size(), 3u);
}

TEST_F(PlanReport, ProductsSharePlansWithTheirOperandsAndPreplans) {
  const poplar::OptionFlags options{{"fullyConnectedPass", "TRAINING_FWD"}};
  const MatMulParams product{poplar::HALF, poplar::HALF, {64, 256}, {256, 128}};
  matmul::PlanningCache cache;
  preplanMatMuls({MatMulPlanParams(&graph.getTarget(), product, &options)},
                 cache);
  EXPECT_EQ(cache.size(), 1u);
  const auto a = createMatMulInputLHS(graph, poplar::HALF, product.aShape,
                                      product.bShape, "a", options, &cache);
  const auto b = createMatMulInputRHS(graph, poplar::HALF, product.aShape,
                                      product.bShape, "b", options, &cache);
  Sequence program;
  matMul(graph, a, b, program, "product", options, &cache);
  EXPECT_EQ(cache.size(), 1u);
  std::ostringstream text;
  matMulReportPlan(text, graph, poplar::HALF, poplar::HALF, product.aShape,
                   product.bShape, options, &cache);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_NE(text.str().find("Plan: "), std::string::npos);
}

TEST_F(PlanReport, SaysHowTheConvolutionIsCut) {
  std::ostringstream text;
  reportPlanInfo(text, graph, params);
  EXPECT_NE(text.str().find("method                 AMP"), std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find("inChanSplit.parallel"), std::string::npos);
  const auto costs = reportPlanEstimatedCosts(graph, params);
  EXPECT_NE(text.str().find("Plan: " + std::to_string(costs.cycles)),
            std::string::npos);
  EXPECT_GT(costs.memory, 0u);
  std::ostringstream update;
  reportWeightUpdatePlanInfo(update, graph, params);
  EXPECT_NE(update.str(), text.str());
}

TEST_F(PlanReport, OptionsChangeTheCosts) {
  const auto costs = [&](const poplar::OptionFlags &options) {
    return reportPlanEstimatedCosts(graph, params, options);
  };
  const auto plain = costs({});
  EXPECT_LT(costs({{"partialsType", "half"}}).cycles, plain.cycles);
  EXPECT_LT(costs({{"use128BitConvUnitLoad", "true"}}).cycles, plain.cycles);
  EXPECT_LT(costs({{"availableMemoryProportion", "0"}}).memory, plain.memory);
}

// Operands lie on the tiles that the plan uses: none holds more than its part.
TEST_F(PlanReport, CreatorsSpreadOperandsOverThePlan) {
  for (const auto &operand : {createInput(graph, params, "in"),
                              createWeights(graph, params, "weights")}) {
    const auto mapping = graph.getTileMapping(operand);
    std::size_t used = 0;
    std::size_t largest = 0;
    for (const auto &tile : mapping) {
      std::size_t elements = 0;
      for (const auto &interval : tile) {
        elements += interval.size();
      }
      used += elements > 0 ? 1 : 0;
      largest = std::max(largest, elements);
    }
    EXPECT_GT(used, 1000u);
    EXPECT_LE(largest, operand.numElements() / used + 4);
  }
}

} // namespace
} // namespace poplin
