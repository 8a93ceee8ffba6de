// Reductions: values, the older compute-set form, planning and errors.
#include <popops/Reduce.hpp>

#include "../../testing/TestProgram.hpp"

#include <popops/codelets.hpp>
#include <popops/internal/Kinds.hpp>
#include <popops/internal/ReducePlan.hpp>

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using popops::Operation;

struct Program : TestProgram {
  Program() { popops::addCodelets(graph); }
};

TEST(Reduce, SumsAlongDimensions) {
  Program p;
  const auto a = p.input({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto rows = popops::reduce(p.graph, a, {1}, Operation::ADD, p.prog);
  EXPECT_EQ(p.run<float>(rows), (std::vector<float>{6, 15}));
}

TEST(Reduce, TakesMaximaAndSquares) {
  Program p;
  const auto a = p.input({2, 2}, {1, -4, 3, 2});
  const auto top = popops::reduce(p.graph, a, {0}, Operation::MAX, p.prog);
  const auto power =
      popops::reduce(p.graph, a, {0, 1}, Operation::SQUARE_ADD, p.prog);
  EXPECT_EQ(p.run<float>(concat(top, power.reshape({1}))),
            (std::vector<float>{3, 2, 30}));
}

TEST(Reduce, UpdatesAndScalesAnOutput) {
  Program p;
  const auto a = p.input({2, 2}, {1, 2, 3, 4});
  const auto out = p.input({2}, {100, 200});
  const auto scale = p.input({}, {10});
  popops::reduceWithOutput(p.graph, a, out, {0}, {Operation::ADD, true, scale},
                           p.prog);
  EXPECT_EQ(p.run<float>(out), (std::vector<float>{140, 260}));
}

TEST(Reduce, AppendsComputeSets) {
  Program p;
  const auto a = p.input({2, 2}, {1, 2, 3, 4});
  const auto out = p.input({2}, {0, 0});
  std::vector<poplar::ComputeSet> sets;
  popops::reduceWithOutput(p.graph, a, out, {1},
                           popops::ReduceParams(Operation::ADD), sets);
  for (const auto &set : sets) {
    p.prog.add(poplar::program::Execute(set));
  }
  EXPECT_EQ(p.run<float>(out), (std::vector<float>{3, 7}));
}

TEST(Reduce, RefusesToUpdateANewTensor) {
  Program p;
  const auto a = p.input({2}, {1, 2});
  try {
    popops::reduce(p.graph, a, {0}, {Operation::ADD, true}, p.prog);
    FAIL() << "an update was accepted";
  } catch (const poputil::poplibs_error &error) {
    EXPECT_STREQ(error.what(), "Cannot do an update using reduce(); call "
                               "reduceWithOutput() instead.");
  }
}

TEST(ReducePlan, StaysOnTheTileThatHoldsEverything) {
  TestProgram p;
  const auto phases = popops::internal::planReduction(
      p.graph, "", {.outputs = 1, .partials = 100}, {{{3, 1}, 100}}, {0, 16});
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].runs[0].firstTile, 3u);
}

TEST(ReducePlan, AddsAStageWhenManyTilesSendToOne) {
  TestProgram p(1472);
  const auto phases = popops::internal::planReduction(
      p.graph, "", {.outputs = 1, .partials = 147200}, {{{0, 1472}, 100}},
      {0, 1472});
  EXPECT_EQ(phases.size(), 3u);
}

// By hand: g = 2*0.5 + 0.1*1 = 1.1; w = 1 - 0.01*1.1.
TEST(SgdUpdate, FollowsTheFormula) {
  Program p;
  const auto w = p.input({1}, {1});
  const auto g = p.input({1}, {0.5f});
  const auto rate = p.input({}, {0.01f});
  const auto decay = p.input({}, {0.1f});
  const auto updated =
      popops::internal::sgdUpdate(p.graph,
                                  {{"momentum", std::int64_t{0}},
                                   {"nesterov", std::int64_t{0}},
                                   {"gradientScale", 2.0}},
                                  {w, g, rate, decay}, p.prog, "update", {});
  EXPECT_EQ(updated.front(), w);
  EXPECT_VALUES_NEAR(p.run<float>(w), (std::vector<float>{0.989f}), 1e-6);
}

} // namespace
