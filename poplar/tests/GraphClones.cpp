// Clones and the order of elements in memory.
#include "ExpectError.hpp"

#include <poplar/Graph.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace poplar;
using Method = TensorCloneMethod;

class GraphClones : public testing::Test {
protected:
  Graph graph{Target::createIPUTarget(1, 16, "ipu2")};

  // Element i on tile i * tiles / elements.
  Tensor addSpread(const std::vector<std::size_t> &shape) {
    return graph.addVariable(FLOAT, shape, VariableMappingMethod::LINEAR);
  }
  // (variable, element) of every element, in the tensor's order.
  std::vector<std::pair<unsigned, std::size_t>> places(const Tensor &tensor) {
    std::vector<std::pair<unsigned, std::size_t>> result;
    for (const VariableInterval &region : tensor.getVarRegions()) {
      for (std::size_t i = region.interval.begin(); i < region.interval.end();
           ++i) {
        result.emplace_back(region.var.getId(), i);
      }
    }
    return result;
  }
  // Whether equal elements of one are equal elements of the other.
  bool haveSameAliases(const Tensor &a, const Tensor &b) {
    const auto left = places(a), right = places(b);
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if ((left[i] == left[j]) != (right[i] == right[j])) {
          return false;
        }
      }
    }
    return left.size() == right.size();
  }
  // Whether elements follow each other in memory as in the original.
  bool haveSameOrder(const Tensor &a, const Tensor &b) {
    const auto left = places(a), right = places(b);
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if ((left[i] < left[j]) != (right[i] < right[j])) {
          return false;
        }
      }
    }
    return true;
  }
  void expectClone(const Tensor &original, const Tensor &clone) {
    EXPECT_EQ(clone.shape(), original.shape());
    EXPECT_EQ(graph.getTileMapping(clone), graph.getTileMapping(original));
    EXPECT_FALSE(clone.intersectsWith(original));
  }
};

TEST_F(GraphClones, KeepMappingOrderAndAliasesAsAsked) {
  Tensor a = addSpread({4, 6});
  Tensor b = addSpread({6});
  const std::vector<Tensor> tensors = {
      a,
      a.transpose(),
      a.slice(1, 3, 1),
      concat(b.expand({0}), a),
      concat(a[3], b).reverse(0),
      b.expand({0}).broadcast(3, 0),
      a[1].expand({1}).broadcast(2, 1).flatten(),
      concat({b, a[0], b.slice(2, 5)}),
      a[0].slice(2, 2)};
  for (const Tensor &t : tensors) {
    SCOPED_TRACE(t.getDebugStr());
    Tensor fresh = graph.clone(t, "fresh", Method::CREATE_NEW_ORDER);
    expectClone(t, fresh);
    EXPECT_TRUE(fresh.isContiguous());

    Tensor usual = graph.clone(t);
    expectClone(t, usual);
    EXPECT_FALSE(usual.containsAliases());
    EXPECT_TRUE(t.containsAliases() ? usual.isContiguous()
                                    : haveSameOrder(t, usual));

    Tensor same = graph.clone(t, "same", Method::PRESERVE_ORDER_AND_ALIASES);
    expectClone(t, same);
    EXPECT_TRUE(haveSameAliases(t, same));
    EXPECT_TRUE(haveSameOrder(t, same));

    Tensor gathered = graph.clone(
        t, "gathered", Method::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES);
    expectClone(t, gathered);
    EXPECT_TRUE(haveSameAliases(t, gathered));
  }
}

TEST_F(GraphClones, GatherWhatIsOnATile) {
  Tensor a = graph.addVariable(FLOAT, {6});
  for (unsigned i = 0; i < 6; ++i) {
    graph.setTileMapping(a[i], i % 2);
  }
  Tensor gathered = graph.clone(
      HALF, a, "gathered", Method::GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES);
  EXPECT_EQ(gathered.elementType(), HALF);
  std::vector<std::size_t> elements;
  for (const auto &place : places(gathered)) {
    elements.push_back(place.second);
  }
  EXPECT_EQ(elements, (std::vector<std::size_t>{0, 3, 1, 4, 2, 5}));
}

TEST_F(GraphClones, ManyStandSideBySide) {
  Tensor a = addSpread({3, 4}).transpose();
  Tensor clones = graph.cloneN(a, 5, "clones");
  ASSERT_EQ(clones.shape(), (std::vector<std::size_t>{5, 4, 3}));
  EXPECT_FALSE(clones.containsAliases());
  for (std::size_t i = 0; i < 5; ++i) {
    expectClone(a, clones[i]);
    EXPECT_TRUE(haveSameOrder(a, clones[i]));
  }
  expectError<poplar_error>([&] { graph.cloneN(a, 0); }, "0 clones");
}

TEST_F(GraphClones, VariableMappingsLeaveConstantsOut) {
  Tensor constant = graph.addConstant(FLOAT, {2}, 1);
  Tensor a = graph.addVariable(FLOAT, {2});
  graph.setTileMapping(constant, 3);
  graph.setTileMapping(a, 3);
  const auto mapping = graph.getVariableTileMapping(concat(constant, a));
  EXPECT_EQ(mapping.at(3), (std::vector<Interval>{{2, 4}}));
}

using Regions = std::vector<std::vector<Interval>>;

TEST_F(GraphClones, RegionsAreSortedByMemory) {
  Tensor a = addSpread({8});
  Tensor b = addSpread({4});
  Tensor t = concat({b.slice(0, 2), a.slice(4, 8), a.slice(0, 4)});
  const Interval all(0, 10);
  EXPECT_EQ(graph.getSortedContiguousRegions(t, {all}),
            (Regions{{{6, 10}, {2, 6}}, {{0, 2}}}));
  EXPECT_EQ(graph.getSortedContiguousRegions(t, {{3, 5}, {0, 1}}),
            (Regions{{{3, 5}}, {{0, 1}}}));

  Tensor twice = concat(a.slice(0, 4), a.slice(2, 6));
  EXPECT_EQ(graph.getSortedContiguousRegions(twice, {{0, 8}}, true),
            (Regions{{{0, 4}, {6, 8}}}));
  std::vector<std::size_t> aliases;
  EXPECT_EQ(graph.getSortedContiguousRegions(twice, {{0, 8}}, false, &aliases),
            (Regions{{{0, 2}, {2, 4}, {6, 8}}, {{4, 6}}}));
  EXPECT_EQ(aliases, (std::vector<std::size_t>{0, 1, 2, 1}));
}

TEST_F(GraphClones, ReorderingSimplifiesAndComesBack) {
  Tensor a = addSpread({6, 4});
  Tensor b = addSpread({24});
  const std::vector<Tensor> tensors = {
      a.transpose(), a.reshape({2, 3, 4}).dimShuffle({2, 0, 1}),
      concat(a.slice(3, 6), a.slice(0, 3)),
      concat(a.transpose().slice(2, 4), a.transpose().slice(0, 2))};
  for (const Tensor &t : tensors) {
    SCOPED_TRACE(t.shapeToString());
    Tensor simple = t.flatten(), other = b;
    graph.reorderToSimplify(&simple, {&other});
    EXPECT_EQ(simple, a.flatten());
    // The same order: elements stand beside each other as before.
    const auto before = places(t), after = places(simple);
    const auto beside = places(other);
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(before[beside[i].second], after[i]);
    }
    TensorRearranger rearranger = graph.getSimplifyingRearranger(t);
    EXPECT_EQ(rearranger.rearrange(t), a.flatten());
    EXPECT_EQ(rearranger.undoRearrangement(rearranger.rearrange(t)),
              t.flatten());
    EXPECT_EQ(rearranger.undoRearrangement(rearranger.rearrange(b)), b);
  }
  Tensor none = a.slice(2, 2);
  EXPECT_EQ(graph.getSimplifyingRearranger(none).rearrange(none).numElements(),
            0U);
  Tensor flat = a.flatten(), few = b.slice(0, 3);
  expectError<poplar_error>([&] { graph.reorderToSimplify(&flat, {&few}); },
                            "{3}", "24");
}

TEST_F(GraphClones, BroadcastsAreFound) {
  Tensor a = addSpread({3, 4});
  Tensor scalar = addSpread({1});
  EXPECT_EQ(graph.findUnbroadcastTensor(a), a);
  EXPECT_EQ(graph.findUnbroadcastTensor(a.broadcast(5, 0)), a);
  EXPECT_EQ(graph.findUnbroadcastTensor(a.broadcast(2, 1)), a);
  EXPECT_EQ(graph.findUnbroadcastTensor(a.upsample(3, 1)), a);
  EXPECT_EQ(graph.findUnbroadcastTensor(a.expand({1}).broadcast(6, 1)),
            a.expand({1}));
  EXPECT_EQ(graph.findUnbroadcastTensor(scalar.broadcast(10, 0)), scalar);
  EXPECT_EQ(graph.findUnbroadcastTensor(a.transpose().broadcast(2, 0)),
            a.transpose());
  Tensor mixed = concat(a, a.slice(0, 1));
  EXPECT_EQ(graph.findUnbroadcastTensor(mixed), mixed);
}

} // namespace
