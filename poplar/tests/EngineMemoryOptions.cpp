// What engine options, the environment and the device make of tile memory, in
// compiled programs and in the profiles of engines.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"
#include "ProfileTextReader.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using poplar::test::Environment;
using poplar::testing::ProfileTextReader;

ProfileTextReader summary(EngineProgram &p, const OptionFlags &options) {
  Engine engine(p.graph, p.program, options);
  std::ostringstream text;
  engine.printProfileSummary(text, {});
  return ProfileTextReader(text.str());
}

TEST(EngineMemoryOptions, StacksHaveTheSizesGiven) {
  EngineProgram p;
  EXPECT_EQ(summary(p, {}).number("Stack:"), 1472U * (128 + 6 * 512));
  EXPECT_EQ(summary(p, {{"target.workerStackSizeInBytes", "1024"},
                        {"target.supervisorStackSizeInBytes", "256"}})
                .number("Stack:"),
            1472U * (256 + 6 * 1024));
  // The names that options had before; the new ones win.
  EXPECT_EQ(summary(p, {{"debug.workerStackSizeInBytes", "100"},
                        {"debug.supervisorStackSizeInBytes", "200"},
                        {"target.workerStackSizeInBytes", "300"}})
                .number("Stack:"),
            1472U * (200 + 6 * 300));
  expectError<invalid_option>(
      [&] {
        summary(p, {{"target.workerStackSizeInBytes", "4294967296"}});
      },
      "target.workerStackSizeInBytes", "4294967296", "below 2^32");
}

// A copy of four floats to another tile: an exchange, which has no vertices,
// and one to the same tile, which has; a loop around them.
TEST(EngineMemoryOptions, InstrumentationTakesMemory) {
  EngineProgram p;
  const Tensor a = p.addHostVariable("a", {4}, 0);
  const Tensor b = p.addHostVariable("b", {4}, 1);
  p.repeat(3, [&] { p.copy(a, b); });
  const char *label = "Instrumentation Results:";
  EXPECT_EQ(summary(p, {}).number(label), 0U);
  EXPECT_EQ(summary(p, {{"debug.instrument", "true"}}).number(label),
            8U + 8); // the copy on its tile, the loop
  EXPECT_EQ(summary(p, {{"autoReport.all", "true"}}).number(label), 16U);
  EXPECT_EQ(summary(p, {{"debug.instrument", "true"},
                        {"debug.instrumentControlFlow", "false"}})
                .number(label),
            8U);
  EXPECT_EQ(summary(p, {{"debug.instrumentControlFlow", "true"}}).number(label),
            8U);
}

// 200,000 floats, 800,000 bytes on tile 0 of 638,976.
class EngineOutOfMemory : public ::testing::Test {
protected:
  static void compile(const Target &target, const OptionFlags &options = {}) {
    Graph graph(target);
    const Tensor big = graph.addVariable(FLOAT, {200000}, "big");
    graph.setTileMapping(big, 0);
    const Tensor first = graph.addVariable(FLOAT, {1}, "first");
    graph.setTileMapping(first, 1);
    graph.createHostWrite("big", big);
    compileGraph(graph, {program::Copy(big.slice(0, 1), first)}, options);
  }
  const Target hardware = Target::createIPUTarget(1, "ipu2");
};

TEST_F(EngineOutOfMemory, IsAnErrorOfHardwareThatNamesTheTile) {
  for (const char *allowed : {"true", "false"}) {
    expectError<graph_memory_allocation_error>(
        [&] {
          compile(hardware, {{"debug.allowOutOfMemory", allowed}});
        },
        "Out of memory: Cannot fit all variable data onto one or more tiles. ",
        "1 of 1472 tiles", "tile 0", " of 638976", "ASPEN_MEMORY=warn");
  }
}

TEST_F(EngineOutOfMemory, IsAWarningWhenTheEnvironmentSaysSo) {
  const Environment policy("ASPEN_MEMORY", "warn");
  ::testing::internal::CaptureStderr();
  EXPECT_NO_THROW(compile(hardware));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("Running anyway"),
            std::string::npos);
}

TEST_F(EngineOutOfMemory, NeverStopsTheModel) {
  const Environment policy("ASPEN_MEMORY", "strict");
  EXPECT_NO_THROW(compile(IPUModel().createDevice().getTarget()));
}

TEST(EngineSummaryOptions, UnknownOnesAreAnsweredWithThoseThatThereAre) {
  EngineProgram p;
  Engine engine(p.graph, p.program);
  std::ostringstream text;
  expectError<invalid_option>(
      [&] {
        engine.printProfileSummary(text, {{"showSteps", "true"}});
      },
      "Unrecognised option 'showSteps'",
      "allowed: showExecutionSteps, showOptimizations, showPerIpuMemoryUsage, "
      "showVarStorage, colours, assumedRuns");
  expectError<invalid_option>(
      [&] {
        engine.printProfileSummary(text, {{"colours", "red"}});
      },
      "'colours'", "'red'", "true|false");
}

TEST(EngineSummaryOptions, ARunMayBePricedWithoutTakingPlace) {
  EngineProgram p;
  const Tensor from = p.graph.addVariable(FLOAT, {8});
  const Tensor to = p.graph.addVariable(FLOAT, {8});
  p.graph.setTileMapping(from, 0);
  p.graph.setTileMapping(to, 1);
  p.program.add(program::Copy(from, to));
  Engine engine(p.graph, p.program);
  const auto cycles = [&](const OptionFlags &options) {
    std::ostringstream text;
    engine.printProfileSummary(text, options);
    const std::string line = text.str().substr(text.str().find("Total cycles"));
    return line.substr(0, line.find('\n'));
  };
  const std::string none = cycles({});
  const std::string assumed = cycles({{"assumedRuns", "1"}});
  engine.load(IPUModel().createDevice());
  engine.run(0);
  EXPECT_EQ(cycles({}), assumed);
  EXPECT_NE(none, assumed);
}

TEST(EngineSummaryOptions, ColoursMayBeForcedAndRefused) {
  EngineProgram p;
  Engine engine(p.graph, p.program);
  const auto isColoured = [&](const OptionFlags &options) {
    std::ostringstream text;
    engine.printProfileSummary(text, options);
    return text.str().find("\x1b[1mTarget:") != std::string::npos;
  };
  EXPECT_FALSE(isColoured({}));
  EXPECT_TRUE(isColoured({{"colours", "true"}}));
  const Environment force("CLICOLOR_FORCE", "1");
  EXPECT_TRUE(isColoured({}));
  EXPECT_FALSE(isColoured({{"colours", "false"}}));
}

} // namespace
