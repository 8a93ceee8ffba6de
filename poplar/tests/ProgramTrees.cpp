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

} // namespace
