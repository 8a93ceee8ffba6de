// Collectives in programs: where results lie, what they cost, files.
#include <gcl/Collectives.hpp>

#include <poplar/Engine.hpp>
#include <poplar/Executable.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/exceptions.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using poplar::program::Call;
using poplar::program::If;
using poplar::program::Repeat;
using poplar::program::Sequence;

constexpr unsigned replicas = 4;

Device makeDevice(unsigned ipus = replicas) {
  IPUModel model;
  model.numIPUs = ipus;
  model.tilesPerIPU = 8;
  return model.createDevice();
}

// A graph of four replicas, each with `values` on one tile.
struct Replicated {
  explicit Replicated(std::size_t elements)
      : device(makeDevice()),
        graph(device.getTarget(), replication_factor(replicas)),
        data(graph.addVariable(FLOAT, {elements}, "data")) {
    poputil::mapTensorLinearly(graph, data);
    graph.createHostWrite("data", data);
  }

  std::vector<float> run(Engine &engine, const Tensor &result) {
    std::vector<float> in(replicas * data.numElements());
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<float>(i);
    }
    std::vector<float> out(replicas * result.numElements());
    engine.load(device);
    engine.writeTensor("data", in.data(), in.data() + in.size());
    engine.run(0);
    engine.readTensor("out", out.data(), out.data() + out.size());
    return out;
  }

  Device device;
  Graph graph;
  Tensor data;
  Sequence prog;
};

TEST(Collectives, AreProgramsLikeOthers) {
  Replicated test(3);
  Sequence body;
  gcl::allReduceInPlaceCrossReplica(test.graph, test.data,
                                    gcl::CollectiveOperator::ADD, body);
  test.prog.add(Repeat(2, body));
  test.graph.createHostRead("out", test.data);
  Engine engine(test.graph, test.prog);
  // 0 + 3 + 6 + 9 and so on, then four times that.
  std::vector<float> wanted;
  for (unsigned r = 0; r < replicas; ++r) {
    wanted.insert(wanted.end(), {72, 88, 104});
  }
  EXPECT_EQ(test.run(engine, test.data), wanted);
}

// In a function, called from one side of a condition that all replicas share.
TEST(Collectives, AreTakenInFunctionsAndBranches) {
  Replicated test(3);
  const Tensor always = test.graph.addConstant(BOOL, {}, true);
  test.graph.setTileMapping(always, 0);
  Sequence body;
  gcl::allReduceInPlaceCrossReplica(test.graph, test.data,
                                    gcl::CollectiveOperator::MAX, body);
  const Function function = test.graph.addFunction(body);
  Sequence both({Call(function), Call(function)});
  test.prog.add(If(always, both, Sequence()));
  test.graph.createHostRead("out", test.data);
  Engine engine(test.graph, test.prog);
  std::vector<float> wanted;
  for (unsigned r = 0; r < replicas; ++r) {
    wanted.insert(wanted.end(), {9, 10, 11}); // those of the last
  }
  EXPECT_EQ(test.run(engine, test.data), wanted);
}

TEST(Collectives, AreKeptInExecutables) {
  Replicated test(8);
  const auto out = gcl::reduceScatterCrossReplica(
      test.graph, test.data, gcl::CollectiveOperator::ADD, test.prog,
      gcl::CommGroup(gcl::CommGroupType::ORTHOGONAL, 2));
  test.graph.createHostRead("out", out);
  std::stringstream file;
  compileGraph(test.graph, {test.prog}).serialize(file);
  Engine engine(Executable::deserialize(file));
  // Replicas 0 and 2 share the first sum, 1 and 3 the second.
  EXPECT_EQ(test.run(engine, out),
            (std::vector<float>{16, 18, 20, 22, 32, 34, 36, 38, 24, 26, 28, 30,
                                40, 42, 44, 46}));
}

TEST(Collectives, ResultsLieAsTheirData) {
  Replicated test(64);
  const auto reduced = gcl::allReduceCrossReplica(
      test.graph, test.data, gcl::CollectiveOperator::ADD, test.prog);
  EXPECT_EQ(test.graph.getTileMapping(reduced),
            test.graph.getTileMapping(test.data));
  const auto gathered =
      gcl::allGatherCrossReplica(test.graph, test.data, test.prog);
  EXPECT_EQ(gathered.shape(), (std::vector<std::size_t>{replicas, 64}));
  EXPECT_EQ(test.graph.getTileMapping(gathered[2]),
            test.graph.getTileMapping(test.data));
}

// An all-reduce of four is three steps of a quarter out and three back (two
// each where parts meet in the middle), each with a sync of 600 cycles; half of
// them add.
TEST(Collectives, ShowInTheProfile) {
  const auto profile = [](const char *method, const gcl::CommGroup &group) {
    Replicated test(4000);
    gcl::allReduceCrossReplica(test.graph, test.data,
                               gcl::CollectiveOperator::ADD, test.prog, group,
                               "sum", {{"method", method}});
    Engine engine(test.graph, test.prog);
    engine.load(test.device);
    engine.run(0);
    std::ostringstream text;
    engine.printProfileSummary(text, {{"showExecutionSteps", "true"}});
    return text.str();
  };
  const std::string ring = profile("clockwise_ring", {});
  EXPECT_NE(ring.find("GlobalExchange: sum/allReduceCrossReplica"),
            std::string::npos)
      << ring;
  EXPECT_NE(ring.find("OnTileExecute: sum/allReduceCrossReplica"),
            std::string::npos);
  EXPECT_NE(ring.find("3,600"), std::string::npos) << ring; // 6 syncs
  EXPECT_NE(ring.find("poplin::ReduceAdd<float,float>"), std::string::npos);
  EXPECT_NE(profile("meet_in_middle_ring", {}).find("2,400"),
            std::string::npos);
  // Who is alone has nobody to exchange with.
  const std::string alone =
      profile("auto", {gcl::CommGroupType::CONSECUTIVE, 1});
  EXPECT_EQ(alone.find("GlobalExchange: sum"), std::string::npos) << alone;
}

TEST(Collectives, WithinAReplicaLeaveRowsOnTheirIpus) {
  const Device device = makeDevice(3);
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  const Tensor rows = graph.addVariable(FLOAT, {3, 7});
  for (unsigned ipu = 0; ipu < 3; ++ipu) {
    graph.setTileMapping(rows[ipu], 8 * ipu + 1);
  }
  Sequence prog;
  const auto chunks = gcl::reduceScatterWithinReplica(
      graph, rows, gcl::CollectiveOperator::ADD, prog);
  ASSERT_EQ(chunks.getChunks().size(), 3U);
  const unsigned offsets[] = {0, 3, 6};
  for (const gcl::Chunk &chunk : chunks.getChunks()) {
    EXPECT_EQ(chunk.offset, offsets[chunk.index]);
    EXPECT_EQ(chunk.tensor.numElements(), chunk.index == 2 ? 1U : 3U);
    const auto mapping = graph.getTileMapping(chunk.tensor);
    for (unsigned tile = 0; tile < mapping.size(); ++tile) {
      EXPECT_TRUE(mapping[tile].empty() || tile / 8 == chunk.index);
    }
  }
  const auto all = gcl::allGatherWithinReplica(graph, chunks, prog);
  EXPECT_EQ(graph.getTileMapping(all), graph.getTileMapping(rows));
}

} // namespace
