// Reading and checking models. Nothing here trusts the bytes.
#include <onnx/Model.hpp>

#include <onnx/ExternalData.hpp>
#include <onnx/Proto.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <onnx/checker.h>

#include <climits>
#include <fstream>
#include <utility>
#include <vector>

namespace popart {
namespace {

namespace fs = std::filesystem;

// Longer arguments are never tried as file names.
constexpr std::size_t longestPath = 4096;

bool isFile(const std::string &name) {
  std::error_code ignored;
  return !name.empty() && name.size() < longestPath &&
         name.find('\0') == std::string::npos &&
         fs::is_regular_file(name, ignored);
}

// "a/b.onnx" for messages; bytes are not printed.
std::string nameOf(const std::string &modelProtoOrFilename) {
  return isFile(modelProtoOrFilename) ? "'" + modelProtoOrFilename + "'"
                                      : "the given bytes";
}

std::string readFile(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  support::requireUser<error>(!file.bad(), "[ONNX] cannot read the file '{}'",
                              name);
  return bytes;
}

// ai.onnx has two spellings; ONNX's own tools know the empty one.
void useOneSpelling(onnx::ModelProto &model) {
  for (onnx::OperatorSetIdProto &opset : *model.mutable_opset_import()) {
    if (opset.domain() == "ai.onnx") {
      opset.clear_domain();
    }
  }
  forEachNode(*model.mutable_graph(), [](onnx::NodeProto &node) {
    if (node.domain() == "ai.onnx") {
      node.clear_domain();
    }
  });
}

void checkOpsets(const OnnxModel &model) {
  int version = model.opset("ai.onnx");
  support::requireUser<error>(
      version == 0 || (minAiOnnxOpset <= version && version <= maxAiOnnxOpset),
      "Encountered ONNX opset version {}, Maximimum supported opset is {}, "
      "minimum {} and default {}.",
      version, maxAiOnnxOpset, minAiOnnxOpset, defaultAiOnnxOpset);
  int graphcore = model.opset("ai.graphcore");
  support::requireUser<error>(graphcore == 0 || graphcore == 1,
                              "Encountered ai.graphcore opset version {}; the "
                              "only one is 1.",
                              graphcore);
}

// What the Builder cannot infer, it leaves open: after a custom operator, say.
// The checker wants a type; nothing reads it, as a session infers its own.
void typeOutputs(onnx::GraphProto &graph) {
  for (onnx::ValueInfoProto &output : *graph.mutable_output()) {
    if (!output.has_type()) {
      auto *type = output.mutable_type()->mutable_tensor_type();
      type->set_elem_type(onnx::TensorProto::UNDEFINED);
      type->mutable_shape();
    }
  }
}

bool isEmptyList(const onnx::AttributeProto &attribute) {
  using onnx::AttributeProto;
  switch (attribute.type()) {
  case AttributeProto::INTS:
    return attribute.ints_size() == 0;
  case AttributeProto::FLOATS:
    return attribute.floats_size() == 0;
  case AttributeProto::STRINGS:
    return attribute.strings_size() == 0;
  default:
    return false;
  }
}

// The checker wants an element in every list, but no axes are none that a
// reduction is over; and all inputs of Resize, of which programs leave some out
// in opset 11. While this lives, the model is one that the checker takes.
class StrictModel {
public:
  explicit StrictModel(onnx::ModelProto &model) {
    forEachNode(*model.mutable_graph(), [&](onnx::NodeProto &node) {
      takeLists(node);
      if (node.op_type() == "Resize") {
        nameInputs(node);
      }
    });
  }
  ~StrictModel() {
    for (auto &[node, attribute] : lists_) {
      *node->add_attribute() = std::move(attribute);
    }
    for (std::string *input : inputs_) {
      input->clear();
    }
  }
  StrictModel(const StrictModel &) = delete;
  StrictModel &operator=(const StrictModel &) = delete;

private:
  void takeLists(onnx::NodeProto &node) {
    auto &attributes = *node.mutable_attribute();
    for (int i = attributes.size(); i-- > 0;) {
      if (isEmptyList(attributes[i])) {
        lists_.emplace_back(&node, std::move(attributes[i]));
        attributes.DeleteSubrange(i, 1);
      }
    }
  }

  void nameInputs(onnx::NodeProto &node) {
    for (std::string &input : *node.mutable_input()) {
      if (input.empty()) {
        input = node.input(0);
        inputs_.push_back(&input);
      }
    }
  }

  std::vector<std::pair<onnx::NodeProto *, onnx::AttributeProto>> lists_;
  std::vector<std::string *> inputs_; // that were left out
};

} // namespace

int OnnxModel::opset(const std::string &domain) const {
  for (const onnx::OperatorSetIdProto &opset : proto->opset_import()) {
    std::string name = opset.domain().empty() ? "ai.onnx" : opset.domain();
    if (name == domain) {
      // Absurd versions are all alike: not supported.
      return opset.version() < 1 || opset.version() > INT_MAX
                 ? INT_MAX
                 : static_cast<int>(opset.version());
    }
  }
  return 0;
}

std::shared_ptr<onnx::ModelProto>
parseModel(const std::string &modelProtoOrFilename) {
  bool hasFile = isFile(modelProtoOrFilename);
  // Given bytes are not copied: weights may be most of the memory there is.
  const std::string read = hasFile ? readFile(modelProtoOrFilename) : "";
  const std::string &bytes = hasFile ? read : modelProtoOrFilename;
  std::string name = nameOf(modelProtoOrFilename);
  support::requireUser<error>(
      bytes.size() <= INT_MAX,
      "[ONNX] {} has {} bytes; a ModelProto has at most 2 GB. Save its "
      "initialisers in another file (saveInitializersExternally)",
      name, bytes.size());
  auto model = std::make_shared<onnx::ModelProto>();
  bool isParsed =
      model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  support::requireUser<error>(
      isParsed && model->has_graph(),
      "Failed to load a ModelProto from {} ({} bytes): it is neither the name "
      "of a file nor a whole ONNX model",
      name, bytes.size());
  useOneSpelling(*model);
  return model;
}

void checkModel(onnx::ModelProto &model) {
  StrictModel strict(model);
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception &e) { // it throws several kinds
    throw error(std::string("[ONNX] the model is not valid: ") + e.what());
  }
}

OnnxModel loadModel(const std::string &modelProtoOrFilename) {
  OnnxModel model;
  model.proto = parseModel(modelProtoOrFilename);
  checkOpsets(model);
  bool hasFile = isFile(modelProtoOrFilename);
  if (hasFile) {
    model.folder = fs::absolute(modelProtoOrFilename).parent_path();
  } else {
    model.folder = fs::current_path();
  }
  model.external =
      loadExternalData(*model.proto, model.folder, /*allowAbsolute=*/!hasFile);
  typeOutputs(*model.proto->mutable_graph());
  checkModel(*model.proto);
  return model;
}

} // namespace popart
