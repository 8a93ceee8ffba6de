// Serialised matrix products: what the machine program has in their place, that
// it computes the same, and what partial sums keep.
#include "MachineRuns.hpp"
#include "OnnxModels.hpp"

namespace popart::tests {
namespace {

struct Case {
  const char *mode;
  std::int64_t factor;
  int layer = 1;
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.mode << test.factor;
}

Attributes serialization(const std::string &mode, std::int64_t factor,
                         bool keepsPrecision = false) {
  return Attributes()
      .set("__serialize_matmul_mode", mode)
      .set("__serialize_matmul_factor", factor)
      .set("__serialize_matmul_precision", Attributes::Int{keepsPrecision});
}

// [4,3] by [3,4], then by [4,5].
std::shared_ptr<Ir> wholeModel() {
  auto ir = classifier(2, 4, ReductionType::Sum);
  ir->optimizer = std::make_shared<ConstSGD>(0.125f);
  ir->dataFlow = DataFlow(2, {"loss"});
  return ir;
}

std::shared_ptr<Ir> model(const Case &test) {
  auto ir = wholeModel();
  for (const auto &op : ir->getMainGraph().getOps()) {
    if (op->opid.type == "MatMul" && op->settings.vgraphId == test.layer) {
      op->attributes = serialization(test.mode, test.factor);
    }
  }
  return ir;
}

class SerializedMatMul : public testing::TestWithParam<Case> {};

TEST_P(SerializedMatMul, ComputesTheSame) {
  expectSame(runMachine(*model(GetParam()), 1), runSession(wholeModel(), 1),
             1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, SerializedMatMul,
    testing::Values(Case{"input_channels", 2}, Case{"input_channels", 4, 0},
                    Case{"reducing_dim", 2}, Case{"reducing_dim", 3, 0},
                    Case{"output_channels", 5}, Case{"output_channels", 2, 0},
                    Case{"none", 7}));

// The types of operations around products, of the forward or the backward pass.
std::vector<std::string> productsOf(const Case &test, bool isBackward) {
  auto ir = model(test);
  ir->sessionOptions.enableOutlining = false;
  Graph machine;
  toMachine(*ir, machine, 1);
  std::vector<std::string> types;
  for (const auto &op : machine.getOps()) {
    const std::string &type = op->opid.type;
    bool isAround = type == "MatMul" || type == "Slice" || type == "Concat" ||
                    (type == "Add" && op->inShape(0) == op->inShape(1));
    if (op->settings.isBackward == isBackward && isAround) {
      types.push_back(type);
    }
  }
  return types;
}

using Types = std::vector<std::string>;

TEST(SerializedMatMul, RunsPieceByPieceForward) {
  Types whole = {"MatMul", "MatMul"};
  EXPECT_EQ(productsOf({"none", 2}, false), whole);
  Types joined = {"MatMul", "Slice", "MatMul", "Slice", "MatMul", "Concat"};
  EXPECT_EQ(productsOf({"input_channels", 2}, false), joined);
  Types summed = {"MatMul", "Slice", "Slice",  "MatMul",
                  "Slice",  "Slice", "MatMul", "Add"};
  EXPECT_EQ(productsOf({"reducing_dim", 2}, false), summed);
}

// What is cut is summed over in one gradient and stays in the other.
TEST(SerializedMatMul, CutsTheSameDimensionOfGradients) {
  auto counts = [](const Case &test) {
    std::map<std::string, int> types;
    for (const std::string &type : productsOf(test, true)) {
      ++types[type];
    }
    return types;
  };
  using Counts = std::map<std::string, int>;
  // The first layer's gradient of its weight stays whole.
  EXPECT_EQ(counts({"none", 2}), (Counts{{"MatMul", 3}}));
  Counts oneSum = {{"MatMul", 5}, {"Slice", 6}, {"Add", 1}, {"Concat", 1}};
  EXPECT_EQ(counts({"input_channels", 2}), oneSum);
  Counts noSum = {{"MatMul", 5}, {"Slice", 4}, {"Concat", 2}};
  EXPECT_EQ(counts({"reducing_dim", 2}), noSum);
}

TEST(SerializedMatMul, CanBeTurnedOff) {
  auto ir = model({"reducing_dim", 2});
  ir->sessionOptions.enableSerializedMatmuls = false;
  ir->sessionOptions.enableOutlining = false;
  Graph machine;
  toMachine(*ir, machine, 1);
  EXPECT_EQ(countOps(machine)["MatMul"], 5);
}

TEST(SerializedMatMul, NeedsAFactorOfTheDimension) {
  Graph machine;
  auto ir = model({"output_channels", 2});
  EXPECT_ERROR(toMachine(*ir, machine, 1),
               "a dimension of 5 elements cannot be serialised by a factor of "
               "2; use one that divides it");
  EXPECT_ERROR(train(model({"reducing_dim", 0})), "by a factor of 0");
}

// [2048, 1, 1, 1] by ones, of halves: 2048 + 1 is 2048, and 2051 is 2052.
float sumOfHalves(bool keepsPrecision) {
  Ir ir;
  Graph &graph = ir.getMainGraph();
  TensorInfo row(DataType::FLOAT16, {1, 4});
  const std::uint16_t ones[] = {0x3c00, 0x3c00, 0x3c00, 0x3c00};
  graph.addStream("x", row);
  graph.addConstant("ones", TensorInfo(DataType::FLOAT16, {4, 1}), ones);
  graph.addOp({"ai.onnx", "MatMul"}, {"x", "ones"}, {"y"},
              serialization("reducing_dim", 4, keepsPrecision), {});
  graph.addOp({"ai.onnx", "Cast"}, {"y"}, {"sum"},
              Attributes().set("to", std::string("FLOAT")), {});
  ir.dataFlow = DataFlow(1, {"sum"});
  Graph machine;
  toMachine(ir, machine, 1);
  auto device = modelDevice(1);
  poplar::Graph target(device->getDevice().getTarget());
  poplar::Engine engine(target,
                        lowerStep(ir, machine, target, {.isMachine = true}));
  engine.load(device->getDevice());
  std::uint16_t x[] = {0x6800, 0x3c00, 0x3c00, 0x3c00};
  float sum = 0;
  engine.connectStream("x", std::begin(x), std::end(x));
  engine.connectStream(anchorHandle("sum"), &sum, &sum + 1);
  engine.run(0);
  return sum;
}

TEST(SerializedMatMul, KeepsThePrecisionOfPartialSumsIfAsked) {
  EXPECT_EQ(sumOfHalves(false), 2048.0f);
  EXPECT_EQ(sumOfHalves(true), 2052.0f);
}

} // namespace
} // namespace popart::tests
