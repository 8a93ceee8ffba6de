// Graph: variables, constants, initial values, streams, host access and vertex
// groups.
#include "ExpectError.hpp"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/internal/Access.hpp>
#include <support/Half.hpp>

#include <gtest/gtest.h>

#include <cstring>

using namespace poplar;
using internal::graphData;

namespace {

// The initial data of the variable that `tensor` is the whole of.
template <typename T> std::vector<T> dataOf(const Graph &graph, Tensor tensor) {
  auto id = internal::tensorView(tensor).pieces.at(0).variable;
  const auto &bytes = graphData(graph)[id].initialData;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class GraphApi : public testing::Test {
protected:
  Graph graph{Target::createIPUTarget(2, "ipu2")};
};

TEST_F(GraphApi, VariablesKeepTypeShapeAndPath) {
  DebugContext parent("layer");
  Tensor t = graph.addVariable(HALF, {2, 3}, {parent, "weights"});
  EXPECT_EQ(t.elementType(), HALF);
  EXPECT_EQ(t.shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(graphData(graph).variables[0].debugPath, "layer/weights");
  EXPECT_TRUE(graphData(graph).variables[0].initialData.empty());
}

TEST_F(GraphApi, ConstantsConvertHostValues) {
  using Floats = std::vector<float>;
  Tensor listed = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
  EXPECT_EQ(dataOf<float>(graph, listed), (Floats{1.0F, 1.5F, 2.0F, 2.5F}));
  EXPECT_TRUE(listed.containsConstant());

  Tensor zero = graph.addConstant(UNSIGNED_INT, {1}, 0);
  EXPECT_EQ(dataOf<unsigned>(graph, zero), std::vector<unsigned>{0});
  Tensor explicitZero = graph.addConstant<float>(FLOAT, {}, 0);
  EXPECT_EQ(dataOf<float>(graph, explicitZero), Floats{0.0F});
  Tensor filled = graph.addConstant(INT, {3}, 2.75);
  EXPECT_EQ(dataOf<int>(graph, filled), (std::vector<int>{2, 2, 2}));

  std::vector<double> doubles = {0.5, -65504.0, 1e6};
  Tensor half = graph.addConstant(HALF, {3}, doubles.data());
  EXPECT_EQ(dataOf<std::uint16_t>(graph, half),
            (std::vector<std::uint16_t>{0x3800, 0xFBFF, 0x7C00}));
  Tensor fromVector = graph.addConstant<double>(FLOAT, {3}, doubles);
  EXPECT_EQ(dataOf<float>(graph, fromVector), (Floats{0.5F, -65504.0F, 1e6F}));
  Tensor fromPointer = graph.addConstant<double>(FLOAT, {3}, doubles.data());
  EXPECT_EQ(dataOf<float>(graph, fromPointer),
            dataOf<float>(graph, fromVector));
  Tensor bits = graph.addConstantHalf(HALF, {2}, std::uint16_t(0x3C00));
  EXPECT_EQ(dataOf<std::uint16_t>(graph, bits),
            (std::vector<std::uint16_t>{0x3C00, 0x3C00}));
  Tensor flags = graph.addConstant(BOOL, {2}, true);
  EXPECT_EQ(dataOf<std::uint8_t>(graph, flags),
            (std::vector<std::uint8_t>{1, 1}));
}

TEST_F(GraphApi, ConstantsNeedAsManyValuesAsElements) {
  expectError<tensor_creation_error>(
      [&] {
        graph.addConstant<float>(FLOAT, {3}, {1.0F, 2.0F});
      },
      "2 values", "3 elements");
  std::vector<float> one = {1.0F};
  expectError<tensor_creation_error>(
      [&] { graph.addConstant<float>(FLOAT, {3}, one); }, "1 values");
}

TEST_F(GraphApi, TypesWithoutADeviceAreRefused) {
  expectError<type_error>([&] { graph.addVariable(LONG, {1}); }, "long");
}

TEST_F(GraphApi, InitialValuesGoThroughViews) {
  Tensor t = graph.addVariable(INT, {2, 3});
  graph.setInitialValue<int>(t.transpose(), {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(dataOf<int>(graph, t), (std::vector<int>{1, 3, 5, 2, 4, 6}));
  graph.setInitialValue(t[1], 9);
  EXPECT_EQ(dataOf<int>(graph, t), (std::vector<int>{1, 3, 5, 9, 9, 9}));

  Tensor half = graph.addVariable(HALF, {2});
  graph.setInitialValueHalf(half, ArrayRef<std::uint16_t>{0x3C00, 0x4000});
  EXPECT_EQ(dataOf<std::uint16_t>(graph, half),
            (std::vector<std::uint16_t>{0x3C00, 0x4000}));

  Tensor constant = graph.addConstant(INT, {1}, 1);
  expectError<poplar_error>([&] { graph.setInitialValue(constant, 1); },
                            "constant");
  expectError<tensor_creation_error>(
      [&] {
        graph.setInitialValue<int>(t, {1, 2});
      },
      "2 values", "6 elements");
}

TEST_F(GraphApi, StreamsKeepTheirDescription) {
  DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 16);
  DataStream out =
      graph.addDeviceToHostFIFO("out", INT, 3, {{"bufferingDepth", "2"}});
  EXPECT_EQ(in.handle(), "in");
  EXPECT_EQ(in.numElements(), 16U);
  EXPECT_EQ(in.elementType(), FLOAT);
  EXPECT_EQ(in.type(), DataStreamType::HostToDeviceFIFO);
  EXPECT_EQ(out.type(), DataStreamType::DeviceToHostFIFO);
  EXPECT_EQ(internal::streamId(out).index(), 1U);
  EXPECT_FALSE(graphData(graph).streams[1].isHostToDevice);
  expectError<poplar_error>([&] { graph.addDeviceToHostFIFO("in", INT, 1); },
                            "'in'");
  expectError<invalid_option>(
      [&] {
        graph.addDeviceToHostFIFO("x", INT, 1, {{"depth", "2"}});
      },
      "Unrecognised option 'depth'", "bufferingDepth");
  expectError<invalid_option>(
      [&] {
        graph.addDeviceToHostFIFO("x", INT, 1, {{"splitLimit", "a"}});
      },
      "splitLimit", "'a'");
}

TEST_F(GraphApi, StreamsHaveBuffersOfLimitedSize) {
  graph.addHostToDeviceFIFO("in", FLOAT, 16, ReplicatedStreamMode::BROADCAST,
                            {{"bufferingDepth", "3"}, {"splitLimit", "1000"}});
  const internal::StreamData &in = graphData(graph).streams[0];
  EXPECT_EQ(in.bufferingDepth, 3U);
  EXPECT_EQ(in.splitLimitBytes, 1000U);
  EXPECT_TRUE(in.isBroadcast);
  graph.addDeviceToHostFIFO("out", FLOAT, 1 << 26); // 256 MB, split by default
  EXPECT_EQ(graphData(graph).streams[1].splitLimitBytes, 52428800U);
  EXPECT_FALSE(graphData(graph).streams[1].isBroadcast);
  expectError<stream_memory_allocation_error>(
      [&] {
        graph.addDeviceToHostFIFO("whole", FLOAT, (1 << 25) + 1,
                                  {{"splitLimit", "0"}});
      },
      "'whole'", "134217732 bytes", "134217728", "splitLimit");
  graph.addDeviceToHostFIFO("whole", FLOAT, 1 << 25, {{"splitLimit", "0"}});
  expectError<invalid_option>(
      [&] {
        graph.addDeviceToHostFIFO("x", INT, 1, {{"bufferingDepth", "0"}});
      },
      "bufferingDepth", "at least 1");
}

TEST_F(GraphApi, TensorsOfOtherGraphsAreRefused) {
  Graph other(graph.getTarget());
  Tensor far = other.addVariable(FLOAT, {2}, "far");
  const auto expectRefused = [](auto &&action) {
    expectError<poplar_error>(action, "'far'", "another graph");
  };
  expectRefused([&] { graph.setTileMapping(far, 0); });
  expectRefused([&] { graph.setTileMapping(far, {{{0, 2}}}); });
  expectRefused([&] { graph.getTileMapping(far, false); });
  expectRefused([&] { graph.setInitialValue(far, 1); });
  expectRefused([&] { graph.createHostRead("far", far); });
  expectRefused([&] { graph.createHostWrite("far", far); });
  expectRefused([&] { graph.clone(far); });
  expectRefused([&] { graph.findUnbroadcastTensor(far); });
  expectRefused([&] { graph.getSimplifyingRearranger(far); });
}

TEST_F(GraphApi, HostAccessHandlesAreUnique) {
  Tensor t = graph.addVariable(FLOAT, {2});
  graph.createHostWrite("t", t);
  graph.createHostRead("t", t); // reads and writes are named apart
  expectError<poplar_error>([&] { graph.createHostRead("t", t); }, "'t'");
  expectError<tensor_io_state_error>(
      [&] { graph.createHostWrite("twice", t.broadcast(2, 0)); }, "'twice'");
}

TEST_F(GraphApi, ReplicasShareTheIpusEvenly) {
  Graph replicated(Target::createIPUTarget(4, "ipu2"), replication_factor(2));
  EXPECT_EQ(replicated.getReplicationFactor(), 2U);
  EXPECT_EQ(replicated.getTarget().getNumIPUs(), 2U);
  expectError<graph_replication_error>(
      [] { Graph(Target::createIPUTarget(4, "ipu2"), replication_factor(3)); },
      "3 replicas", "4 IPUs");
}

TEST_F(GraphApi, MovingKeepsTensorsUsable) {
  Tensor t = graph.addVariable(FLOAT, {4}, "t");
  Graph moved = std::move(graph);
  moved.setTileMapping(t, 1);
  EXPECT_EQ(moved.getTileMapping(t)[1].size(), 1U);
}

// A kind of one FLOAT input and one output of the same shape.
std::vector<kernels::TensorType>
inferCopy(const kernels::Attributes &,
          std::span<const kernels::TensorType> inputs) {
  if (inputs.size() != 1) {
    throw std::invalid_argument("one input is needed");
  }
  return {inputs[0]};
}
const kernels::Kind copyKind{"copyForTest", inferCopy, nullptr, {}, {}};

TEST_F(GraphApi, GroupsAreCheckedAgainstTheirKind) {
  Tensor a = graph.addVariable(FLOAT, {4});
  Tensor b = graph.addVariable(FLOAT, {2, 2});
  internal::VertexGroup group;
  group.kind = &copyKind;
  group.debugPath = "net/copy";
  group.inputs = {internal::tensorView(a)};
  group.outputs = {internal::tensorView(b.flatten())};
  program::Sequence sequence;
  internal::executeGroup(graph, sequence, group);
  const auto &set = graphData(graph).computeSets.at(0);
  EXPECT_EQ(set.debugPath, "net/copy");
  EXPECT_EQ(set.groups.size(), 1U);
  EXPECT_FALSE(sequence.isEmpty());

  group.outputs = {internal::tensorView(b)};
  expectError<graph_connection_error>(
      [&] { internal::executeGroup(graph, sequence, group); }, "copyForTest",
      "output 0", "float{2,2}", "float{4}", "net/copy");
  group.inputs.clear();
  expectError<graph_connection_error>(
      [&] { internal::executeGroup(graph, sequence, group); },
      "one input is needed", "net/copy");
  expectError<graph_connection_error>(
      [&] {
        group.inputs = {internal::tensorView(b)};
        internal::addGroup(graph, ComputeSet(), group);
      },
      "compute set");
}

} // namespace
