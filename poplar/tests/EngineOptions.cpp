// The options of engines and their run time: names, values, environment.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using poplar::test::Environment;

class EngineOptions : public testing::Test {
protected:
  void compile(const OptionFlags &options) {
    compileGraph(p.graph, {p.program}, options);
  }
  EngineProgram p;
};

// Every name of the SDK's documents, with a value that it takes.
TEST_F(EngineOptions, TakesEveryDocumentedOption) {
  const OptionFlags options = {
      {"autoReport.all", "true"},
      {"autoReport.directory", "./reports"},
      {"autoReport.outputGraphProfile", "true"},
      {"autoReport.outputExecutionProfile", "false"},
      {"autoReport.outputLoweredVars", "true"},
      {"autoReport.outputDebugInfo", "true"},
      {"autoReport.outputArchive", "true"},
      {"autoReport.outputSerializedGraph", "false"},
      {"autoReport.executionProfileProgramRunCount", "2"},
      {"autoReport.streamAtEachRun", "true"},
      {"debug.instrument", "true"},
      {"debug.instrumentCompute", "true"},
      {"debug.instrumentControlFlow", "false"},
      {"debug.instrumentExternalExchange", "false"},
      {"debug.computeInstrumentationLevel", "device"},
      {"debug.profilingTile", "7"},
      {"debug.retainDebugInformation", "true"},
      {"debug.allowOutOfMemory", "true"},
      {"debug.floatPointOpException", "false"},
      {"debug.nanOverflowException", "false"},
      {"debug.trace", "false"},
      {"debug.traceFile", "trace.txt"},
      {"debug.verify", "false"},
      {"debug.runtimeVerify", "false"},
      {"debug.outputAllSymbols", "false"},
      {"debug.loweredVarDumpFile", "vars.txt"},
      {"debug.cpuMultiThreadExecution", "true"},
      {"debug.branchRecordTile", "0"},
      {"debug.checkAssertions", "true"},
      {"debug.executionProfile", "none"},
      {"debug.nanOverflowMode", "x"},
      {"debug.graphReportDestination", "stderr"},
      {"debug.supervisorStackSizeInBytes", "1024"},
      {"debug.workerStackSizeInBytes", "1024"},
      {"profiler.blocks.filter", ".*step.*"},
      {"profiler.programs.filter", ""},
      {"profiler.blocks.tile", "0"},
      {"profiler.blocks.bufferSize", "1000"},
      {"profiler.blocks.implicitFlush", "false"},
      {"profiler.includeFlopEstimates", "true"},
      {"profiler.includeCycleEstimates", "true"},
      {"profiler.perExecutionStreamCopyCycles", "true"},
      {"profiler.replicaToProfile", "0"},
      {"profiler.format", "v3"},
      {"exchange.streamBufferOverlap", "hostRearrangeOnly"},
      {"exchange.enablePrefetch", "true"},
      {"exchange.multicastPolicy", "balanced"},
      {"target.deterministicWorkers", "portable"},
      {"target.syncReplicasIndependently", "true"},
      {"target.hostSyncTimeout", "300.00"},
      {"target.saveArchive", "archive.a"},
      {"target.extendedMemory", "true"},
      {"target.useBufferedCompletions", "true"},
      {"target.gatewayWriteCombining", "true"},
      {"target.numberRuntimeReplica", "1"},
      {"target.firstRuntimeReplica", "0"},
      {"target.workerStackSizeInBytes", "512"},
      {"target.supervisorStackSizeInBytes", "512"},
      {"opt.maxCompilationThreads", "0"},
      {"opt.maxLinkerThreads", "2"},
      {"opt.internalExchangeOptimisationTarget", "balanced"},
      {"opt.enableMultiAccessCopies", "true"},
      {"opt.useAutoloader", "true"},
      {"opt.maxComputeSetsPerLoweredCopy", "6"},
      {"opt.limitVertexStateToLower256K", "false"},
      {"opt.enableSwSyncs", "false"},
      {"opt.enableInlining", "true"},
      {"opt.maxCopyMergeSize", "64"},
      {"prng.enable", "true"},
      {"prng.enableStochasticRounding", "false"},
      {"prng.seed", "18446744073709551615"},
      {"streamCallbacks.multiThreadMode", "dedicated"},
      {"streamCallbacks.numaAware", "true"},
      {"streamCallbacks.numWorkerThreads", "auto"},
      {"streamCallbacks.maxLookahead", "unlimited"},
  };
  EXPECT_NO_THROW(compile(options));
}

TEST_F(EngineOptions, NamesAnOptionThatDoesNotExist) {
  expectError<invalid_option>(
      [&] {
        compile({{"debug.instrumnet", "true"}});
      },
      "Unrecognised option", "debug.instrumnet");
  expectError<invalid_option>(
      [&] {
        compile({{"streamCallbacks.threads", "2"}});
      },
      "Unrecognised option", "streamCallbacks.threads");
}

TEST_F(EngineOptions, NamesTheValuesThatAnOptionTakes) {
  const auto expectAllowed = [&](const char *name, const char *value,
                                 const char *allowed) {
    expectError<invalid_option>(
        [&] {
          compile({{name, value}});
        },
        name, std::string("'") + value + "'",
        std::string("allowed: ") + allowed);
  };
  expectAllowed("debug.instrument", "yes", "true|false");
  expectAllowed("debug.profilingTile", "1.5", "an integer");
  expectAllowed("opt.maxCompilationThreads", "-1", "a whole number");
  expectAllowed("target.hostSyncTimeout", "5s", "a number");
  expectAllowed("profiler.blocks.filter", "(", "a regular expression");
  expectAllowed("exchange.streamBufferOverlap", "all",
                "any|hostRearrangeOnly|none");
  expectAllowed("streamCallbacks.numWorkerThreads", "many",
                "a whole number or auto");
}

TEST_F(EngineOptions, TakesThoseOfTheEnvironmentAtEachCompile) {
  {
    const Environment options("POPLAR_ENGINE_OPTIONS",
                              R"({"debug.instrument":"true"})");
    const Engine engine(p.graph, p.program, {{"debug.instrument", "false"}});
    EXPECT_EQ(engine.getEngineOptions().at("debug.instrument"), "true");
  }
  {
    const Environment options("POPLAR_ENGINE_OPTIONS", R"({"no.such":"1"})");
    EXPECT_THROW(compile({}), invalid_option);
  }
  {
    const Environment options("POPLAR_ENGINE_OPTIONS", "debug.instrument");
    EXPECT_THROW(compile({}), parse_error);
  }
  EXPECT_NO_THROW(compile({}));
}

TEST_F(EngineOptions, OfAnEngineComeOnTopOfItsExecutables) {
  const Executable executable = compileGraph(
      p.graph, {p.program}, {{"debug.instrument", "true"}, {"prng.seed", "1"}});
  const Engine engine(executable, {{"prng.seed", "2"}});
  EXPECT_EQ(engine.getEngineOptions().at("debug.instrument"), "true");
  EXPECT_EQ(engine.getEngineOptions().at("prng.seed"), "2");
}

TEST_F(EngineOptions, OfTheRunTimeAreFewer) {
  const RuntimeOptions options({{"target.syncMethod", "polling"},
                                {"target.syncPollPeriodUs", "0"},
                                {"target.exceptionPollPeriodUs", "250000"},
                                {"target.hostSyncTimeout", "0"},
                                {"streamCallbacks.numWorkerThreads", "4"}});
  EXPECT_EQ(options.options().at("target.syncMethod"), "polling");
  Engine engine(p.graph, p.program);
  engine.prepare(p.device(), options);
  engine.deploy();
  EXPECT_NO_THROW(engine.run());
  expectError<invalid_option>(
      [] {
        RuntimeOptions({{"debug.instrument", "true"}});
      },
      "debug.instrument");
  expectError<invalid_option>(
      [] {
        RuntimeOptions({{"target.syncMethod", "fast"}});
      },
      "polling|hybrid|default");
  const Environment environment("POPLAR_RUNTIME_OPTIONS",
                                R"({"target.syncMethod":"hybrid"})");
  EXPECT_EQ(RuntimeOptions({{"target.syncMethod", "polling"}})
                .options()
                .at("target.syncMethod"),
            "hybrid");
}

} // namespace
