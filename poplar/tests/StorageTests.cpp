// How many bytes of the arena small programs take, counted by hand, and what
// the table for whoever wants fewer says about them.
#include "EngineProgram.hpp"

#include "compiler/AssignStorage.hpp"
#include "compiler/Coverage.hpp"
#include "compiler/Lift.hpp"
#include "compiler/Pipeline.hpp"
#include "compiler/StorageReport.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using poplar::test::EngineProgram;

// A thousand floats in whole cache lines.
constexpr std::size_t thousand = 4032;

// Every operation on its own, with its kernel chosen.
ValueProgram compiled(const EngineProgram &p) {
  const internal::GraphData &graph = internal::graphData(p.graph);
  const internal::ProgramPtr &node = internal::programNode(p.program);
  ValueProgram program =
      lift(graph, node, findRoles(graph, cutPrograms(graph, {node})));
  PipelineOptions options;
  options.disabled = {"fuseElementwise"};
  runPasses(program, options);
  return program;
}

TEST(Storage, ChainsOfOperationsTakeOnePlace) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {1000}, 1);
  const Tensor y = p.addHostVariable("y", {1000}, 1);
  const Tensor t = p.addTemporary("t", {1000});
  const Tensor u = p.addTemporary("u", {1000});
  p.elementwise("a+1", {x}, t);
  p.elementwise("a*2", {t}, u);
  p.elementwise("a-3", {u}, y);
  ValueProgram program = compiled(p);
  const StorageAssignment storage = assignStorage(program);
  EXPECT_EQ(storage.arenaBytes, thousand);
  EXPECT_EQ(liveBytes(storage), thousand);
}

TEST(Storage, WhatIsNeededTogetherHasItsOwnPlace) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {1000}, 1);
  const Tensor y = p.addHostVariable("y", {1000}, 1);
  const Tensor t = p.addTemporary("t", {1000});
  const Tensor u = p.addTemporary("u", {1000});
  p.elementwise("a+1", {x}, t);
  p.elementwise("a*2", {x}, u);
  p.elementwise("a*b", {t, u}, t);
  p.elementwise("a+b", {t, u}, y);
  ValueProgram program = compiled(p);
  const StorageAssignment storage = assignStorage(program);
  EXPECT_EQ(storage.arenaBytes, 2 * thousand);
  EXPECT_EQ(liveBytes(storage), 2 * thousand);
}

TEST(StorageReport, NamesWhatIsAliveAtThePeak) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {500}, 1);
  const Tensor y = p.addHostVariable("y", {1000}, 1);
  const Tensor t = p.addTemporary("first", {1000});
  const Tensor u = p.addTemporary("second", {500});
  p.elementwise("a+1", {x}, u);
  p.elementwise("a*2", {y}, t);
  p.elementwise("a*b", {t.slice(0, 500), u}, x);
  p.elementwise("a+1", {t}, y);
  ValueProgram program = compiled(p);
  const StorageAssignment storage = assignStorage(program);
  const std::string text = storageReport(program, storage, "this");
  EXPECT_NE(text.find("this: 6080 B of arena, of which at most 6080 B are in "
                      "use at once, at 2 elementwise elementwise\n"),
            std::string::npos)
      << text;
  const auto first = text.find("4032  float{1000} first");
  const auto second = text.find("2048  float{500} second");
  EXPECT_LT(first, second) << text; // largest first
  EXPECT_NE(second, std::string::npos) << text;
  EXPECT_NE(text.find("4000  float{1000} y"), std::string::npos) << text;
}

} // namespace
