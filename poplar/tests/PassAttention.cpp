// What the engine's compiler does to attention: heads are read where they are,
// and products with a softmax between them become one.
#include "LiftedProgram.hpp"

#include "compiler/Rewrite.hpp"
#include "compiler/Verify.hpp"
#include "compiler/Windows.hpp"
#include "compiler/passes/EliminateDeadCode.hpp"
#include "compiler/passes/ForwardCopies.hpp"
#include "compiler/passes/FuseAttention.hpp"
#include "compiler/passes/SplitGroups.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using poplar::test::EngineProgram;
using poplar::test::lifted;

std::string operations(Region &region) {
  std::string text;
  forEachNode(region, [&](const Node &node) {
    text += node.op == NodeOp::Kernel ? std::string(node.kind->name) : "copy";
    text += " ";
  });
  return text;
}

void expectSameValues(const EngineProgram &p) {
  const EngineProgram::Values wanted = p.run("reference", 1);
  const EngineProgram::Values values = p.run("fast", 2);
  EXPECT_EQ(values, p.run("fast", 1));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t j = 0; j < wanted[i].size(); ++j) {
      EXPECT_NEAR(values[i][j], wanted[i][j], 1e-5) << i << ", " << j;
    }
  }
}

// Two heads of five queries and six keys, four wide; results are three wide.
class AttentionProgram : public EngineProgram {
public:
  const Tensor q = addHostVariable("q", {2, 5, 4}, 1);
  const Tensor k = addHostVariable("k", {2, 6, 4}, 2);
  const Tensor v = addHostVariable("v", {2, 6, 3}, 3);
  const Tensor y = addHostVariable("y", {2, 5, 3}, 4);
  const Tensor root = addHostVariable("root", {1}, 5);
  const Tensor mask = addHostVariable("mask", {6}, 5);
  const Tensor scores = addTemporary("scores", {2, 5, 6});
  const Tensor weights = addTemporary("weights", {2, 5, 6});

  Tensor rootLike(const Tensor &x) const {
    Tensor wide = root.broadcast(static_cast<unsigned>(x.numElements()), 0);
    return wide.reshape(x.shape());
  }
  void multiplyKeys(const Tensor &queries) {
    matmul(queries, k.dimShuffle({0, 2, 1}), scores);
  }
  void mixValues() {
    add("softmax", {}, {scores.reshape({10, 6})}, {weights.reshape({10, 6})});
    matmul(weights, v, y);
  }

  std::string fused() const {
    ValueProgram values = lifted(*this);
    fuseAttention(values);
    verify(values, "fuseAttention");
    return operations(values.body);
  }
};

TEST(PassFuseAttention, TakesScaledQueries) {
  AttentionProgram p;
  const Tensor scaled = p.addTemporary("scaled", {2, 5, 4});
  p.elementwise("a/b", {p.q, p.rootLike(p.q)}, scaled);
  p.multiplyKeys(scaled);
  p.mixValues();
  EXPECT_EQ(p.fused(), "attention ");
  expectSameValues(p);
}

TEST(PassFuseAttention, TakesScaledAndMaskedScores) {
  AttentionProgram p;
  p.multiplyKeys(p.q);
  p.elementwise("a*b", {p.scores, p.rootLike(p.scores)}, p.scores);
  p.elementwise("a+b", {p.mask.broadcast(10, 0).reshape({2, 5, 6}), p.scores},
                p.scores);
  p.mixValues();
  EXPECT_EQ(p.fused(), "attention ");
  expectSameValues(p);
}

TEST(PassFuseAttention, LeavesScoresThatSomebodyReads) {
  AttentionProgram p;
  p.multiplyKeys(p.q);
  p.mixValues();
  const Tensor kept = p.addHostVariable("kept", {2, 5, 6}, 7);
  p.elementwise("a+b", {p.weights, kept}, kept);
  EXPECT_EQ(p.fused(), "matmul softmax matmul elementwise ");
  expectSameValues(p);
}

// What is masked first and scaled then is another number, and so are queries
// that have changed by the time when values are mixed.
TEST(PassFuseAttention, LeavesWhatIsNotTheSame) {
  AttentionProgram masked;
  masked.multiplyKeys(masked.q);
  masked.elementwise(
      "a+b", {masked.scores, masked.mask.broadcast(10, 0).reshape({2, 5, 6})},
      masked.scores);
  masked.elementwise("a*b", {masked.scores, masked.rootLike(masked.scores)},
                     masked.scores);
  masked.mixValues();
  EXPECT_EQ(masked.fused(), "matmul elementwise elementwise softmax matmul ");

  AttentionProgram changed;
  changed.multiplyKeys(changed.q);
  changed.elementwise("a+1", {changed.q}, changed.q);
  changed.mixValues();
  EXPECT_EQ(changed.fused(), "matmul elementwise softmax matmul ");
  expectSameValues(changed);
}

// Batch and heads are one dimension of groups, as torch has them; the sequence
// comes first in memory.
class HeadsProgram : public EngineProgram {
public:
  static constexpr std::size_t batch = 3, heads = 2, length = 5, size = 4;
  const Tensor x = addHostVariable("x", {length, batch, heads *size}, 1);
  const Tensor y = addHostVariable("y", {batch, length, heads *size}, 2);

  // [batch * heads, length, size], copied since it is no one view.
  Tensor split(const std::string &name) {
    const Tensor copied = addTemporary(name, {batch, heads, length, size});
    copy(x.reshape({length, batch, heads, size}).dimShuffle({1, 2, 0, 3}),
         copied);
    return copied.reshape({batch * heads, length, size});
  }
  void merge(const Tensor &result) {
    copy(result.reshape({batch, heads, length, size}).dimShuffle({0, 2, 1, 3}),
         y.reshape({batch, length, heads, size}));
  }
};

std::string operationsWithoutCopies(const EngineProgram &p) {
  ValueProgram values = lifted(p);
  splitGroups(values);
  verify(values, "splitGroups");
  forwardCopies(values);
  eliminateDeadCode(values);
  forwardResults(values);
  verify(values, "forwardResults");
  return operations(values.body);
}

TEST(PassSplitGroups, LetsProductsReadAndWriteHeadsWhereTheyAre) {
  HeadsProgram p;
  const Tensor scores = p.addTemporary("scores", {6, 5, 5});
  const Tensor mixed = p.addTemporary("mixed", {6, 5, 4});
  p.matmul(p.split("q"), p.split("k").dimShuffle({0, 2, 1}), scores);
  p.matmul(scores, p.split("v"), mixed);
  p.merge(mixed);
  EXPECT_EQ(operationsWithoutCopies(p), "matmul matmul ");
  expectSameValues(p);
}

TEST(PassSplitGroups, CutsElementwiseNodesAlike) {
  HeadsProgram p;
  const Tensor doubled = p.addTemporary("doubled", {6, 5, 4});
  p.elementwise("a*2", {p.split("q")}, doubled);
  p.merge(doubled);
  EXPECT_EQ(operationsWithoutCopies(p), "elementwise ");
  expectSameValues(p);
}

TEST(Windows, AreReshapedWhereOneWindowCan) {
  const Window rows = {ValueId(0), 7, {2, 3, 4}, {100, 4, 1}};
  const auto joined = reshaped(rows, {2, 1, 12});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->strides, (support::Strides{100, 0, 1}));
  EXPECT_EQ(joined->offset, 7);
  const auto cut = reshaped(rows, {2, 3, 2, 2});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->strides, (support::Strides{100, 4, 2, 1}));
  EXPECT_FALSE(reshaped(rows, {6, 4}));
  EXPECT_FALSE(reshaped(rows, {2, 3}));
  EXPECT_FALSE(reshaped(rows, {2, 3, 4, 2}));
}

} // namespace
