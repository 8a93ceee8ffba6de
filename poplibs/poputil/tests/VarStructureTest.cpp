// Groups of elements that lie side by side, and tensors of parts; expected
// values are worked out by hand.
#include <poputil/VarStructure.hpp>

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using poplar::FLOAT;
using poputil::GroupingInfo;
using Groupings = std::vector<GroupingInfo>;

class VarStructure : public ::testing::Test {
protected:
  poplar::Graph graph{poplar::Target::createIPUTarget(1, 4, "ipu2")};
  poplar::Tensor x = graph.addVariable(FLOAT, {2, 16}, "x");

  Groupings of(const poplar::Tensor &t) {
    return poputil::detectDimGroupings(graph, t);
  }
};

TEST_F(VarStructure, GroupsARowMajorVariableFromItsLastDimension) {
  EXPECT_EQ(of(x), (Groupings{{1, 16}, {0, 2}}));
  EXPECT_EQ(of(x.transpose()), (Groupings{{0, 16}, {1, 2}}));
  EXPECT_EQ(poputil::detectInnermostGrouping(graph, x), 16u);
  EXPECT_EQ(poputil::detectInnermostGrouping(graph, x.transpose()), 0u);
}

TEST_F(VarStructure, FindsADimensionMoreThanOnce) {
  // [2,16] as [16/4, 2, 4]: rows of the variable are 4 groups of 4 columns.
  poplar::Tensor blocks =
      x.reshape({2, 4, 4}).dimShuffle({1, 0, 2}).reshape({4, 8});
  EXPECT_EQ(of(blocks), (Groupings{{1, 4}, {0, 4}, {1, 2}}));
}

TEST_F(VarStructure, EndsWhereVariablesDo) {
  poplar::Tensor y = graph.addVariable(FLOAT, {2, 4}, "y");
  poplar::Tensor both = poplar::concat(x.slice(0, 4, 1), y, 1);
  // Rows of 4 from one and 4 from the other.
  EXPECT_EQ(of(both), (Groupings{{1, 4}}));
  EXPECT_TRUE(of(x.slice(0, 1, 1)).empty());
  EXPECT_TRUE(of(graph.addVariable(FLOAT, {1}, "one")).empty());
}

TEST_F(VarStructure, RefusesAScalar) {
  poplar::Tensor scalar = graph.addVariable(FLOAT, {}, "s");
  EXPECT_THROW(of(scalar), poputil::poplibs_error);
  EXPECT_THROW(poputil::detectInnermostGrouping(graph, scalar),
               poputil::poplibs_error);
}

TEST_F(VarStructure, SaysOfALargeTensorWhatItsFirstElementsSay) {
  poplar::Tensor large = graph.addVariable(FLOAT, {4096, 1024}, "large");
  EXPECT_EQ(of(large).front(), (GroupingInfo{1, 1024}));
  EXPECT_EQ(of(large.transpose()).front().first, 0u);
}

TEST_F(VarStructure, MakesTensorsOfParts) {
  poplar::Tensor t =
      poputil::createPartitionableTensor(graph, FLOAT, {5, 4}, {2, 2}, "t");
  EXPECT_EQ(t.shape(), (std::vector<std::size_t>{5, 4}));
  std::vector<std::vector<std::size_t>> shapes;
  poputil::iterateTensorPartitions(
      t, {2, 2},
      [&](const std::vector<std::size_t> &, const poplar::Tensor &part) {
        shapes.push_back(part.shape());
        EXPECT_EQ(part.getVarRegions().size(), 1u);
      });
  EXPECT_EQ(shapes, (std::vector<std::vector<std::size_t>>{
                        {3, 2}, {3, 2}, {2, 2}, {2, 2}}));
  EXPECT_THROW(poputil::createPartitionableTensor(graph, FLOAT, {2}, {3}),
               poputil::poplibs_error);
}

} // namespace
