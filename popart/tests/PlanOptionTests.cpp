// How single operators are planned: what the Builder says of them reaches
// poplin's planner, for the gradients too, and shows in the model's estimate.
#include "MachineRuns.hpp"
#include "OnnxModels.hpp"

#include <popart/builder.hpp>

#include <poplar/exceptions.hpp>

namespace popart::tests {
namespace {

struct Estimate {
  std::uint64_t cycles = 0;
  std::uint64_t temporaryBytes = 0; // on the fullest tile
  std::vector<float> values;
};

// After the last `label` of a report: 1'234 B as 1234.
std::uint64_t bytesAfter(const std::string &report, const std::string &label) {
  std::size_t at = report.rfind(label);
  EXPECT_NE(at, std::string::npos) << report;
  std::uint64_t number = 0;
  for (at += label.size(); at < report.size() && report[at] != 'B'; ++at) {
    if ('0' <= report[at] && report[at] <= '9') {
      number = 10 * number + static_cast<std::uint64_t>(report[at] - '0');
    }
  }
  return number;
}

// One operator of x and a constant weight, on 16 tiles.
Estimate estimateOf(const std::string &type, const Shape &x, const Shape &w,
                    const Attributes &attributes,
                    const SessionOptions &options = {}) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats(x));
  addWeight(graph, "w", w, 5);
  graph.addOp({"ai.onnx", type}, {"x", "w"}, {"y"}, attributes, {});
  ir->dataFlow = DataFlow(1, {"y"});
  ir->sessionOptions = options;
  ir->sessionOptions.instrumentWithHardwareCycleCounter = true;
  ir->sessionOptions.reportOptions = {{"showVarStorage", "true"}};
  auto session = InferenceSession::createFromIr(
      ir, DeviceManager::createDeviceManager().createIpuModelDevice(
              {{"tilesPerIPU", "16"}}));
  session->prepareDevice();
  Step step;
  step.input("x", Numbers(3).list(graph.getTensor("x").info.nelms()));
  Estimate estimate;
  const auto &y = step.output("y", graph.getTensor("y").info.nelms());
  step.run(*session);
  estimate.values = y;
  estimate.cycles = session->getCycleCount();
  estimate.temporaryBytes = bytesAfter(session->getSummaryReport(),
                                       "Maximum live bytes of the others");
  return estimate;
}

void expectTradesMemoryForTime(const std::string &type, const Shape &x,
                               const Shape &w) {
  Estimate usual = estimateOf(type, x, w, {});
  Estimate little =
      estimateOf(type, x, w, Attributes().set("__available_memory", 0.02f));
  EXPECT_LT(little.temporaryBytes, usual.temporaryBytes);
  EXPECT_GT(little.cycles, usual.cycles);
  EXPECT_EQ(little.values, usual.values);
  // The operator's own proportion goes before the session's.
  SessionOptions options;
  options.convolutionOptions = {{"availableMemoryProportion", "0.02"}};
  options.matmulOptions = options.convolutionOptions;
  EXPECT_EQ(estimateOf(type, x, w, {}, options).cycles, little.cycles);
  EXPECT_EQ(estimateOf(type, x, w, Attributes().set("__available_memory", 0.6f),
                       options)
                .cycles,
            usual.cycles);
}

TEST(AvailableMemory, TradesMemoryForTimeInAMatrixProduct) {
  expectTradesMemoryForTime("MatMul", {256, 512}, {512, 512});
}

TEST(AvailableMemory, TradesMemoryForTimeInAConvolution) {
  expectTradesMemoryForTime("Conv", {4, 32, 28, 28}, {64, 32, 3, 3});
}

// x [2, 4, 6, 6], a convolution, then a layer with 8 results.
std::shared_ptr<Ir> trainedModel(const Attributes &conv,
                                 const Attributes &product) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({2, 4, 6, 6}));
  addWeight(graph, "k", {4, 4, 3, 3}, 1);
  addWeight(graph, "w", {16, 8}, 2);
  TensorId y = add(graph, "Tanh", {"x"});
  y = add(graph, "Conv", {y, "k"}, conv);
  y = add(graph, "Reshape", {y}, Attributes().set("shape", Shape{8, 16}), {},
          "aspen");
  y = add(graph, "MatMul", {y, "w"}, product);
  graph.addOp({"ai.graphcore", "L1loss"}, {y}, {"loss"},
              Attributes().set("lambda", 1.0f), {});
  ir->loss = "loss";
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.1f, true}}});
  ir->dataFlow = DataFlow(1, {"loss"});
  return ir;
}

TEST(PlanOptions, HoldForGradientsToo) {
  auto ir = trainedModel(Attributes()
                             .set("__available_memory", 0.25f)
                             .set("__partials_type", std::string("half")),
                         Attributes().set("__available_memory", 0.5f));
  Graph machine;
  toMachine(*ir, machine, 1);
  std::map<std::string, std::vector<float>> proportions;
  for (const auto &op : machine.getOps()) {
    if (op->opid.type.rfind("Conv", 0) == 0 || op->opid.type == "MatMul") {
      proportions[op->opid.type].push_back(
          op->attributes.getFloat("__available_memory", 0));
      EXPECT_EQ(op->attributes.getString("__partials_type", ""),
                op->opid.type == "MatMul" ? "" : "half");
    }
  }
  EXPECT_EQ(proportions, (std::map<std::string, std::vector<float>>{
                             {"Conv", {0.25f}},
                             {"ConvWeightGrad", {0.25f}},
                             {"MatMul", {0.5f, 0.5f, 0.5f}}}));
}

TEST(PlanOptions, AreCheckedByName) {
  auto modelWith = [](const std::string &name, const popart::any &value) {
    auto builder = Builder::create();
    auto x = builder->addInputTensor(floats({2, 2}));
    auto y = builder->aiOnnxOpset10().matmul({x, x});
    builder->addNodeAttribute(name, value, {y});
    builder->addOutputTensor(y);
    InferenceSession::createFromOnnxModel(builder->getModelProto(),
                                          DataFlow(1, {y}), modelDevice(1));
  };
  EXPECT_ERROR(modelWith("__available_memory", 1.5f),
               "attribute __available_memory must be in (0,1], but it is 1.5");
  EXPECT_ERROR(modelWith("__available_memory", std::string("much")),
               "__available_memory");
  EXPECT_ERROR(modelWith("__partials_type", std::string("double")),
               "attribute __partials_type must be 'float' or 'half', but it is "
               "'double'");
  SessionOptions options;
  options.matmulOptions = {{"availableMemoryProportion", "much"}};
  try {
    estimateOf("MatMul", {2, 2}, {2, 2}, {}, options);
    FAIL() << "took a proportion of 'much'";
  } catch (const poplar::poplar_error &e) {
    EXPECT_NE(std::string(e.what()).find("availableMemoryProportion"),
              std::string::npos)
        << e.what();
  }
}

} // namespace
} // namespace popart::tests
