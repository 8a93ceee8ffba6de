// What single passes do to small value programs, seen in their text, and that
// the verifier notices broken rules.
#include "LiftedProgram.hpp"

#include "compiler/Pipeline.hpp"
#include "compiler/Print.hpp"
#include "compiler/Verify.hpp"
#include "compiler/passes/AssembleSums.hpp"
#include "compiler/passes/EliminateDeadCode.hpp"
#include "compiler/passes/ForwardCopies.hpp"
#include "compiler/passes/FuseElementwise.hpp"
#include "compiler/passes/FuseEpilogues.hpp"
#include "compiler/passes/FusePoolActivations.hpp"
#include "compiler/passes/ReadDropped.hpp"
#include "compiler/passes/ResolveHazards.hpp"
#include "compiler/passes/StoreTransposed.hpp"

#include <support/Error.hpp>

#include <gtest/gtest.h>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using poplar::test::EngineProgram;
using poplar::test::lifted;

// The operations of the program and its loops, in order.
std::string operations(const Region &region) {
  std::string text;
  for (const Node &node : region.nodes) {
    switch (node.op) {
    case NodeOp::Kernel:
      text += std::string(node.kind->name) + " ";
      break;
    case NodeOp::Copy:
      text += "copy ";
      break;
    case NodeOp::Loop:
      text += "( " + operations(node.loop->body) + ") ";
      break;
    default:
      text += "stream ";
      break;
    }
  }
  return text;
}

TEST(Lift, GivesTemporariesNoBindingAndCarriesWhatLoopsChange) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const Tensor t = p.addTemporary("t", {4});
  p.repeat(3, [&] {
    p.elementwise("a+1", {x}, t);
    p.elementwise("a*2", {t}, x);
  });
  ValueProgram program = lifted(p);
  ASSERT_EQ(program.bindings.size(), 1U);
  const Loop &loop = *program.body.nodes.at(0).loop;
  ASSERT_EQ(loop.carried.size(), 2U);
  EXPECT_TRUE(loop.carried[0].argument.isValid());
  EXPECT_FALSE(loop.carried[1].argument.isValid());
  verify(program, "lift");
}

TEST(PassEliminateDeadCode, DropsWhatNothingObserves) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const Tensor t = p.addTemporary("t", {4});
  p.repeat(3, [&] {
    p.elementwise("a+1", {x}, x);
    p.fill(0, t);
    p.elementwise("a+b", {t, x}, t);
  });
  ValueProgram program = lifted(p);
  eliminateDeadCode(program);
  EXPECT_EQ(operations(program.body), "( elementwise ) ");
  EXPECT_EQ(program.body.nodes[0].loop->carried.size(), 1U);
}

TEST(PassForwardCopies, SeesThroughCopiesUntilTheirSourceChanges) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 3}, 1);
  const Tensor y = p.addHostVariable("y", {3, 4}, 2);
  const Tensor t = p.addTemporary("t", {3, 4});
  p.copy(x.transpose(), t);
  p.elementwise("a+b", {t, y}, y);
  ValueProgram before = lifted(p);
  forwardCopies(before);
  eliminateDeadCode(before);
  EXPECT_EQ(operations(before.body), "elementwise ");
  EXPECT_EQ(before.body.nodes[0].inputs[0].strides, (support::Strides{1, 3}));

  p.elementwise("a*2", {x}, x);
  p.elementwise("a+b", {t, y}, y); // must still see the old x
  ValueProgram after = lifted(p);
  forwardCopies(after);
  eliminateDeadCode(after);
  EXPECT_EQ(operations(after.body),
            "copy elementwise elementwise elementwise ");
  verify(after, "forwardCopies");
}

TEST(PassForwardResults, WritesStraightIntoTheVariable) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const Tensor all = p.addHostVariable("all", {8}, 2);
  const Tensor t = p.addTemporary("t", {4});
  p.elementwise("a+1", {x}, t);
  p.copy(t, all.slice(4, 8));
  ValueProgram program = lifted(p);
  forwardResults(program);
  EXPECT_EQ(operations(program.body), "elementwise ");
  EXPECT_EQ(program.body.nodes[0].outputs[0].window.offset, 4);
  verify(program, "forwardResults");
}

TEST(PassFuseElementwise, JoinsChainsButKeepsWhatOthersRead) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const Tensor y = p.addHostVariable("y", {4}, 1);
  const Tensor t = p.addTemporary("t", {4});
  const Tensor u = p.addTemporary("u", {4});
  p.elementwise("a*3", {x}, t);
  p.elementwise("a+1", {t}, u);
  p.elementwise("a-b", {u, x}, y);
  ValueProgram joined = lifted(p);
  fuseElementwise(joined);
  EXPECT_EQ(operations(joined.body), "elementwise ");
  EXPECT_EQ(joined.body.nodes[0].inputs.size(), 1U);

  p.elementwise("a+b", {t, x}, x);
  ValueProgram kept = lifted(p);
  fuseElementwise(kept);
  EXPECT_EQ(operations(kept.body), "elementwise elementwise elementwise ");
}

TEST(PassFuseEpilogues, MovesBiasAndReluIntoTheProduct) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 6}, 1);
  const Tensor w = p.addHostVariable("w", {6, 5}, 2);
  const Tensor bias = p.addHostVariable("bias", {5}, 3);
  const Tensor y = p.addHostVariable("y", {4, 5}, 0);
  const Tensor t = p.addTemporary("t", {4, 5});
  p.matmul(x, w, t);
  p.elementwise("a+b", {bias.expand({0}).broadcast(4, 0), t}, t);
  p.elementwise("relu(a)", {t}, y);
  ValueProgram program = lifted(p);
  fuseEpilogues(program);
  EXPECT_EQ(operations(program.body), "matmul ");
  const Node &node = program.body.nodes[0];
  EXPECT_EQ(node.attributes.getString("activation"), "RELU");
  ASSERT_EQ(node.inputs.size(), 3U);
  EXPECT_EQ(node.inputs[2].shape, (support::Shape{5}));
  verify(program, "fuseEpilogues");
}

// As linear layers over batches of sequences write it.
TEST(PassFuseEpilogues, MovesThemIntoAProductOfAnotherShape) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {6, 4}, 1);
  const Tensor w = p.addHostVariable("w", {4, 5}, 2);
  const Tensor bias = p.addHostVariable("bias", {5}, 3);
  const Tensor y = p.addHostVariable("y", {2, 3, 5}, 0);
  const Tensor t = p.addTemporary("t", {6, 5});
  const Tensor u = p.addTemporary("u", {2, 3, 5});
  p.matmul(x, w, t);
  p.elementwise("a+b",
                {t.reshape({2, 3, 5}),
                 bias.reshape({1, 1, 5}).broadcast(2, 0).broadcast(3, 1)},
                u);
  p.elementwise("relu(a)", {u}, y);
  ValueProgram program = lifted(p);
  fuseEpilogues(program);
  EXPECT_EQ(operations(program.body), "matmul ");
  EXPECT_EQ(program.body.nodes[0].outputs[0].window.shape,
            (support::Shape{6, 5}));
  verify(program, "fuseEpilogues");
  EXPECT_EQ(p.run("fast", 2), p.run("reference", 1));
}

// The gradient of a tensor that was cut in two along its second dimension.
EngineProgram makeParts(std::size_t secondBegin) {
  EngineProgram p;
  const Tensor left = p.addHostVariable("left", {3, 2, 4}, 1);
  const Tensor right = p.addHostVariable("right", {4, 3, 3}, 2);
  const Tensor y = p.addHostVariable("y", {3, 5, 4}, 3);
  const Tensor a = p.addTemporary("a", {3, 5, 4});
  const Tensor b = p.addTemporary("b", {3, 5, 4});
  p.fill(0, a);
  p.copy(left, a.slice(0, 2, 1));
  p.fill(0, b);
  p.copy(right.dimShuffle({1, 2, 0}), b.slice(secondBegin, secondBegin + 3, 1));
  p.elementwise("a+b", {a, b}, y);
  return p;
}

TEST(PassAssembleSums, CopiesPartsThatMeet) {
  const EngineProgram p = makeParts(2);
  ValueProgram program = lifted(p);
  assembleSums(program);
  eliminateDeadCode(program);
  EXPECT_EQ(operations(program.body), "copy copy copy ");
  verify(program, "assembleSums");
  EXPECT_EQ(p.run("fast", 2), p.run("reference", 1));
}

TEST(PassAssembleSums, AddsPartsThatOverlap) {
  const EngineProgram p = makeParts(1);
  ValueProgram program = lifted(p);
  assembleSums(program);
  EXPECT_EQ(operations(program.body), "fill copy fill copy elementwise ");
  EXPECT_EQ(p.run("fast", 2), p.run("reference", 1));
}

// dropout(relu(x)) and its gradient, whose mask is drawn by another modifier
// where it is not the same.
EngineProgram makeDropped(bool isSameMask) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 50}, 1);
  const Tensor g = p.addHostVariable("g", {4, 50}, 2);
  const Tensor y = p.addHostVariable("y", {4, 50}, 3);
  const Tensor dx = p.addHostVariable("dx", {4, 50}, 4);
  const Tensor words = p.graph.addConstant<unsigned>(UNSIGNED_INT, {2}, {7, 9});
  p.graph.setTileMapping(words, 0);
  const auto drop = [&](const Tensor &from, std::int64_t modifier,
                        const Tensor &to) {
    const Tensor seed = p.graph.addVariable(UNSIGNED_INT, {2});
    p.graph.setTileMapping(seed, 0);
    p.copy(words.slice(0, 1), seed.slice(0, 1));
    p.copy(words.slice(1, 2), seed.slice(1, 2));
    p.add("dropout",
          {{"keepProbability", 0.5}, {"scale", 2.0}, {"modifier", modifier}},
          {from, seed}, {to});
  };
  const Tensor relu = p.addTemporary("relu", {4, 50});
  const Tensor gradient = p.addTemporary("gradient", {4, 50});
  p.elementwise("relu(a)", {x}, relu);
  drop(relu, 3, y);
  drop(g, isSameMask ? 3 : 4, gradient);
  p.elementwise("a*step(b)", {gradient, relu}, dx);
  return p;
}

TEST(PassReadDropped, TakesTheSignFromWhatWasKept) {
  for (const bool isSameMask : {true, false}) {
    const EngineProgram p = makeDropped(isSameMask);
    ValueProgram program = lifted(p);
    readDropped(program);
    const Node &first = program.body.nodes.front();
    const Node &last = program.body.nodes.back();
    EXPECT_EQ(last.inputs[1].value == first.outputs[0].window.value,
              !isSameMask);
    verify(program, "readDropped");
    EXPECT_EQ(p.run("fast", 2), p.run("reference", 1));
  }
}

// A pool with a RELU before or after it, and the gradients of both.
EngineProgram makePool(bool isReluFirst) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {2, 3, 4, 4}, 1);
  const Tensor dy = p.addHostVariable("dy", {2, 3, 2, 2}, 2);
  const Tensor dx = p.addHostVariable("dx", {2, 3, 4, 4}, 3);
  const Tensor y = p.addHostVariable("y", {2, 3, 2, 2}, 4);
  const Tensor indices = p.graph.addVariable(UNSIGNED_CHAR, {2, 3, 2, 2});
  p.graph.setTileMapping(indices, 0);
  using Ints = kernels::Attributes::Ints;
  kernels::Attributes pool = {{"kernel", Ints{2, 2}},
                              {"strides", Ints{2, 2}},
                              {"padLower", Ints{0, 0}},
                              {"padUpper", Ints{0, 0}},
                              {"activation", std::string()}};
  kernels::Attributes gradient = pool;
  gradient.set("inputShape", Ints{2, 3, 4, 4});
  if (isReluFirst) {
    const Tensor relu = p.addTemporary("relu", {2, 3, 4, 4});
    const Tensor unpooled = p.addTemporary("unpooled", {2, 3, 4, 4});
    p.elementwise("relu(a)", {x}, relu);
    p.add("maxPool", pool, {relu}, {y, indices});
    p.add("maxPoolGrad", gradient, {dy, indices}, {unpooled});
    p.elementwise("a*step(b)", {unpooled, relu}, dx);
  } else {
    const Tensor pooled = p.addTemporary("pooled", {2, 3, 2, 2});
    const Tensor masked = p.addTemporary("masked", {2, 3, 2, 2});
    p.add("maxPool", pool, {x}, {pooled, indices});
    p.elementwise("relu(a)", {pooled}, y);
    p.elementwise("a*step(b)", {dy, y}, masked);
    p.add("maxPoolGrad", gradient, {masked, indices}, {dx});
  }
  return p;
}

TEST(PassFusePoolActivations, LeavesTheReluAndItsGradientToThePool) {
  for (bool isReluFirst : {false, true}) {
    const EngineProgram p = makePool(isReluFirst);
    ValueProgram program = lifted(p);
    fusePoolActivations(program);
    EXPECT_EQ(operations(program.body), isReluFirst
                                            ? "elementwise maxPool maxPoolGrad "
                                            : "maxPool maxPoolGrad ");
    verify(program, "fusePoolActivations");
    EXPECT_EQ(p.run("fast", 2), p.run("reference", 1));
  }
}

TEST(PassStoreTransposed, LetsReadersReadInOrder) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {6, 3}, 1);
  const Tensor dy = p.addHostVariable("dy", {6, 4}, 2);
  const Tensor w = p.addHostVariable("w", {4, 3}, 3);
  const Tensor gradient = p.addTemporary("gradient", {3, 4});
  p.matmul(x.transpose(), dy, gradient);
  p.elementwise("a-b", {w, gradient.transpose()}, w);
  ValueProgram program = lifted(p);
  storeTransposed(program);
  EXPECT_EQ(program.body.nodes[0].outputs[0].window.strides,
            (support::Strides{1, 3}));
  EXPECT_EQ(program.body.nodes[1].inputs[1].strides, (support::Strides{3, 1}));
  verify(program, "storeTransposed");
}

TEST(PassResolveHazards, CopiesOperandsThatTheNodeOverwrites) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 4}, 1);
  const Tensor y = p.addHostVariable("y", {4, 4}, 2);
  p.elementwise("a+1", {x}, x);                // in place
  p.elementwise("a+b", {y, y.transpose()}, y); // only in part
  ValueProgram program = lifted(p);
  resolveHazards(program);
  EXPECT_EQ(operations(program.body), "elementwise copy elementwise ");
  verify(program, "resolveHazards");
}

// Six results, each read transposed by the next: no two can be in one place.
// No kernel for sums along a dimension takes a column that is repeated.
TEST(PassChooseKernels, WritesRepeatedOperandsOutForAFastKernel) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {5, 1}, 1);
  const Tensor y = p.addHostVariable("y", {5, 7}, 2);
  p.add("cumulate",
        {{"dim", std::int64_t{1}},
         {"op", std::string("ADD")},
         {"exclusive", std::int64_t{0}},
         {"reverse", std::int64_t{0}}},
        {x.broadcast(7, 1)}, {y});
  ValueProgram program = lifted(p);
  runPasses(program, {});
  EXPECT_EQ(operations(program.body), "copy cumulate ");
  EXPECT_STREQ(program.body.nodes.at(1).kernelName, "columns");
  EXPECT_EQ(p.run("fast", 2), p.run("reference", 1));
}

TEST(PassVerify, NoticesAReadOfAnOverwrittenValue) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const Tensor y = p.addHostVariable("y", {4}, 2);
  p.elementwise("a+1", {x}, x.slice(0, 4));
  p.elementwise("a*2", {x}, y);
  ValueProgram program = lifted(p);
  verify(program, "lift");
  // Let the second node read x as it was before the first.
  program.body.nodes[1].inputs[0].value = program.body.nodes[0].inputs[0].value;
  EXPECT_THROW(verify(program, "a broken pass"), support::InternalError);
}

TEST(PassPipeline, GivesTheSameValuesWithoutAnyOnePass) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 4}, 1);
  const Tensor w = p.addHostVariable("w", {4, 4}, 2);
  const Tensor t = p.addTemporary("t", {4, 4});
  const Tensor u = p.addTemporary("u", {4, 4});
  p.repeat(2, [&] {
    p.copy(x.transpose(), t);
    p.matmul(t, w, u);
    p.elementwise("relu(a)", {u}, u);
    p.elementwise("a-8*floor(a*0.125)", {u}, u);
    p.copy(u, x);
  });
  const EngineProgram::Values expected = p.run("reference", 1);
  for (const std::string &pass : passNames()) {
    const test::Environment disabled("ASPEN_DISABLE_PASSES", pass);
    EXPECT_EQ(p.run("fast", 2), expected) << "without " << pass;
  }
}

} // namespace
