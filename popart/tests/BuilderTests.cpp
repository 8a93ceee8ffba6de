// Building models: names, shapes, attributes, opsets, and what is refused.
#include "OnnxModels.hpp"

#include <builder/Signatures.hpp>
#include <popart/builder.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace popart::tests {
namespace {

TensorInfo floats(const Shape &shape) {
  return TensorInfo("FLOAT", shape);
}

onnx::ModelProto protoOf(const Builder &builder) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(builder.getModelProto()));
  return model;
}

TEST(Builder, NamesTensorsByTypeScopeAndCount) {
  auto builder = Builder::create();
  auto onnx = builder->aiOnnxOpset9();
  TensorId a = builder->addInputTensor(floats({2}));
  EXPECT_EQ(a, "input");
  EXPECT_EQ(builder->addInputTensor(floats({2})), "input/1");
  EXPECT_EQ(builder->addInputTensor(floats({2}), "mine"), "mine");
  builder->pushNameScope("outer");
  builder->pushNameScope("inner");
  EXPECT_EQ(onnx.relu({a}, "named"), "outer/inner/Relu:0");
  EXPECT_EQ(onnx.relu({a}), "outer/inner/Relu:0/1");
  EXPECT_EQ(builder->getNameScope("x"), "outer/inner/x");
  builder->popNameScope();
  builder->popNameScope();
  EXPECT_EQ(onnx.relu({a}), "Relu:0");
  onnx::ModelProto model = protoOf(*builder);
  EXPECT_EQ(model.graph().node(0).name(), "outer/inner/named");
  EXPECT_EQ(model.graph().node(1).name(), "outer/inner/Relu");
  EXPECT_EQ(model.graph().node(2).name(), "");
  EXPECT_EQ(model.opset_import(0).version(), 9);
}

TEST(Builder, InfersShapesAsNodesAreAdded) {
  auto builder = Builder::create();
  auto onnx = builder->aiOnnxOpset11();
  TensorId a = builder->addInputTensor("FLOAT", {4, 1});
  std::vector<float> values(3, 1.0f);
  TensorId w = builder->addInitializedInputTensor({values.data(), floats({3})});
  EXPECT_EQ(w, "init_input");
  TensorId sum = onnx.add({a, w});
  EXPECT_EQ(builder->getTensorShape(sum), (Shape{4, 3}));
  EXPECT_EQ(builder->getTensorDtypeString(onnx.greater({a, w})), "bool");
  EXPECT_TRUE(builder->isInitializer(w));
  EXPECT_FALSE(builder->isInitializer(a));
  EXPECT_EQ(builder->getTrainableTensorIds(), (std::vector<TensorId>{w}));
  EXPECT_EQ(builder->getValueTensorIds()[0], sum);
  // No rule: the model can be built, its shapes are not known.
  TensorId places = onnx.nonzero({a});
  EXPECT_FALSE(builder->hasTensorShape(places));
  EXPECT_ERROR(builder->getTensorShape(places), "is not known");
  EXPECT_FALSE(builder->hasTensorShape(onnx.transpose({places})));
}

TEST(Builder, SaysWhatIsWrongWithInputs) {
  auto builder = Builder::create();
  auto onnx = builder->aiOnnxOpset10();
  EXPECT_ERROR(onnx.relu({"a"}),
               "Unknown tensor 'a' (there are no valid tensors yet).");
  TensorId a = builder->addInputTensor(floats({2}), "a");
  TensorId b = builder->addInputTensor(floats({3}), "b");
  EXPECT_ERROR(onnx.relu({"c"}),
               "Unknown tensor 'c' (valid tensors are a, b).");
  EXPECT_ERROR(onnx.relu({a, b}), "Relu has invalid number of inputs 2. Must "
                                  "be between 1..1");
  EXPECT_ERROR(onnx.concat({}, 0), "Must be between 1..inf");
  EXPECT_ERROR(onnx.add({a, b}), "Add");
  EXPECT_ERROR(builder->addInputTensor(floats({2}), "Gradient___x"),
               "clash with reserved prefix Gradient___");
  EXPECT_ERROR(builder->addOutputTensor("nothing"), "Unknown tensor");
}

TEST(Builder, KeepsOneOpsetPerDomain) {
  auto builder = Builder::create();
  TensorId a = builder->addInputTensor(floats({2}));
  builder->aiOnnxOpset10().relu({a});
  EXPECT_ERROR(builder->aiOnnxOpset9().relu({a}),
               "Invalid opset 9 used to add an operation. Opset for domain "
               "ai.onnx already defined as 10");
  builder->aiGraphcoreOpset1().detach({a});
}

TEST(Builder, SetsAttributesOfNodes) {
  auto builder = Builder::create();
  auto onnx = builder->aiOnnxOpset10();
  TensorId a = builder->addInputTensor(floats({2, 2}));
  TensorId b = onnx.relu({a});
  builder->virtualGraph({b}, 3);
  EXPECT_EQ(builder->getInt64NodeAttribute("__ipu_number", {b}), 3);
  EXPECT_ERROR(builder->virtualGraph({b}, 2),
               "Node already has attribute __ipu_number.");
  EXPECT_ERROR(builder->virtualGraph({"x"}, 2),
               "Could not find a node with outputs x. Must specify all outputs "
               "of a node");
  builder->setPartialsType(b, "half");
  builder->setPartialsType(b, "float");
  EXPECT_EQ(builder->getPartialsType(b), "float");
  EXPECT_EQ(builder->getAllNodeAttributeNames({b}).size(), 2u);
  builder->removeNodeAttribute("__ipu_number", {b});
  EXPECT_FALSE(builder->nodeHasAttribute("__ipu_number", {b}));
  EXPECT_ERROR(builder->setSerializeMatMul({b}, "sideways"), "sideways");
  builder->setAttribute("__pipeline_stage", std::int64_t{5});
  TensorId c = onnx.relu({b});
  builder->clearAttribute("__pipeline_stage");
  TensorId d = onnx.relu({c});
  EXPECT_EQ(builder->getInt64NodeAttribute("__pipeline_stage", {c}), 5);
  EXPECT_FALSE(builder->nodeHasAttribute("__pipeline_stage", {d}));
}

TEST(Builder, TakesOperatorsOfAnyDomain) {
  auto builder = Builder::create();
  TensorId a = builder->addInputTensor(floats({2}));
  auto outputs = builder->customOp({"custom.ops", "Cube", 1}, 1, {a}, 2,
                                   {{"alpha", 0.5f},
                                    {"name", "x"},
                                    {"list", std::vector<std::int64_t>{1, 2}}});
  EXPECT_EQ(outputs, (std::vector<TensorId>{"Cube:0", "Cube:1"}));
  std::set<TensorId> node(outputs.begin(), outputs.end());
  EXPECT_EQ(builder->getFloatNodeAttribute("alpha", node), 0.5f);
  EXPECT_EQ(builder->getStringNodeAttribute("name", node), "x");
  EXPECT_EQ(builder->getInt64VectorNodeAttribute("list", node),
            (std::vector<std::int64_t>{1, 2}));
}

TEST(Builder, SubgraphsShareNamesAndSeeTheirParent) {
  auto builder = Builder::create();
  auto onnx = builder->aiOnnxOpset10();
  TensorId a = builder->addInputTensor(floats({2}), "a");
  TensorId condition = builder->addInputTensor("BOOL", {}, "condition");
  Builder &yes = builder->createSubgraphBuilder();
  Builder &no = builder->createSubgraphBuilder();
  EXPECT_EQ(yes.addInputTensor(floats({2}), "a"), "a/1");
  yes.addInputTensorFromParentGraph(a);
  yes.addOutputTensor(yes.aiOnnxOpset10().relu({a}));
  no.addInputTensorFromParentGraph(a);
  TensorId inner = no.aiOnnxOpset10().tanh({a});
  no.addOutputTensor(inner);
  auto result = onnx.logical_if({condition}, 1, no, yes);
  EXPECT_EQ(builder->getTensorShape(result[0]), (Shape{2}));
  onnx::ModelProto model = protoOf(*builder);
  const auto &node = model.graph().node(0);
  EXPECT_EQ(node.op_type(), "If");
  EXPECT_EQ(node.attribute(0).name(), "else_branch");
  EXPECT_EQ(node.attribute(0).g().output(0).name(), inner);
  EXPECT_ERROR(onnx.relu({inner}), "Unknown tensor");
}

TEST(Builder, LoadsAModelAndGoesOn) {
  auto builder = Builder::createFromOnnxModel(bytesOf(smallModel(10)));
  EXPECT_EQ(builder->getTensorShape("y"), (Shape{2, 3}));
  EXPECT_EQ(builder->aiOnnxOpset10().relu({"y"}), "Relu:0");
  EXPECT_ERROR(builder->aiOnnxOpset11().relu({"y"}), "already defined as 10");
  EXPECT_ERROR(Builder::createFromOnnxModel(bytesOf(smallModel(5))),
               "Encountered ONNX opset version 5");
}

// "conv(args, dilations=[], group=1)", as the documentation has it.
std::string describe(const Signature &signature) {
  std::vector<std::string> parts;
  if (signature.inputs != BuilderInputs::None) {
    parts.emplace_back("args");
  }
  if (signature.outputs == Signature::Outputs::Counted) {
    parts.emplace_back("num_outputs");
  }
  for (const OnnxAttribute &argument : signature.arguments) {
    parts.push_back(argument.name + (argument.isRequired ? "" : "?"));
  }
  bool isList = signature.outputs != Signature::Outputs::One;
  return fmt::format("{}({}){}", signature.method, fmt::join(parts, ", "),
                     isList ? "[]" : "");
}

TEST(Signatures, AreThoseOfTheDocumentation) {
  struct Row {
    int opset;
    const char *text;
  };
  const Row rows[] = {
      {6, "add(args, axis?, broadcast?)"},
      {7, "add(args)"},
      {6, "argmax(args, axis?, keepdims?)"},
      {6, "averagepool(args, kernel_shape, pads?, strides?)"},
      {7, "averagepool(args, kernel_shape, count_include_pad?, pads?, "
          "strides?)"},
      {10, "averagepool(args, kernel_shape, ceil_mode?, count_include_pad?, "
           "pads?, strides?)"},
      {6, "maxpool(args, kernel_shape, pads?, strides?)"},
      {8, "maxpool(args, num_outputs, kernel_shape, pads?, storage_order?, "
          "strides?)[]"},
      {10, "maxpool(args, num_outputs, kernel_shape, ceil_mode?, dilations?, "
           "pads?, storage_order?, strides?)[]"},
      {6, "batchnormalization(args, num_outputs, epsilon?, is_test?, "
          "momentum?, spatial?)[]"},
      {9, "batchnormalization(args, num_outputs, epsilon?, momentum?)[]"},
      {9, "cast(args, to)"},
      {10, "clip(args, max?, min?)"},
      {11, "clip(args)"},
      {10, "constant(value)"},
      {10, "conv(args, dilations?, group?, kernel_shape?, pads?, strides?)"},
      {10, "convtranspose(args, dilations?, group?, kernel_shape?, "
           "output_padding?, output_shape?, pads?, strides?)"},
      {11, "cumsum(args, exclusive?, reverse?)"},
      {10, "dropout(args, num_outputs, ratio?)[]"},
      {6, "gemm(args, alpha?, beta?, broadcast?, transA?, transB?)"},
      {10, "lstm(args, num_outputs, activation_alpha?, activation_beta?, "
           "activations?, clip?, direction?, hidden_size?, input_forget?)[]"},
      {10, "lrn(args, size, alpha?, beta?, bias?)"},
      {10, "logical_if(args, num_outputs, else_branch, then_branch)[]"},
      {9, "scan(args, num_outputs, body, num_scan_inputs, scan_input_axes?, "
          "scan_input_directions?, scan_output_axes?, "
          "scan_output_directions?)[]"},
      {8, "scan(args, num_outputs, body, num_scan_inputs, directions?)[]"},
      {10, "randomnormal(shape, dtype?, mean?, scale?, seed?)"},
      {10, "onehot(args, axis?)"},
      {10, "pad(args, pads, mode?, value?)"},
      {11, "pad(args, mode?)"},
      {10, "reducesum(args, axes?, keepdims?)"},
      {11, "resize(args, coordinate_transformation_mode?, cubic_coeff_a?, "
           "exclude_outside?, extrapolation_value?, mode?, nearest_mode?)"},
      {10, "roialign(args, mode?, output_height?, output_width?, "
           "sampling_ratio?, spatial_scale?)"},
      {9, "slice(args, ends, starts, axes?)"},
      {10, "slice(args)"},
      {10, "split(args, num_outputs, axis?, split?)[]"},
      {9, "topk(args, k, axis?)[]"},
      {11, "topk(args, axis?, largest?, sorted?)[]"},
      {6, "upsample(args, height_scale, width_scale, mode?)"},
      {7, "upsample(args, scales, mode?)"},
      {9, "upsample(args, mode?)"},
      {10, "isinf(args, detect_negative?, detect_positive?)"},
      {10, "logical_not(args)"},
  };
  for (const Row &row : rows) {
    std::string text = row.text;
    std::string name = text.substr(0, text.find('('));
    std::string found;
    for (const Signature &signature : aiOnnxSignatures(row.opset)) {
      if (signature.method == name) {
        found = describe(signature);
      }
    }
    EXPECT_EQ(found, text) << "opset " << row.opset;
  }
}

} // namespace
} // namespace popart::tests
