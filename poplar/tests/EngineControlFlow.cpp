// Programs whose control depends on data, functions and what the host serves,
// in both executors and at several thread counts.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"
#include "HandMadeVertices.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using namespace poplar::program;
using poplar::test::EngineProgram;

struct ControlProgram : EngineProgram {
  ControlProgram() {
    internal::addCodeletFile(graph, test::handMadeCodelets());
  }

  Tensor addScalar(const Type &type, const std::string &name, int value) {
    Tensor tensor = graph.addVariable(type, {}, name);
    graph.setTileMapping(tensor, 0);
    graph.setInitialValue(tensor, value);
    graph.createHostWrite(name, tensor);
    return tensor;
  }

  // x = x * factor + addend
  Sequence affine(const Tensor &x, const std::string &factor,
                  const std::string &addend) {
    const Sequence outer = program;
    program = Sequence();
    elementwise("a*" + factor + "+" + addend, {x}, x);
    const Sequence result = program;
    program = outer;
    return result;
  }
};

// Runs every executor on fresh engines; all must give the same.
EngineProgram::Values
runEverywhere(const EngineProgram &p,
              const std::function<void(Engine &)> &prepare = {}) {
  const EngineProgram::Values expected = p.run("reference", 1, prepare);
  for (unsigned threads : {1U, 2U, 3U}) {
    EXPECT_EQ(p.run("fast", threads, prepare), expected)
        << threads << " threads";
  }
  return expected;
}

Sequence countDown(ControlProgram &p, const Tensor &counter,
                   const Tensor &running) {
  ComputeSet computeSet = p.graph.addComputeSet("countDown");
  VertexRef vertex = p.graph.addVertex(
      computeSet, "CountDown", {{"counter", counter}, {"running", running}});
  p.graph.setTileMapping(vertex, 0);
  return Sequence({Execute(computeSet)});
}

// The counter starts at 5 and is 4, 3, 2, 1 (running), then 0 (not).
TEST(EngineControlFlow, WhileRunsTheBodyUntilThePredicateChanges) {
  ControlProgram p;
  const Tensor x = p.addHostVariable("x", {64}, 1);
  const Tensor counter = p.addScalar(INT, "counter", 5);
  const Tensor running = p.addScalar(BOOL, "running", 0);
  p.fill(1, x);
  p.program.add(RepeatWhileTrue(countDown(p, counter, running), running,
                                p.affine(x, "2", "1")));
  p.program.add(Copy(p.addScalar(INT, "five", 5), counter));
  EXPECT_EQ(runEverywhere(p)[0][63], 31); // 1, 3, 7, 15, 31
}

TEST(EngineControlFlow, WhileFalseStopsWhenThePredicateIsTrue) {
  ControlProgram p;
  const Tensor x = p.addHostVariable("x", {64}, 1);
  const Tensor counter = p.addScalar(INT, "counter", 5);
  const Tensor running = p.addScalar(BOOL, "running", 0);
  const Tensor big = p.addScalar(INT, "big", 9);
  p.fill(1, x);
  // Not running at once: the body makes the counter large, which ends it.
  p.program.add(Copy(p.addScalar(INT, "zero", 0), counter));
  p.program.add(
      RepeatWhileFalse(countDown(p, counter, running), running,
                       Sequence({p.affine(x, "2", "1"), Copy(big, counter)})));
  EXPECT_EQ(runEverywhere(p)[0][63], 3);
}

TEST(EngineControlFlow, IfTakesEveryKindOfPredicate) {
  for (const Type &type : {BOOL, INT, UNSIGNED_INT}) {
    for (const int value : {0, 1}) {
      ControlProgram p;
      const Tensor x = p.addHostVariable("x", {3}, 1);
      const Tensor predicate = p.addScalar(type, "predicate", value);
      p.fill(1, x);
      p.program.add(
          If(predicate, p.affine(x, "2", "0"), p.affine(x, "10", "0")));
      p.program.add(p.affine(x, "1", "1"));
      EXPECT_EQ(runEverywhere(p)[0][0], value == 1 ? 3 : 11);
    }
  }
}

TEST(EngineControlFlow, SwitchRunsTheCaseOrTheDefaultOrNothing) {
  for (const auto &[control, isDefaulted, expected] :
       {std::tuple(-7, true, 2.0f), std::tuple(3, true, 3.0f),
        std::tuple(4, true, 5.0f), std::tuple(4, false, 1.0f)}) {
    ControlProgram p;
    const Tensor x = p.addHostVariable("x", {3}, 1);
    const Tensor index = p.addScalar(INT, "index", control);
    p.fill(1, x);
    Switch choice(index, {{-7, p.affine(x, "2", "0")}});
    if (isDefaulted) {
      choice =
          Switch(index, {{-7, p.affine(x, "2", "0")}}, p.affine(x, "5", "0"));
    }
    choice.add(3, p.affine(x, "3", "0"));
    p.program.add(choice);
    EXPECT_EQ(runEverywhere(p)[0][0], expected);
  }
}

// Nested control, loops around it, and a predicate that the body changes.
TEST(EngineControlFlow, NestsInLoops) {
  ControlProgram p;
  const Tensor x = p.addHostVariable("x", {128}, 1);
  const Tensor counter = p.addScalar(INT, "counter", 3);
  const Tensor running = p.addScalar(BOOL, "running", 0);
  p.fill(0, x);
  p.program.add(
      Repeat(5, Sequence({countDown(p, counter, running),
                          If(running, p.affine(x, "1", "1"),
                             Sequence({p.affine(x, "1", "100"),
                                       If(running, p.affine(x, "0", "0"),
                                          Sequence())}))})));
  // First run: 2 counts while running, 3 counts after. The second run starts
  // with x = 0 and a counter below zero.
  EXPECT_EQ(runEverywhere(p)[0][127], 500);
}

TEST(EngineControlFlow, FunctionsRunWhereTheyAreCalled) {
  for (const int programs : {1, 50}) { // put in place, and called
    ControlProgram p;
    const Tensor x = p.addHostVariable("x", {16}, 1);
    Sequence body;
    for (int i = 0; i < programs; ++i) {
      body.add(p.affine(x, "1", "1"));
    }
    const Function inner = p.graph.addFunction(body);
    const Function outer = p.graph.addFunction(
        Sequence({Call(inner), p.affine(x, "2", "0"), Call(inner)}));
    p.fill(0, x);
    p.program.add(Call(outer));
    p.program.add(Repeat(2, Call(inner)));
    EXPECT_EQ(runEverywhere(p)[0][0], static_cast<float>(5 * programs));
  }
}

TEST(EngineControlFlow, AbortEndsTheRunWithItsMessage) {
  for (const char *executor : {"reference", "fast"}) {
    const test::Environment name("ASPEN_EXECUTOR", executor);
    ControlProgram p;
    const Tensor x = p.addHostVariable("x", {2}, 1);
    const Tensor flag = p.addScalar(BOOL, "flag", 0);
    Engine engine(p.graph,
                  {Sequence({p.affine(x, "0", "7"), Abort("told to stop")}),
                   AbortOnCondition(flag, "flag is up"),
                   ErrorProgram("bad tensor", x)});
    engine.load(p.device());
    expectError<application_runtime_error>([&] { engine.run(0); },
                                           "told to stop");
    EXPECT_EQ(p.read(engine)[0][1], 7);
    engine.run(1);
    const bool isUp = true;
    engine.writeTensor("flag", &isUp, &isUp + 1);
    expectError<application_runtime_error>([&] { engine.run(1); },
                                           "flag is up");
    std::ostringstream printed;
    engine.setPrintTensorStream(printed);
    expectError<application_runtime_error>([&] { engine.run(2); },
                                           "bad tensor");
    EXPECT_EQ(printed.str(), "bad tensor: [7.0000000 7.0000000]\n");
    const bool isDown = false;
    engine.writeTensor("flag", &isDown, &isDown + 1);
    engine.run(1); // the engine is as usable as before
  }
}

// The stream's callback, which the loop runs into, stops the engine.
TEST(EngineControlFlow, EndlessLoopsEndWhenTheEngineIsStopped) {
  ControlProgram p;
  const Tensor x = p.addHostVariable("x", {256}, 1);
  const DataStream out = p.graph.addDeviceToHostFIFO("out", FLOAT, 1);
  p.fill(0, x);
  p.program.add(
      Loop(Sequence({p.affine(x, "1", "1"), Copy(x.slice(0, 1), out)})));
  for (const auto &[executor, threads] :
       {std::pair("reference", "1"), std::pair("fast", "1"),
        std::pair("fast", "3")}) {
    const test::Environment name("ASPEN_EXECUTOR", executor);
    const test::Environment count("ASPEN_THREADS", threads);
    Engine engine = p.makeEngine();
    engine.connectStreamToCallback("out", [&](void *data) {
      if (*static_cast<float *>(data) == 7) {
        engine.stop();
      }
    });
    engine.load(p.device());
    engine.run();
    EXPECT_EQ(p.read(engine)[0][255], 7) << executor;
    engine.run(); // can run again
    EXPECT_EQ(p.read(engine)[0][255], 7) << executor;
  }
}

TEST(EngineControlFlow, PrintsTensorsInTheOrderOfTheProgram) {
  ControlProgram p;
  const Tensor x = p.addHostVariable("x", {2, 2}, 1);
  p.fill(1, x);
  p.program.add(PrintTensor("before", x[0]));
  p.program.add(Repeat(2, Sequence({p.affine(x, "2", "0"),
                                    PrintTensor("row", x.transpose()[0])})));
  for (const char *executor : {"reference", "fast"}) {
    const test::Environment name("ASPEN_EXECUTOR", executor);
    Engine engine = p.makeEngine();
    std::ostringstream printed;
    engine.setPrintTensorStream(printed);
    engine.load(p.device());
    engine.run();
    EXPECT_EQ(printed.str(), "before: [1.0000000 1.0000000]\n"
                             "row: [2.0000000 2.0000000]\n"
                             "row: [4.0000000 4.0000000]\n")
        << executor;
  }
}

TEST(EngineControlFlow, MovesRowsOfRemoteBuffers) {
  ControlProgram p;
  const Tensor x = p.addHostVariable("x", {2, 3}, 1);
  const Tensor y = p.addHostVariable("y", {3}, 2);
  const RemoteBuffer buffer = p.graph.addRemoteBuffer("rows", FLOAT, 3, 4);
  const Tensor offsets =
      p.graph.addConstant<unsigned>(UNSIGNED_INT, {2}, {3, 1});
  const Tensor one = p.graph.addConstant<unsigned>(UNSIGNED_INT, {1}, {1});
  p.graph.setTileMapping(offsets, 0);
  p.graph.setTileMapping(one, 0);
  p.program.add(Copy(x, buffer, offsets));
  p.program.add(Copy(buffer, y.expand({0}), one));
  for (const char *executor : {"reference", "fast"}) {
    const test::Environment name("ASPEN_EXECUTOR", executor);
    Engine engine = p.makeEngine();
    engine.load(p.device());
    engine.run();
    const auto values = p.read(engine);
    std::vector<float> row(3);
    engine.copyFromRemoteBuffer("rows", row.data(), 3);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(values[1][i], values[0][3 + i]) << executor;
      EXPECT_EQ(row[i], values[0][i]) << executor;
    }
  }
}

} // namespace
