// Reading ONNX models: what they become, and what is refused.
#include "OnnxModels.hpp"

#include <ir/Verify.hpp>
#include <onnx/Import.hpp>
#include <onnx/TensorData.hpp>

#include <fmt/format.h>

#include <cstring>

namespace popart::tests {
namespace {

struct Imported {
  OnnxModel model;
  Graph graph;
  explicit Imported(const onnx::ModelProto &proto,
                    const ImportOptions &options = {})
      : Imported(bytesOf(proto), options) {}
  explicit Imported(const std::string &bytesOrFile,
                    const ImportOptions &options = {})
      : model(loadModel(bytesOrFile)) {
    importModel(model, options, graph);
    verifyGraph(graph);
  }
};

std::vector<float> floatsOf(const Tensor &tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

TEST(OnnxImport, MakesStreamsConstantsAndOperations) {
  Imported imported(smallModel());
  const Graph &graph = imported.graph;
  EXPECT_EQ(graph.getTensor("x").type, TensorType::Stream);
  EXPECT_EQ(graph.getTensor("x").info, TensorInfo("FLOAT", {2, 3}));
  EXPECT_EQ(graph.getTensor("w").type, TensorType::Const);
  EXPECT_EQ(floatsOf(graph.getTensor("w")), (std::vector<float>{1, -2, 3}));
  EXPECT_EQ(graph.getTensor("y").info, TensorInfo("FLOAT", {2, 3}));
  ASSERT_EQ(graph.getOps().size(), 2u);
  const Op &add = *graph.getOps().front();
  EXPECT_EQ(add.opid, (OperatorIdentifier{"ai.onnx", "Add", 7}));
  EXPECT_EQ(add.settings.name, "node_sum");
}

TEST(OnnxImport, TakesFloatingPointInitialisersAsVariablesIfAsked) {
  onnx::ModelProto model = smallModel();
  addInput(model, "data", {2}, onnx::TensorProto::INT64);
  onnx::TensorProto &count = addInitializer(model, "count", {2}, {});
  count.set_data_type(onnx::TensorProto::INT64);
  count.add_int64_data(2);
  count.add_int64_data(3);
  addNode(model, "Add", {"data", "count"}, "z");
  ImportOptions options;
  options.areWeightsVariable = true;
  Imported imported(model, options);
  EXPECT_EQ(imported.graph.getTensor("w").type, TensorType::Variable);
  EXPECT_EQ(imported.graph.getTensor("count").type, TensorType::Const);
}

TEST(OnnxImport, ResolvesSinceVersionsAtTheModelsOpset) {
  for (auto [opset, version] : {std::pair{9, 7}, {13, 13}, {17, 14}}) {
    Imported imported(smallModel(opset));
    EXPECT_EQ(imported.graph.getOps().front()->opid.version, version);
  }
}

TEST(OnnxImport, ReadsPlacementAndKeepsOtherMarks) {
  onnx::ModelProto model = smallModel();
  auto add = [&](const char *name, std::int64_t value) {
    auto *attribute = model.mutable_graph()->mutable_node(0)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  };
  add("__ipu_number", 2);
  add("__pipeline_stage", 3);
  add("__execution_phase", 4);
  add("__schedule_priority", 5);
  Imported imported(model);
  const Op &op = *imported.graph.getOps().front();
  EXPECT_EQ(op.settings.vgraphId, 2);
  EXPECT_EQ(op.settings.pipelineStage, 3);
  EXPECT_EQ(op.settings.executionPhase, 4);
  EXPECT_EQ(op.attributes.getInt("__schedule_priority", -1), 5);
}

TEST(OnnxImport, ConstantNodesBecomeConstants) {
  onnx::ModelProto model = emptyModel(12);
  onnx::NodeProto &node = addNode(model, "Constant", {}, "c");
  auto *value = node.add_attribute();
  value->set_name("value_ints");
  value->set_type(onnx::AttributeProto::INTS);
  value->add_ints(7);
  value->add_ints(-1);
  addOutput(model, "c", {2}, onnx::TensorProto::INT64);
  Imported imported(model);
  const Tensor &tensor = imported.graph.getTensor("c");
  EXPECT_EQ(tensor.type, TensorType::Const);
  EXPECT_EQ(tensor.info, TensorInfo("INT64", {2}));
  std::int64_t second = 0;
  std::memcpy(&second, tensor.data.data() + 8, 8);
  EXPECT_EQ(second, -1);
}

// Each value is -3, or true, in the field that ONNX has for the type.
TEST(OnnxImport, ReadsEveryFieldThatHoldsElements) {
  using Proto = onnx::TensorProto;
  auto hex = [](Proto &tensor, int type) {
    tensor.set_data_type(type);
    tensor.add_dims(1);
    std::string text;
    for (char byte : popart::bytesOf(tensor)) {
      text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
  };
  Proto a, b, c, d, e, f, g;
  a.add_float_data(-3);
  EXPECT_EQ(hex(a, Proto::FLOAT), "000040c0");
  b.add_int32_data(0xc200); // the bits of -3 in half precision
  EXPECT_EQ(hex(b, Proto::FLOAT16), "00c2");
  c.add_int32_data(-3);
  EXPECT_EQ(hex(c, Proto::INT8), "fd");
  d.add_int64_data(-3);
  EXPECT_EQ(hex(d, Proto::INT64), "fdffffffffffffff");
  e.add_int32_data(1);
  EXPECT_EQ(hex(e, Proto::BOOL), "01");
  f.add_uint64_data(4294967293u);
  EXPECT_EQ(hex(f, Proto::UINT32), "fdffffff");
  g.set_raw_data("\xfd\xff\xff\xff", 4);
  EXPECT_EQ(hex(g, Proto::INT32), "fdffffff");
}

TEST(OnnxImport, AsksForShapesThatTheModelLeavesOpen) {
  onnx::ModelProto model = smallModel();
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("batch");
  EXPECT_ERROR(Imported{model},
               "Input tensor 'x' must be specified in InputShapeInfo, as it "
               "has shape [batch, 3], which uses an unknown value 'batch'");
  ImportOptions options;
  options.inputShapeInfo.add("x", TensorInfo("FLOAT", {5, 3}));
  EXPECT_EQ(Imported(model, options).graph.getTensor("y").info,
            TensorInfo("FLOAT", {5, 3}));
}

TEST(OnnxImport, NamesTheNodeOfAnOperatorThatDoesNotExist) {
  onnx::ModelProto model = smallModel();
  addNode(model, "NoSuchThing", {"y"}, "z", "ai.graphcore");
  EXPECT_ERROR(Imported{model},
               "No class for ai.graphcore.NoSuchThing:1 at node 'node_z'");
  onnx::ModelProto places = smallModel();
  addInput(places, "m", {2, 2});
  addNode(places, "NonZero", {"m"}, "d");
  EXPECT_ERROR(Imported{places},
               "No class for ai.onnx.NonZero:9 at node 'node_d' "
               "(ai.onnx.NonZero, opset 11)");
}

TEST(OnnxImport, PutsTheNodeBeforeWhatARuleRefuses) {
  onnx::ModelProto model = smallModel();
  addInput(model, "five", {5});
  addNode(model, "Add", {"y", "five"}, "z");
  EXPECT_ERROR(Imported{model}, "node 'node_z' (ai.onnx.Add, opset 11): ");
}

TEST(OnnxImport, RefusesOtherOpsets) {
  EXPECT_ERROR(Imported{smallModel(5)}, "Encountered ONNX opset version 5");
  EXPECT_ERROR(Imported{smallModel(99)}, "Encountered ONNX opset version 99");
  EXPECT_ERROR(Imported{smallModel(-1)}, "Encountered ONNX opset version");
  onnx::ModelProto model = smallModel();
  model.mutable_opset_import(1)->set_version(2);
  EXPECT_ERROR(Imported{model}, "ai.graphcore opset version 2");
}

} // namespace
} // namespace popart::tests
