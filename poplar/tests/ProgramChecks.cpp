// Programs that cannot work, and the errors that say so when they are built or
// compiled.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include <gtest/gtest.h>

namespace {

using namespace poplar;
using namespace poplar::program;

class ProgramChecks : public testing::Test {
protected:
  Tensor add(const Type &type, const std::vector<std::size_t> &shape,
             const char *name) {
    Tensor tensor = graph.addVariable(type, shape, name);
    graph.setTileMapping(tensor, 0);
    return tensor;
  }
  template <typename Error, typename... Parts>
  void expectRefused(const Program &program, const Parts &...parts) {
    expectError<Error>([&] { compileGraph(graph, {program}); }, parts...);
  }
  void expectAccepted(const Program &program) {
    EXPECT_NO_THROW(compileGraph(graph, {program}));
  }

  Graph graph{Target::createIPUTarget(1, "ipu2")};
  Graph other{Target::createIPUTarget(1, "ipu2")};
  Tensor a = add(FLOAT, {4}, "a");
  Tensor flag = add(BOOL, {}, "flag");
  Tensor number = add(UNSIGNED_INT, {1}, "number");
};

TEST_F(ProgramChecks, OperandsBelongToTheGraphThatIsCompiled) {
  Tensor far = other.addVariable(FLOAT, {4}, "far");
  other.setTileMapping(far, 0);
  expectRefused<control_program_error>(
      Sequence({Copy(far, far, false, "net/copy")}), "'net/copy'",
      "another graph");
  expectRefused<control_program_error>(
      Repeat(2, Execute(other.addComputeSet(), "net/run")), "'net/run'",
      "another graph");
  graph.addHostToDeviceFIFO("in", FLOAT, 4);
  DataStream stream = other.addHostToDeviceFIFO("in", FLOAT, 4);
  expectError<control_program_error>([&] { Copy(stream, a, false, "net/in"); },
                                     "'net/in'", "two graphs");
  expectError<control_program_error>([&] { Copy(a, far, false, "net/mixed"); },
                                     "'net/mixed'", "two graphs");
  expectRefused<control_program_error>(
      If(flag, Call(other.addFunction(Sequence()), "net/call"), Sequence()),
      "'net/call'", "another graph");
}

TEST_F(ProgramChecks, HandlesThatNoGraphMadeAreRefused) {
  expectRefused<control_program_error>(Execute(ComputeSet(), "net/run"),
                                       "'net/run'", "compute set");
  expectRefused<control_program_error>(Execute(ComputeSet(7)), "compute set");
  expectRefused<control_program_error>(Call(Function(), "net/call"),
                                       "'net/call'", "function");
  expectRefused<control_program_error>(Copy(DataStream(), a), "stream");
  expectRefused<control_program_error>(Copy(RemoteBuffer(), a),
                                       "remote buffer");
}

TEST_F(ProgramChecks, InvalidTensorsAreRefusedByEveryProgram) {
  const Tensor none;
  const Sequence body;
  expectError<poplar_error>([&] { If(none, body, body); }, "program::If",
                            "invalid");
  expectError<poplar_error>([&] { Switch{none}; }, "program::Switch");
  expectError<poplar_error>([&] { RepeatWhileTrue(body, none, body); },
                            "RepeatWhileTrue");
  expectError<poplar_error>([&] { RepeatWhileFalse(body, none, body); },
                            "RepeatWhileFalse");
  expectError<poplar_error>([&] { PrintTensor{none}; }, "PrintTensor");
  expectError<poplar_error>([&] { WriteUndef{none}; }, "WriteUndef");
  expectError<poplar_error>([&] { AbortOnCondition{none}; },
                            "AbortOnCondition");
  expectError<poplar_error>([&] { ErrorProgram("", none); }, "ErrorProgram");
  expectError<poplar_error>([&] { CrossReplicaCopy(a, none, {}); },
                            "CrossReplicaCopy");
  expectError<poplar_error>([&] { AssumeEqualAcrossReplicas{none}; },
                            "AssumeEqualAcrossReplicas");
  expectError<poplar_error>([&] { Execute(ComputeSet(0), none); }, "Execute");
}

TEST_F(ProgramChecks, FunctionsDoNotCallThemselves) {
  Function inner = graph.addFunction(Copy(a[0], a[1]));
  Function outer = graph.addFunction(Sequence({Call(inner), Call(inner)}));
  expectAccepted(Sequence({Call(outer), Call(inner)}));
  Function itself = graph.addFunction(Call(Function(2), "net/again"));
  expectRefused<graph_recursion_error>(Call(itself), "'net/again'",
                                       "function 2");
}

TEST_F(ProgramChecks, PredicatesAreOneElement) {
  const Sequence body;
  expectAccepted(If(flag, body, body));
  expectAccepted(RepeatWhileTrue(body, number, body));
  expectAccepted(AbortOnCondition(number[0], "stop"));
  expectRefused<control_program_error>(If(a, body, body, "net/if"), "[If]",
                                       "'net/if'", "float{4}", "'a'", "BOOL");
  expectRefused<control_program_error>(
      RepeatWhileFalse(body, a[0], body, "net/loop"), "[RepeatWhileFalse]",
      "'net/loop'", "float", "'a'");
  expectRefused<control_program_error>(AbortOnCondition(a, "stop", "net/stop"),
                                       "'net/stop'", "'a'");
  expectRefused<control_program_error>(Switch(flag, body, "net/switch"),
                                       "[Switch]", "'net/switch'", "bool",
                                       "'flag'");
  expectRefused<control_program_error>(
      Switch(number, {{1, body}, {1, body}}, "net/switch"), "'net/switch'",
      "two cases for 1");
  expectError<control_program_error>(
      [&] { AbortOnCondition(flag.flatten().slice(0, 0)); }, "no elements");
}

TEST_F(ProgramChecks, TheExitStatusIsABool) {
  ComputeSet computeSet = graph.addComputeSet("step");
  expectAccepted(Execute(computeSet, flag));
  expectRefused<control_program_error>(Execute(computeSet, a[0], "net/run"),
                                       "'net/run'", "BOOL");
  Tensor constant = graph.addConstant(BOOL, {}, true, "yes");
  graph.setTileMapping(constant, 0);
  expectRefused<control_program_error>(Execute(computeSet, constant), "'yes'");
}

TEST_F(ProgramChecks, RowsOfRemoteBuffersFitTheTensor) {
  RemoteBuffer buffer = graph.addRemoteBuffer("far", FLOAT, 4, 8);
  Tensor rows = add(FLOAT, {3, 4}, "rows");
  Tensor offsets = add(UNSIGNED_INT, {3}, "offsets");
  expectAccepted(
      Sequence({Copy(buffer, a), Copy(a, buffer), Copy(buffer, rows, offsets),
                Copy(rows, buffer, offsets)}));
  expectRefused<control_program_error>(Copy(buffer, rows, "net/in"), "'net/in'",
                                       "'far'", "float{3,4}", "1 rows of 4");
  expectRefused<control_program_error>(Copy(a, buffer, offsets, "net/out"),
                                       "'net/out'", "'far'", "3 rows of 4");
  expectRefused<control_program_error>(Copy(buffer, a, add(INT, {1}, "signed")),
                                       "'signed'", "UNSIGNED_INT");
  expectRefused<control_program_error>(
      Copy(buffer, a.slice(0, 1).broadcast(4, 0)), "'a'");
  expectError<poplar_error>([&] { graph.addRemoteBuffer("far", FLOAT, 1); },
                            "'far'");
  expectError<poplar_error>([&] { graph.addRemoteBuffer("none", FLOAT, 1, 0); },
                            "'none'", "0 repeats");
  EXPECT_EQ(buffer.handle(), "far");
  EXPECT_EQ(buffer.numElements(), 4U);
  EXPECT_EQ(buffer.getRepeats(), 8U);
  EXPECT_EQ(buffer.elementType(), FLOAT);
}

TEST_F(ProgramChecks, CrossReplicaCopiesMapEveryReplica) {
  Graph replicated(Target::createIPUTarget(2, "ipu2"), replication_factor(2));
  Tensor x = replicated.addVariable(FLOAT, {4}, "x");
  Tensor y = replicated.addVariable(FLOAT, {4}, "y");
  replicated.setTileMapping(x, 0);
  replicated.setTileMapping(y, 0);
  const auto compile = [&](const std::map<unsigned, unsigned> &replicas) {
    compileGraph(replicated, {CrossReplicaCopy(x, y, replicas, "net/swap")});
  };
  EXPECT_NO_THROW(compile({{0, 1}, {1, 0}}));
  expectError<graph_replication_error>(
      [&] {
        compile({{0, 1}});
      },
      "'net/swap'", "1 replicas", "has 2");
  expectError<graph_replication_error>(
      [&] {
        compile({{0, 1}, {1, 1}});
      },
      "'net/swap'", "replica 1 to 1");
  expectError<graph_replication_error>(
      [&] {
        compile({{0, 1}, {2, 0}});
      },
      "replica 2 to 0");
  expectError<control_program_error>(
      [&] {
        compileGraph(replicated,
                     {CrossReplicaCopy(x, y[0], {{0, 1}, {1, 0}}, "net/swap")});
      },
      "'net/swap'", "4 elements");
}

TEST_F(ProgramChecks, CollectivesGroupEveryReplica) {
  using internal::CollectiveKind;
  using internal::CollectivePlan;
  Graph replicated(Target::createIPUTarget(2, "ipu2"), replication_factor(2));
  Tensor x = replicated.addVariable(FLOAT, {5}, "x");
  Tensor y = replicated.addVariable(FLOAT, {3}, "y");
  replicated.setTileMapping(x, 0);
  replicated.setTileMapping(y, 0);
  const auto compile = [&](const CollectivePlan &plan, const Tensor &to) {
    Sequence program;
    internal::addCollective(program, plan, x, to, "net/sum");
    compileGraph(replicated, {program});
  };
  EXPECT_NO_THROW(compile({.groups = {{0, 1}}}, x));
  EXPECT_NO_THROW(compile({.groups = {{0}, {1}}}, x));
  const CollectivePlan scatter{.kind = CollectiveKind::ReduceScatter,
                               .groups = {{0, 1}}};
  EXPECT_NO_THROW(compile(scatter, y));
  expectError<control_program_error>([&] { compile(scatter, x); }, "'net/sum'",
                                     "3 elements");
  expectError<control_program_error>(
      [&] {
        compile({.kind = CollectiveKind::AllToAll, .groups = {{0, 1}}}, x);
      },
      "'net/sum'", "4 elements");
  expectError<graph_replication_error>([&] { compile({.groups = {{0}}}, x); },
                                       "'net/sum'", "groups 1 replicas");
  expectError<graph_replication_error>(
      [&] {
        compile({.groups = {{0, 0}}}, x);
      },
      "replica 0");
  expectError<graph_replication_error>(
      [&] {
        compile({.groups = {{0, 2}}}, x);
      },
      "replica 2");
  expectError<graph_replication_error>(
      [&] {
        compile({.groups = {{0, 1}}, .root = 2}, x);
      },
      "'net/sum'", "member 2");
}

} // namespace
