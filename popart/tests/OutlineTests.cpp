// Outlining: what is called how often, what is left alone, that values stay,
// and that the machine has less code.
#include "MachineRuns.hpp"

#include <transforms/ChooseOutlines.hpp>
#include <transforms/RepeatedSequences.hpp>

namespace popart::tests {
namespace {

using Sequences =
    std::map<std::size_t, std::set<std::vector<std::size_t>>>; // by length

Sequences repeatsOf(const std::vector<int> &text) {
  Sequences result;
  for (const RepeatedSequence &sequence : findRepeatedSequences(text)) {
    result[sequence.length].insert(sequence.positions);
  }
  return result;
}

TEST(RepeatedSequences, AreAsLongAsTheyCanBe) {
  EXPECT_EQ(repeatsOf({}), Sequences{});
  EXPECT_EQ(repeatsOf({5, 6, 7}), Sequences{});
  EXPECT_EQ(repeatsOf({1, 2, 3, 9, 1, 2, 3, 8}),
            (Sequences{{3, {{0, 4}}}, {2, {{1, 5}}}, {1, {{2, 6}}}}));
  // 2 is at three places, 1 2 at two of them.
  EXPECT_EQ(repeatsOf({1, 2, 7, 2, 8, 1, 2}),
            (Sequences{{2, {{0, 5}}}, {1, {{1, 3, 6}}}}));
  EXPECT_EQ(repeatsOf({4, 4, 4}), (Sequences{{2, {{0, 1}}}, {1, {{0, 1, 2}}}}));
}

// `layers` equal layers x[2, 5] w + b with tanh, and a classifier's loss; layer
// i on IPU i % ipus.
std::shared_ptr<Ir> equalLayers(int layers, int ipus = 1) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({2, 5}));
  TensorId labels = graph.addStream("labels", TensorInfo(DataType::INT32, {2}));
  for (int i = 0; i < layers; ++i) {
    auto seed = static_cast<std::uint32_t>(i + 1);
    std::string number = std::to_string(i);
    TensorId weight = addWeight(graph, "w" + number, {5, 5}, seed);
    TensorId bias = addWeight(graph, "b" + number, {5}, seed + 20);
    x = add(graph, "MatMul", {x, weight}, {}, onIpu(i % ipus));
    x = add(graph, "Add", {x, bias}, {}, onIpu(i % ipus));
    x = add(graph, "Tanh", {x}, {}, onIpu(i % ipus));
  }
  VGraphId last = (layers - 1) % ipus;
  x = add(graph, "LogSoftmax", {x}, {}, onIpu(last));
  Attributes attributes;
  attributes.set("reduction", static_cast<Attributes::Int>(ReductionType::Sum))
      .set("inputIsLogProbability", Attributes::Int{1});
  graph.addOp({"ai.graphcore", "Nllloss"}, {x, labels}, {"loss"}, attributes,
              onIpu(last));
  ir->dataFlow = DataFlow(3, {"loss"});
  if (ipus > 1) {
    ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  }
  return ir;
}

std::shared_ptr<Ir> trained(std::shared_ptr<Ir> ir) {
  ir->loss = "loss";
  ir->optimizer = std::make_shared<ConstSGD>(0.125f);
  return ir;
}

// Calls by what the called graph does.
std::map<std::string, int> callsOf(const std::shared_ptr<Ir> &ir,
                                   int ipus = 1) {
  Graph machine;
  toMachine(*ir, machine, ipus);
  std::map<std::string, int> calls;
  for (const auto &op : machine.getOps()) {
    for (const Graph *called : op->getCalledGraphs()) {
      std::string types;
      for (const auto &inner : called->getOps()) {
        types += (types.empty() ? "" : " ") + inner->opid.type;
      }
      ++calls[types];
    }
  }
  return calls;
}

using Calls = std::map<std::string, int>;

TEST(Outlining, CallsOneGraphForEqualLayers) {
  EXPECT_EQ(callsOf(equalLayers(7)), (Calls{{"MatMul Add Tanh", 7}}));
  EXPECT_EQ(callsOf(equalLayers(1)), Calls{});
  auto ir = equalLayers(7);
  ir->sessionOptions.enableOutlining = false;
  EXPECT_EQ(callsOf(ir), Calls{});
}

TEST(Outlining, PassesWhatTheLayersReadAndReturnsWhatIsReadLater) {
  auto ir = equalLayers(2);
  Graph machine;
  toMachine(*ir, machine, 1);
  std::vector<std::vector<TensorId>> inputs;
  for (const auto &op : machine.getOps()) {
    if (op->opid.type == "Call") {
      inputs.push_back(op->inputs);
      EXPECT_EQ(op->outputs.size(), 1u);
    }
  }
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0], (std::vector<TensorId>{"x", "w0", "b0"}));
  EXPECT_EQ(inputs[1][1], "w1");
  EXPECT_EQ(inputs[1][2], "b1");
}

// A layer is worth 1000.2, less 0.1 for each of its three inputs and its output
// if copies count.
TEST(Outlining, TakesWhatIsWorthMoreThanTheThreshold) {
  auto withThreshold = [](float threshold, bool isPruned = true) {
    auto ir = equalLayers(6);
    ir->sessionOptions.outlineThreshold = threshold;
    ir->sessionOptions.enableOutliningCopyCostPruning = isPruned;
    return callsOf(ir);
  };
  const std::string layer = "MatMul Add Tanh";
  EXPECT_EQ(withThreshold(999.7f), (Calls{{layer, 6}}));
  EXPECT_EQ(withThreshold(1000.1f, false), (Calls{{layer, 6}}));
  // Two layers are worth 2000.4 - 0.6, three 3000.6 - 0.8.
  const std::string two = layer + " " + layer;
  EXPECT_EQ(withThreshold(1000.1f), (Calls{{two, 3}}));
  EXPECT_EQ(withThreshold(2000), (Calls{{two + " " + layer, 2}}));
  EXPECT_EQ(withThreshold(4000), Calls{});
}

TEST(Outlining, LeavesCheapSequencesWhoseCopiesCostAsMuch) {
  auto chain = [](bool isPruned) {
    auto ir = std::make_shared<Ir>();
    Graph &graph = ir->getMainGraph();
    TensorId x = graph.addStream("x", floats({4}));
    for (int layer = 0; layer < 2; ++layer) {
      for (int i = 0; i < 11; ++i) { // worth 1.1, with 13 copies
        std::string name = "v" + std::to_string(11 * layer + i);
        x = add(graph, "Add", {x, addWeight(graph, name, {4}, 3)});
      }
      x = layer == 0 ? add(graph, "Tanh", {x}) : x;
    }
    ir->dataFlow = DataFlow(1, {x});
    ir->sessionOptions.enableOutliningCopyCostPruning = isPruned;
    return callsOf(ir).size();
  };
  EXPECT_EQ(chain(true), 0u);
  EXPECT_EQ(chain(false), 1u);
}

TEST(Outlining, CrossesIpusWhereThatCostsNothing) {
  auto onTwo = [](float breakCost) {
    auto ir = equalLayers(4, 2);
    ir->sessionOptions.outlineSequenceBreakCost = breakCost;
    return callsOf(ir, 2);
  };
  const std::string layer = "MatMul Add Tanh";
  // Two calls of each IPU's own graph; copies are the sender's.
  EXPECT_EQ(onTwo(10000), (Calls{{layer, 2}, {layer + " IpuCopy", 2}}));
  EXPECT_EQ(onTwo(0), (Calls{{layer + " IpuCopy " + layer, 2}}));
}

TEST(Outlining, KeepsApartWhatTheModelMarksAsDifferent) {
  auto ir = equalLayers(4);
  int number = 0;
  for (const auto &op : ir->getMainGraph().getOps()) {
    bool isFirst = number++ < 6; // of the two first layers
    op->settings.setFromAttributes(Attributes().set(
        "__outline", Attributes::Strings{"part", isFirst ? "a" : "b"}));
  }
  Graph machine;
  toMachine(*ir, machine, 1);
  std::set<const Graph *> called;
  for (const auto &op : machine.getOps()) {
    for (const Graph *graph : op->getCalledGraphs()) {
      called.insert(graph);
    }
  }
  EXPECT_EQ(countOps(machine)["Call"], 4);
  EXPECT_EQ(called.size(), 2u);
}

TEST(Outlining, KeepsWhatIsAnchored) {
  auto ir = equalLayers(3);
  TensorId inner;
  for (const auto &op : ir->getMainGraph().getOps()) {
    inner = op->opid.type == "Add" ? op->outputs[0] : inner;
  }
  ir->dataFlow = DataFlow(1, {inner});
  Graph machine;
  toMachine(*ir, machine, 1);
  ASSERT_TRUE(machine.hasTensor(inner));
  EXPECT_EQ(machine.getTensor(inner).producer->opid.type, "Call");
}

// The machine program, run as written, trains as the value program does.
TEST(Outlining, TrainsToTheSameWeights) {
  Calls calls = callsOf(trained(equalLayers(5)));
  EXPECT_GE(calls.size(), 2u); // forward and backward
  expectSame(runMachine(*trained(equalLayers(5)), 1),
             runSession(trained(equalLayers(5)), 1));
  auto recomputed = trained(equalLayers(5));
  recomputed->sessionOptions.autoRecomputation =
      RecomputationType::RecomputeAll;
  expectSame(runMachine(*recomputed, 1, "reference"),
             runSession(trained(equalLayers(5)), 1), 1e-6);
}

TEST(Outlining, TrainsOverIpusAndPipelinesToTheSameWeights) {
  auto crossing = trained(equalLayers(4, 2));
  crossing->sessionOptions.outlineSequenceBreakCost = 0;
  expectSame(runMachine(*crossing, 2), runSession(trained(equalLayers(4)), 1));

  auto pipelined = [] {
    auto ir = trained(equalLayers(6, 2));
    int number = 0;
    for (const auto &op : ir->getMainGraph().getOps()) {
      op->settings.vgraphId = number++ < 9 ? 0 : 1; // three layers on each
    }
    SessionOptions &options = ir->sessionOptions;
    options.enablePipelining = true;
    options.enableGradientAccumulation = true;
    options.accumulationFactor = 4;
    return ir;
  };
  // Products of the forward pass and of the gradients of all inputs but x are
  // equal; the second graph adds to an accumulator, which is copied back.
  EXPECT_EQ(callsOf(pipelined(), 2),
            (Calls{{"MatMul", 11}, {"Transpose MatMul FormulaUpdate", 6}}));
  expectSame(runMachine(*pipelined(), 2), runSession(pipelined(), 2));
}

// A figure of the profile's summary, in bytes.
std::uint64_t bytesOf(const std::string &summary, const std::string &label) {
  std::size_t begin = summary.find(label + ":");
  EXPECT_NE(begin, std::string::npos) << label;
  begin += label.size() + 1;
  std::size_t digits = summary.find_first_not_of(' ', begin);
  std::uint64_t bytes = 0;
  for (char c : summary.substr(digits, summary.find(' ', digits) - digits)) {
    bytes = c >= '0' && c <= '9' ? 10 * bytes + std::uint64_t(c - '0') : bytes;
  }
  return bytes;
}

TEST(Outlining, NeedsTheCodeOfOneLayer) {
  auto summaryOf = [](int layers, bool isOutlined) {
    auto ir = equalLayers(layers);
    ir->sessionOptions.enableOutlining = isOutlined;
    auto session = InferenceSession::createFromIr(ir, modelDevice(1));
    session->prepareDevice();
    return session->getSummaryReport();
  };
  std::string one = summaryOf(1, true);
  std::string called = summaryOf(8, true);
  std::string inlined = summaryOf(8, false);
  for (const char *label : {"Vertex Instances", "Internal Exchange Code"}) {
    SCOPED_TRACE(label);
    // Besides the layer there is the loss, the same in all three.
    std::uint64_t layer = (bytesOf(inlined, label) - bytesOf(one, label)) / 7;
    EXPECT_LT(bytesOf(called, label), bytesOf(one, label) + 4 * layer);
  }
  EXPECT_LT(bytesOf(called, "Control Code"), bytesOf(inlined, "Control Code"));
}

} // namespace
} // namespace popart::tests
