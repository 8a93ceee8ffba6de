// Programs as values: copies keep their meaning whatever happens later.
#include "ExpectError.hpp"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

using namespace poplar;
using namespace poplar::program;
using internal::programNode;

namespace {

const std::vector<internal::ProgramPtr> &childrenOf(const Program &program) {
  return std::get<internal::SequenceNode>(programNode(program)->op).children;
}

class ProgramTrees : public testing::Test {
protected:
  Graph graph{Target::createIPUTarget(1, "ipu2")};
  Tensor a = graph.addVariable(FLOAT, {4});
  Tensor b = graph.addVariable(FLOAT, {4});
};

TEST_F(ProgramTrees, AddingToASequenceLeavesEarlierCopiesAlone) {
  Sequence inner;
  inner.add(Copy(a, b));
  Sequence outer;
  outer.add(inner);
  Sequence copy = inner;
  Program sliced = inner;
  inner.add(Copy(b, a));
  EXPECT_EQ(childrenOf(inner).size(), 2U);
  EXPECT_EQ(childrenOf(copy).size(), 1U);
  EXPECT_EQ(childrenOf(sliced).size(), 1U);
  const auto &nested = *childrenOf(outer).at(0);
  EXPECT_EQ(std::get<internal::SequenceNode>(nested.op).children.size(), 1U);
  copy.add(Copy(b, a));
  copy.add(Copy(b, a));
  EXPECT_EQ(childrenOf(copy).size(), 3U);
  EXPECT_EQ(childrenOf(inner).size(), 2U);
}

TEST_F(ProgramTrees, ASequenceMayHoldItsOwnPast) {
  Sequence sequence({Copy(a, b)});
  sequence.add(sequence);
  ASSERT_EQ(childrenOf(sequence).size(), 2U);
  const auto &past = *childrenOf(sequence)[1];
  EXPECT_EQ(std::get<internal::SequenceNode>(past.op).children.size(), 1U);
}

TEST_F(ProgramTrees, MovedFromSequencesStayUsable) {
  Sequence sequence({Copy(a, b)});
  Sequence taken = std::move(sequence);
  sequence.add(Copy(b, a));
  EXPECT_EQ(childrenOf(taken).size(), 1U);
}

TEST_F(ProgramTrees, EmptyProgramsSaySo) {
  EXPECT_TRUE(Program().isEmpty());
  EXPECT_TRUE(Sequence().isEmpty());
  EXPECT_FALSE(Sequence({Sequence()}).isEmpty());
  EXPECT_FALSE(Program(Copy(a, b)).isEmpty());
}

TEST_F(ProgramTrees, NodesCarryOperandsAndPaths) {
  DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 4);
  DataStream out = graph.addDeviceToHostFIFO("out", FLOAT, 4);
  ComputeSet computeSet = graph.addComputeSet("cs");
  Sequence body({Copy(in, a, false, "load"), Execute(computeSet), Copy(a, out),
                 WriteUndef(b)},
                "body");
  Program repeat = Repeat(5, body, "loop");
  const auto &loop = std::get<internal::RepeatNode>(programNode(repeat)->op);
  EXPECT_EQ(loop.count, 5U);
  EXPECT_EQ(programNode(repeat)->debugPath, "loop");
  EXPECT_EQ(loop.body->debugPath, "body");
  const auto &steps = std::get<internal::SequenceNode>(loop.body->op).children;
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0]->debugPath, "load");
  const auto &load = std::get<internal::StreamInNode>(steps[0]->op);
  EXPECT_EQ(load.stream, internal::streamId(in));
  EXPECT_EQ(load.destination, internal::tensorView(a));
  EXPECT_EQ(std::get<internal::ExecuteNode>(steps[1]->op).computeSet,
            internal::computeSetId(computeSet));
  EXPECT_EQ(std::get<internal::StreamOutNode>(steps[2]->op).stream,
            internal::streamId(out));
  EXPECT_EQ(std::get<internal::WriteUndefNode>(steps[3]->op).view,
            internal::tensorView(b));
}

TEST_F(ProgramTrees, StreamsGoOneWay) {
  DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 4);
  DataStream out = graph.addDeviceToHostFIFO("out", FLOAT, 4);
  expectError<control_program_error>([&] { Copy(a, in); }, "'in'",
                                     "destination");
  expectError<control_program_error>([&] { Copy(out, a); }, "'out'", "source");
  expectError<poplar_error>([&] { Copy(Tensor(), a); }, "invalid");
}

template <typename Op> const Op &opOf(const Program &program) {
  return std::get<Op>(programNode(program)->op);
}

TEST_F(ProgramTrees, LoopsAndBranchesKeepTheirParts) {
  Tensor flag = graph.addVariable(BOOL, {});
  Sequence body({Copy(a, b)}, "body");
  Sequence test({}, "test");
  Program loop = RepeatWhileTrue(test, flag, body);
  const auto &whileTrue = opOf<internal::WhileNode>(loop);
  EXPECT_TRUE(whileTrue.continuesOn);
  EXPECT_EQ(whileTrue.condition, programNode(test));
  EXPECT_EQ(whileTrue.body, programNode(body));
  EXPECT_EQ(whileTrue.predicate, internal::tensorView(flag));
  EXPECT_FALSE(opOf<internal::WhileNode>(RepeatWhileFalse(test, flag, body))
                   .continuesOn);
  Program branch = If(flag, body, test);
  EXPECT_EQ(opOf<internal::IfNode>(branch).thenBody, programNode(body));
  EXPECT_EQ(opOf<internal::IfNode>(branch).elseBody, programNode(test));
  EXPECT_EQ(opOf<internal::RepeatNode>(Loop(body)).count,
            internal::RepeatNode::forever);
  EXPECT_EQ(opOf<internal::BlockNode>(Block(body, "stage")).body,
            programNode(body));
  Function function = graph.addFunction(body);
  EXPECT_EQ(opOf<internal::CallNode>(Call(function)).function.index(),
            function.getId());
  EXPECT_EQ(internal::graphData(graph).functions.at(function.getId()),
            programNode(body));
}

TEST_F(ProgramTrees, AddingToASwitchLeavesEarlierCopiesAlone) {
  Tensor control = graph.addVariable(INT, {});
  Sequence body({Copy(a, b)});
  Switch cases(control, body, "choose");
  Switch copy = cases;
  cases.add(-1, body).add(4, Sequence());
  const auto &node = opOf<internal::SwitchNode>(cases);
  ASSERT_EQ(node.cases.size(), 2U);
  EXPECT_EQ(node.cases[0].first, -1);
  EXPECT_EQ(node.cases[0].second, programNode(body));
  EXPECT_EQ(node.defaultBody, programNode(body));
  EXPECT_TRUE(opOf<internal::SwitchNode>(copy).cases.empty());

  Program plain = Switch(control, {{0, body}, {1, body}});
  EXPECT_EQ(opOf<internal::SwitchNode>(plain).cases.size(), 2U);
  Program checked =
      Switch::switchWithBoundsChecking(control, {{0, body}}, "choose");
  const auto &outside = *opOf<internal::SwitchNode>(checked).defaultBody;
  EXPECT_NE(std::get<internal::AbortNode>(outside.op).message.find("'choose'"),
            std::string::npos);
  Switch open = Switch::switchWithUnreachableDefault(control);
  open.add(3, body);
  EXPECT_EQ(opOf<internal::SwitchNode>(open).cases.size(), 1U);
}

TEST_F(ProgramTrees, MessagesAndTitlesAreKept) {
  PrintTensorFmt format(10, 2);
  Program print = PrintTensor("title", a, format, "path");
  EXPECT_EQ(opOf<internal::PrintTensorNode>(print).title, "title");
  EXPECT_EQ(opOf<internal::PrintTensorNode>(print).format.edgeItems(), 2U);
  EXPECT_EQ(programNode(print)->debugPath, "path");
  EXPECT_EQ(opOf<internal::PrintTensorNode>(PrintTensor(a)).title, "");
  EXPECT_EQ(
      opOf<internal::PrintTensorNode>(PrintTensor("title", a, "path")).title,
      "title");
  EXPECT_EQ(opOf<internal::AbortNode>(Abort("why")).message, "why");
  EXPECT_EQ(opOf<internal::AbortNode>(Abort()).message, "");
  EXPECT_FALSE(
      internal::isPresent(opOf<internal::AbortNode>(Abort()).condition));
  Program abort = AbortOnCondition(a[0], "why");
  EXPECT_EQ(opOf<internal::AbortNode>(abort).message, "why");
  EXPECT_TRUE(internal::isPresent(opOf<internal::AbortNode>(abort).condition));
  EXPECT_EQ(opOf<internal::ErrorNode>(ErrorProgram("why", a)).message, "why");
  EXPECT_EQ(opOf<internal::SyncNode>(Sync(SyncType::GLOBAL)).type,
            SyncType::GLOBAL);
  EXPECT_TRUE(AssumeEqualAcrossReplicas(a).isEmpty());
}

TEST_F(ProgramTrees, ManyProgramsAreAddedAtOnce) {
  Sequence sequence;
  sequence.add_many(Copy(a, b), Sequence(), Repeat(2, Copy(b, a)));
  ASSERT_EQ(childrenOf(sequence).size(), 3U);
  EXPECT_EQ(std::get<internal::RepeatNode>(childrenOf(sequence)[2]->op).count,
            2U);
}

} // namespace
