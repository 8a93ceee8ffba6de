// Models that are damaged or made to do harm: each is a popart::error, none a
// crash.
#include "OnnxModels.hpp"

#include <onnx/ExternalData.hpp>
#include <onnx/Import.hpp>

#include <random>

namespace popart::tests {
namespace {

void import(const std::string &bytesOrFile) {
  OnnxModel model = loadModel(bytesOrFile);
  Graph graph;
  importModel(model, {}, graph);
}

void import(const onnx::ModelProto &model) {
  import(bytesOf(model));
}

TEST(OnnxHostile, BytesThatAreNoModel) {
  EXPECT_ERROR(import(std::string()), "Failed to load a ModelProto");
  EXPECT_ERROR(import("no/such/file.onnx"), "Failed to load a ModelProto");
  EXPECT_ERROR(import(std::string(100000, '\xff')),
               "Failed to load a ModelProto");
}

TEST(OnnxHostile, EveryTruncation) {
  std::string whole = bytesOf(smallModel());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    // Some prefixes are models in their own right, with less in them.
    errorOf([&] { import(whole.substr(0, length)); });
  }
}

TEST(OnnxHostile, RandomDamage) {
  std::string whole = bytesOf(smallModel());
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (unsigned count = random() % 4 + 1; count > 0; --count) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    errorOf([&] { import(damaged); });
  }
}

TEST(OnnxHostile, AbsurdDimensions) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  onnx::ModelProto input = smallModel();
  addInput(input, "z", {huge, huge, 8});
  EXPECT_ERROR(import(input), "input 'z' has shape");
  onnx::ModelProto weight = smallModel();
  addNode(weight, "Relu", {"v"}, "z");
  addInitializer(weight, "v", {huge, 4}, {1});
  EXPECT_ERROR(import(weight), "v");
  onnx::ModelProto negative = smallModel();
  addInput(negative, "z", {-3});
  EXPECT_ERROR(import(negative), "a dimension is negative");
  onnx::ModelProto product = emptyModel();
  addInput(product, "a", {1 << 30, 1});
  addInput(product, "b", {1, 1 << 30});
  addNode(product, "Add", {"a", "b"}, "c");
  EXPECT_ERROR(import(product), "more elements than any device holds");
}

TEST(OnnxHostile, FewerOrMoreElementsThanTheShapeSays) {
  onnx::ModelProto model = smallModel();
  addNode(model, "Relu", {"v"}, "z");
  addInitializer(model, "v", {4}, {1, 2, 3});
  EXPECT_ERROR(import(model), "tensor 'v' has 12 bytes");
}

TEST(OnnxHostile, CyclesAndMissingInputs) {
  onnx::ModelProto cycle = smallModel();
  addNode(cycle, "Add", {"q", "x"}, "p");
  addNode(cycle, "Relu", {"p"}, "q");
  EXPECT_ERROR(import(cycle), "topologically sorted");
  onnx::ModelProto missing = smallModel();
  addNode(missing, "Relu", {"nowhere"}, "z");
  EXPECT_ERROR(import(missing), "nowhere");
}

TEST(OnnxHostile, NamesUsedTwice) {
  onnx::ModelProto outputs = smallModel();
  addNode(outputs, "Relu", {"x"}, "y");
  EXPECT_ERROR(import(outputs), "single static assignment");
  onnx::ModelProto weights = smallModel();
  addInitializer(weights, "w", {3}, {1, 2, 3});
  EXPECT_ERROR(import(weights), "w initializer name is not unique");
}

TEST(OnnxHostile, NodesOfWrongArity) {
  onnx::ModelProto model = smallModel();
  addNode(model, "Relu", {"x", "w"}, "z");
  EXPECT_ERROR(import(model), "node_z");
  onnx::ModelProto none = smallModel();
  none.mutable_graph()->mutable_node(1)->clear_output();
  EXPECT_ERROR(import(none), "Relu");
}

TEST(OnnxHostile, DeepNesting) {
  onnx::ModelProto model = emptyModel();
  onnx::GraphProto *graph = model.mutable_graph();
  for (int depth = 0; depth < 500; ++depth) {
    onnx::NodeProto *node = graph->add_node();
    node->set_op_type("If");
    auto *branch = node->add_attribute();
    branch->set_name("then_branch");
    branch->set_type(onnx::AttributeProto::GRAPH);
    graph = branch->mutable_g();
  }
  EXPECT_ERROR(import(model), "Failed to load a ModelProto");
}

TEST(OnnxHostile, SparseInitialisersAndUnknownTypes) {
  onnx::ModelProto model = emptyModel();
  addInput(model, "t", {1}, onnx::TensorProto::STRING);
  EXPECT_ERROR(import(model), "element type 8");
  onnx::ModelProto undefined = smallModel();
  undefined.mutable_graph()->mutable_initializer(0)->set_data_type(77);
  EXPECT_ERROR(import(undefined), "");
}

class OnnxExternalData : public ::testing::Test {
protected:
  // smallModel with its weight in a file of the test's folder.
  onnx::ModelProto model(const std::string &location,
                         const std::string &offset = "",
                         const std::string &length = "") {
    onnx::ModelProto proto = smallModel();
    auto *tensor = proto.mutable_graph()->mutable_initializer(0);
    tensor->clear_float_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    auto add = [&](const char *key, const std::string &value) {
      if (!value.empty()) {
        auto *entry = tensor->add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    return proto;
  }
  void importFile(const onnx::ModelProto &proto) {
    import(folder.write("model.onnx", bytesOf(proto)));
  }

  Folder folder;
  std::string data = folder.write("data.bin", std::string(20, '\0'));
};

TEST_F(OnnxExternalData, IsReadFromTheModelsFolder) {
  const float values[] = {0, 5, 6, 7};
  folder.write("data.bin",
               {reinterpret_cast<const char *>(values), sizeof(values)});
  OnnxModel loaded =
      loadModel(folder.write("m.onnx", bytesOf(model("data.bin", "4", "12"))));
  Graph graph;
  importModel(loaded, {}, graph);
  const auto *read =
      reinterpret_cast<const float *>(graph.getTensor("w").data.data());
  EXPECT_EQ(read[0], 5);
  EXPECT_EQ(read[2], 7);
  EXPECT_EQ(loaded.external.at("w").offset, 4);
}

TEST_F(OnnxExternalData, OutsideTheFolderIsRefused) {
  for (const char *location : {"../data.bin", "a/../../x", "/etc/hostname"}) {
    EXPECT_ERROR(importFile(model(location)), "outside the model's folder");
  }
  std::filesystem::create_directories(folder.path() / "inner");
  std::filesystem::create_symlink(data, folder.path() / "inner" / "link.bin");
  std::string file =
      folder.write("inner/model.onnx", bytesOf(model("link.bin", "", "12")));
  EXPECT_ERROR(import(file), "outside the model's folder");
}

TEST_F(OnnxExternalData, MustBeThereInFull) {
  EXPECT_ERROR(importFile(model("other.bin")), "there is no file");
  EXPECT_ERROR(importFile(model("data.bin", "12", "12")), "are not in");
  EXPECT_ERROR(importFile(model("data.bin", "99999999999", "12")),
               "are not in");
  EXPECT_ERROR(importFile(model("data.bin", "0", "8")), "has 8 bytes");
  EXPECT_ERROR(importFile(model("data.bin", "9223372036854775807", "1")),
               "are not in");
  EXPECT_ERROR(importFile(model("data.bin", "-4", "12")), "not a number");
  EXPECT_ERROR(importFile(model("data.bin", "4x", "12")), "not a number");
  EXPECT_ERROR(importFile(model(".")), "there is no file");
  EXPECT_ERROR(importFile(model("")), "has no location");
}

TEST_F(OnnxExternalData, IsSavedAndReadAgain) {
  onnx::ModelProto proto = smallModel();
  addInitializer(proto, "v", {2}, {8, 9});
  std::string file = (folder.path() / "weights.bin").string();
  auto saved = saveExternalData(proto, {"w", "v"}, file);
  EXPECT_EQ(saved.at("v").offset, 12);
  EXPECT_EQ(std::filesystem::file_size(file), 20u);
  // The program's own bytes may name a file anywhere.
  OnnxModel loaded = loadModel(bytesOf(proto));
  EXPECT_EQ(savedState(loaded).at("v").data.size(), 8u);
  EXPECT_ERROR(saveExternalData(proto, {"w"}, file), "already");
  EXPECT_ERROR(saveExternalData(proto, {"nothing"}, file), "not an initial");
}

// A sparse file: nothing is read before the size is known to be right.
TEST_F(OnnxExternalData, BeyondTwoGigabytes) {
  constexpr std::int64_t offset = 3'000'000'000;
  {
    std::ofstream file(folder.path() / "large.bin", std::ios::binary);
    const float values[] = {4, 5, 6};
    file.seekp(offset);
    file.write(reinterpret_cast<const char *>(values), sizeof(values));
  }
  OnnxModel loaded = loadModel(folder.write(
      "m.onnx", bytesOf(model("large.bin", std::to_string(offset), "12"))));
  Graph graph;
  importModel(loaded, {}, graph);
  const auto *read =
      reinterpret_cast<const float *>(graph.getTensor("w").data.data());
  EXPECT_EQ(read[0], 4);
  EXPECT_EQ(read[2], 6);
}

} // namespace
} // namespace popart::tests
