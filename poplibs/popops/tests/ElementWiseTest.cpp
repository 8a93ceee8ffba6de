// Element-wise operations: values, mappings, vertices and errors.
#include <popops/ElementWise.hpp>

#include "../../testing/TestProgram.hpp"

#include <popops/Cast.hpp>
#include <popops/Fill.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using poplar::FLOAT;

struct Program : TestProgram {
  Program() { popops::addCodelets(graph); }
};

std::string onlyVertex(const poplar::Graph &graph) {
  const auto &sets = poplar::internal::graphData(graph).computeSets;
  return sets.back().groups.back().phases.back().runs.back().vertices[0].type;
}

TEST(Add, BroadcastsByNumpysRules) {
  Program p;
  const auto a = p.input({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto b = p.input({3}, {10, 20, 30});
  const auto sum = popops::add(p.graph, a, b, p.prog, "sum");
  EXPECT_EQ(p.run<float>(sum), (std::vector<float>{11, 22, 33, 14, 25, 36}));
}

TEST(Add, UsesTheVertexThatProfilesShow) {
  Program p;
  const auto a = p.input({8}, std::vector<float>(8, 1));
  const auto b = p.input({8}, std::vector<float>(8, 2));
  popops::add(p.graph, a, b, p.prog);
  EXPECT_EQ(onlyVertex(p.graph),
            "popops::BinaryOp1D<popops::expr::BinaryOpType::ADD,float>");
  popops::addInPlace(p.graph, a, b, p.prog);
  EXPECT_EQ(onlyVertex(p.graph),
            "popops::BinaryOp1DInPlace<popops::expr::BinaryOpType::ADD,float>");
  popops::mul(p.graph, a, 2.0f, p.prog);
  EXPECT_EQ(
      onlyVertex(p.graph),
      "popops::BroadcastScalar1D<popops::expr::BinaryOpType::MULTIPLY,float>");
}

TEST(Add, FollowsTheMappingOfItsOperand) {
  Program p;
  const auto a = p.graph.addVariable(FLOAT, {6}, "a");
  p.graph.setTileMapping(a.slice(0, 2), 5);
  p.graph.setTileMapping(a.slice(2, 6), 9);
  const auto sum = popops::add(p.graph, a, a, p.prog);
  EXPECT_EQ(p.graph.getTileMapping(sum), p.graph.getTileMapping(a));
  const auto &phase =
      poplar::internal::graphData(p.graph).computeSets[0].groups[0].phases[0];
  ASSERT_EQ(phase.runs.size(), 2u);
  EXPECT_EQ(phase.runs[0].firstTile, 5u);
  EXPECT_EQ(phase.runs[1].firstTile, 9u);
  EXPECT_EQ(phase.runs[0].bytesIn, 0u);
}

TEST(OutputMapping, FollowsViewsAndPrefersTheBetterBalanced) {
  Program p;
  const auto uneven = p.graph.addVariable(FLOAT, {4}, "uneven");
  p.graph.setTileMapping(uneven.slice(0, 3), 1);
  p.graph.setTileMapping(uneven.slice(3, 4), 2);
  const auto even = p.graph.addVariable(FLOAT, {4}, "even");
  p.graph.setTileMapping(even.slice(0, 2), 3);
  p.graph.setTileMapping(even.slice(2, 4), 4);
  const auto sum = popops::add(p.graph, uneven, even.reverse(0), p.prog);
  EXPECT_EQ(p.graph.getTileMapping(sum),
            p.graph.getTileMapping(even.reverse(0)));
}

TEST(OutputMapping, SpreadsWhatOnlyBroadcastsMake) {
  Program p;
  const auto column = p.input({8, 1}, std::vector<float>(8, 1));
  const auto row = p.input({1, 4}, std::vector<float>(4, 2));
  const auto sum = popops::add(p.graph, column, row, p.prog);
  // 32 floats in grains of 2 over 16 tiles, without a minimum.
  EXPECT_EQ(p.graph.getTileMapping(sum),
            poputil::calcLinearTileMapping(p.graph, {8, 4}, 0, 2));
  const auto scalar = p.graph.addVariable(FLOAT, {}, "scalar");
  p.graph.setTileMapping(scalar, 7);
  const auto twice = popops::add(p.graph, scalar, scalar, p.prog);
  EXPECT_EQ(p.graph.getTileMapping(twice), p.graph.getTileMapping(scalar));
}

TEST(Map, EvaluatesExpressions) {
  using namespace popops::expr;
  Program p;
  const auto a = p.input({3}, {1, 4, 9});
  const auto b = p.input({3}, {2, 2, 2});
  const auto y = popops::map(p.graph, Sqrt(_1) * _2 - 1.0f, {a, b}, p.prog);
  EXPECT_EQ(p.run<float>(y), (std::vector<float>{1, 3, 5}));
}

TEST(Map, SelectsByAPredicate) {
  Program p;
  const auto a = p.input({3}, {1, -2, 3});
  const auto zero = p.input({3}, {0, 0, 0});
  const auto positive = popops::gt(p.graph, a, 0.0f, p.prog);
  EXPECT_EQ(positive.elementType(), poplar::BOOL);
  const auto y = popops::select(p.graph, a, zero, positive, p.prog);
  EXPECT_EQ(p.run<float>(y), (std::vector<float>{1, 0, 3}));
}

TEST(Map, RejectsUnknownOptions) {
  Program p;
  const auto a = p.input({1}, {1});
  EXPECT_THROW(popops::add(p.graph, a, a, p.prog, "x", {{"speed", "high"}}),
               poplar::invalid_option);
}

TEST(Map, NeedsItsCodelets) {
  TestProgram p;
  const auto a = p.input({1}, {1});
  EXPECT_THROW(popops::add(p.graph, a, a, p.prog), poplar::unknown_vertex_type);
}

TEST(Map, RejectsConstantsOfAnotherType) {
  Program p;
  const auto a = p.input<int>(poplar::INT, {1}, {1});
  EXPECT_THROW(popops::add(p.graph, a, 1.0f, p.prog), std::runtime_error);
}

TEST(InPlace, UpdatesTheFirstOperand) {
  Program p;
  const auto a = p.input({2}, {1, 2});
  const auto b = p.input({2}, {10, 20});
  popops::subInPlace(p.graph, a, b, p.prog);
  EXPECT_EQ(p.run<float>(a), (std::vector<float>{-9, -18}));
}

TEST(Cast, TruncatesToIntegers) {
  Program p;
  const auto a = p.input({3}, {1.7f, -1.7f, 3});
  const auto y = popops::cast(p.graph, a, poplar::INT, p.prog);
  EXPECT_EQ(p.run<int>(y), (std::vector<int>{1, -1, 3}));
}

TEST(Fill, SetsEveryElementOfAView) {
  Program p;
  const auto a = p.input({4}, {1, 2, 3, 4});
  popops::fill(p.graph, a.slice(1, 3), p.prog, 7);
  popops::zero(p.graph, a.slice(3, 4), p.prog);
  EXPECT_EQ(p.run<float>(a), (std::vector<float>{1, 7, 7, 0}));
}

TEST(ScaledAdd, AddsAScaledTensorInPlace) {
  Program p;
  const auto a = p.input({2}, {1, 2});
  const auto b = p.input({2}, {10, 20});
  popops::scaledAddTo(p.graph, a, b, -0.5f, p.prog);
  EXPECT_EQ(onlyVertex(p.graph),
            "popops::ScaledAddSupervisor<float,float,true>");
  const auto scale = p.input({}, {0.1f});
  popops::scaledSubtractFrom(p.graph, a, b, scale, p.prog);
  EXPECT_VALUES_NEAR(p.run<float>(a), (std::vector<float>{-5, -10}), 1e-5);
}

TEST(ScaledAdd, NeedsEqualShapes) {
  Program p;
  const auto a = p.input({2}, {1, 2});
  const auto b = p.input({1}, {10});
  EXPECT_THROW(popops::scaledAddTo(p.graph, a, b, 1.0f, p.prog),
               poputil::poplibs_error);
}

} // namespace
