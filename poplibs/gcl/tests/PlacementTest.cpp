// Tiles for transfers, and orders that replicas share evenly.
#include <gcl/CollectiveBalancedReorder.hpp>
#include <gcl/Collectives.hpp>
#include <gcl/TileAllocation.hpp>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using namespace poplar;
using poputil::poplibs_error;

Graph makeGraph(unsigned tiles) {
  IPUModel model;
  model.tilesPerIPU = tiles;
  return Graph(model.createDevice().getTarget());
}

TEST(PerIpuTiles, ComeInPairsAndFollowEachOther) {
  const Graph graph = makeGraph(1472);
  const auto io = gcl::perIPUTiles(graph, 0, 32);
  const auto rest = gcl::perIPUTiles(graph, 32, 1472 - 32);
  ASSERT_EQ(io.size(), 32U);
  EXPECT_TRUE(std::is_sorted(io.begin(), io.end()));
  for (std::size_t i = 0; i < io.size(); i += 2) {
    EXPECT_EQ(io[i] % 2, 0U);
    EXPECT_EQ(io[i + 1], io[i] + 1);
  }
  // Spread over the IPU, none twice, none left.
  EXPECT_GT(io.back(), 1300U);
  std::set<unsigned> all(io.begin(), io.end());
  all.insert(rest.begin(), rest.end());
  EXPECT_EQ(all.size(), 1472U);
  EXPECT_EQ(*all.rbegin(), 1471U);
}

TEST(PerIpuTiles, RejectsWhatIsNotThere) {
  const Graph graph = makeGraph(64);
  EXPECT_THROW(gcl::perIPUTiles(graph, 32, 34), poplibs_error);
  EXPECT_THROW(gcl::perIPUTiles(graph, 0, 3), poplibs_error);
  EXPECT_EQ(gcl::perIPUTiles(graph, 0, 3, true, false).size(), 3U);
  EXPECT_EQ(gcl::getMinIoTiles(graph), 32U);
}

// Ten elements: seven on tile 1, in two runs, three on tile 0. Of two replicas,
// each has four of the seven (one is padding) and two of the three.
class Reorder : public testing::Test {
protected:
  Reorder() : graph(makeGraph(4)), tensor(graph.addVariable(FLOAT, {2, 5})) {
    const Tensor flat = tensor.flatten();
    graph.setTileMapping(flat.slice(0, 4), 1);
    graph.setTileMapping(flat.slice(4, 7), 0);
    graph.setTileMapping(flat.slice(7, 10), 1);
  }

  Graph graph;
  Tensor tensor;
};

TEST_F(Reorder, SharesEveryTileEvenly) {
  gcl::CollectiveBalancedReorder reorder(graph, tensor, 2, "weights");
  EXPECT_EQ(reorder.getReferenceShape(), (std::vector<std::size_t>{2, 5}));
  EXPECT_EQ(reorder.getElementsPerReplica(), 6U);
  const Tensor slice = reorder.createReplicaSlice(HALF);
  EXPECT_EQ(slice.elementType(), HALF);
  const auto mapping = graph.getTileMapping(slice);
  EXPECT_EQ(mapping[0], (std::vector<Interval>{{0, 2}}));
  EXPECT_EQ(mapping[1], (std::vector<Interval>{{2, 6}}));
  const Tensor all = reorder.createCollectivesTensor(FLOAT, "gathered");
  EXPECT_EQ(all.shape(), (std::vector<std::size_t>{12}));
  // What is gathered lies where the reference does.
  EXPECT_EQ(graph.getTileMapping(reorder.undoRearrangeForCollective(all)),
            graph.getTileMapping(tensor));
  EXPECT_THROW(reorder.undoRearrangeForCollective(slice), poplibs_error);
}

TEST_F(Reorder, TheHostCanDoTheSame) {
  gcl::CollectiveBalancedReorder reorder(graph, tensor, 2);
  const auto &host = reorder.getHostRearrangement();
  ASSERT_EQ(host.getNumRearrangedTensorElems(), 12U);
  float reference[10], slices[12], back[10];
  for (int i = 0; i < 10; ++i) {
    reference[i] = static_cast<float>(i + 1);
  }
  host.rearrangeForCollective(reinterpret_cast<const char *>(reference),
                              reinterpret_cast<char *>(slices), sizeof(float));
  // Of each replica: tile 0 has elements 5, 6 and 7, tile 1 the others.
  EXPECT_EQ(std::vector<float>(slices, slices + 12),
            (std::vector<float>{5, 6, 1, 2, 3, 4, 7, 0, 8, 9, 10, 0}));
  host.undoRearrangeForCollective(reinterpret_cast<const char *>(slices),
                                  reinterpret_cast<char *>(back),
                                  sizeof(float));
  EXPECT_TRUE(std::equal(reference, reference + 10, back));
}

} // namespace
