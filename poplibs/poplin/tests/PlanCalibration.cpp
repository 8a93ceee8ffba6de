// Published measurements that need the planner, beside what it says: a table of
// predicted, published and their ratio, as poplar/tests/ModelCalibration.cpp
// prints for the others. The plans of section 9.2 are held in ConvPlanTest.cpp.
#include <poplin/internal/ConvOptions.hpp>

#include <poplar/IPUModel.hpp>
#include <poplar/internal/Access.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace poplin::internal {
namespace {

// C12: a hundred 3 x 3 convolutions of 1024 x 768 pixels with four channels in
// half on a C2 with this share of memory, in milliseconds.
double blurMilliseconds(double availableMemoryProportion) {
  const poplar::Graph graph(poplar::IPUModel("ipu1").createDevice());
  const auto &target = *poplar::internal::graphData(graph).target;
  ConvProblem problem;
  problem.inputType = problem.outputType = DataType::Half;
  problem.inChans = problem.outChans = 4;
  problem.inField = problem.outField = {768, 1024};
  problem.kernel = {3, 3};
  ConvOptions options;
  options.availableMemoryProportion = availableMemoryProportion;
  const auto plan = planConvolution(
      problem, planLimits(graph, {0, target.tilesPerIPU}, options));
  const auto cycles = 100 * static_cast<double>(plan.totalCycles());
  return cycles / target.clockHz * 1e3;
}

double report(const char *what, double predicted, double published) {
  fmt::print("C12  {:<34}{:>14.3f}{:>14.3f}{:>8.3f}\n", what, predicted,
             published, predicted / published);
  return predicted;
}

// Reported, not held to the published times: the program that was timed also
// moves its image between iterations, in a layout that is not published. The
// cliff is the plan's, and is held: below some share of memory no fast vertex
// fits, and it costs more than ten times as much (published: 27).
TEST(PlanCalibration, MemoryBelowAThresholdCostsAFastVertex) {
  const double little =
      report("blur with 0.1 of memory, ms", blurMilliseconds(0.1), 45.3);
  const double enough =
      report("blur with 0.2 of memory, ms", blurMilliseconds(0.2), 1.656);
  const double plenty =
      report("blur with 0.6 of memory, ms", blurMilliseconds(0.6), 1.656);
  EXPECT_GT(little, 10 * enough);
  EXPECT_EQ(enough, plenty);
}

} // namespace
} // namespace poplin::internal
