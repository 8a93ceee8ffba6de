// Changes to whole models: types of elements, unused inputs, training.
#include <popart/graphtransformer.hpp>

#include <onnx/ConvertTypes.hpp>
#include <onnx/ExternalData.hpp>
#include <onnx/Model.hpp>
#include <onnx/Proto.hpp>
#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <set>
#include <utility>

namespace popart {

struct GraphTransformer::Implementation {
  OnnxModel model;

  onnx::GraphProto &graph() const { return *model.proto->mutable_graph(); }
  void convert(DataType from, DataType to, bool clip = false) const {
    convertTypes(*model.proto, from, to, clip);
  }
};

namespace {

template <typename List, typename F> void eraseIf(List &list, F &&f) {
  for (int i = list.size() - 1; i >= 0; --i) {
    if (f(list.Get(i))) {
      list.DeleteSubrange(i, 1);
    }
  }
}

std::set<TensorId> usedIn(onnx::GraphProto &graph) {
  std::set<TensorId> used;
  forEachNode(graph, [&](const onnx::NodeProto &node) {
    used.insert(node.input().begin(), node.input().end());
  });
  for (const onnx::ValueInfoProto &output : graph.output()) {
    used.insert(output.name());
  }
  return used;
}

std::set<TensorId> outputsIn(onnx::GraphProto &graph) {
  std::set<TensorId> names;
  forEachNode(graph, [&](const onnx::NodeProto &node) {
    names.insert(node.output().begin(), node.output().end());
  });
  return names;
}

bool isFixedPoint(DataType type) {
  switch (type) {
  case DataType::FLOAT:
  case DataType::FLOAT16:
  case DataType::BFLOAT16:
  case DataType::DOUBLE:
  case DataType::COMPLEX64:
  case DataType::COMPLEX128:
    return false;
  default:
    return true;
  }
}

} // namespace

GraphTransformer::GraphTransformer(const std::string &modelProtoOrFilename)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->model = loadModel(modelProtoOrFilename);
}

GraphTransformer::~GraphTransformer() = default;

std::string GraphTransformer::getModelProto() const {
  return implementation_->model.proto->SerializeAsString();
}

void GraphTransformer::removeUnusedInputs() {
  onnx::GraphProto &graph = implementation_->graph();
  std::set<TensorId> used = usedIn(graph);
  auto isUnused = [&](const auto &named) {
    return used.count(named.name()) == 0;
  };
  eraseIf(*graph.mutable_input(), isUnused);
  eraseIf(*graph.mutable_initializer(), isUnused);
}

void GraphTransformer::prepareNodesForTraining() {
  onnx::GraphProto &graph = implementation_->graph();
  std::set<TensorId> names = outputsIn(graph);
  forEachNode(graph, [&](onnx::NodeProto &node) {
    if (node.op_type() == "BatchNormalization") {
      for (const char *suffix :
           {"mean", "variance", "batch_mean", "batch_variance"}) {
        if (node.output_size() >= 5) {
          break;
        }
        TensorId name = fmt::format("{}/{}", node.output(0), suffix);
        while (!names.insert(name).second) {
          name += "_";
        }
        node.add_output(name);
      }
    } else if (node.op_type() == "Dropout") {
      eraseIf(*node.mutable_attribute(), [](const auto &attribute) {
        return attribute.name() == "is_test";
      });
    }
  });
}

void GraphTransformer::convertFloatsToHalfs() {
  implementation_->convert(DataType::FLOAT, DataType::FLOAT16);
}

void GraphTransformer::convertUINT8ToINT32() {
  implementation_->convert(DataType::UINT8, DataType::INT32);
}

void GraphTransformer::convertUINT16ToINT32() {
  implementation_->convert(DataType::UINT16, DataType::INT32);
}

void GraphTransformer::convertINT8ToINT32() {
  implementation_->convert(DataType::INT8, DataType::INT32);
}

void GraphTransformer::convertINT16ToINT32() {
  implementation_->convert(DataType::INT16, DataType::INT32);
}

void GraphTransformer::convertINT64ToINT32(bool clip) {
  implementation_->convert(DataType::INT64, DataType::INT32, clip);
}

void GraphTransformer::convertDoublesToFloats() {
  implementation_->convert(DataType::DOUBLE, DataType::FLOAT);
}

void GraphTransformer::convertDoublesToHalfs() {
  implementation_->convert(DataType::DOUBLE, DataType::FLOAT16);
}

void GraphTransformer::convertBFloats16ToFloat32() {
  implementation_->convert(DataType::BFLOAT16, DataType::FLOAT);
}

void GraphTransformer::convertInitializersToConstants(
    const std::vector<TensorId> &ids) {
  onnx::GraphProto &graph = implementation_->graph();
  std::set<TensorId> wanted(ids.begin(), ids.end());
  onnx::GraphProto changed = graph;
  changed.clear_node(); // constants come before what reads them
  for (const TensorId &id : wanted) {
    onnx::TensorProto *tensor = findInitializer(graph, id);
    support::requireUser<error>(tensor != nullptr,
                                "[GraphTransformer] tensor '{}' is not an "
                                "initialiser",
                                id);
    onnx::NodeProto *node = changed.add_node();
    node->set_op_type("Constant");
    node->add_output(id);
    onnx::AttributeProto *value = node->add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    *value->mutable_t() = *tensor;
  }
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    changed.add_node()->Swap(&node);
  }
  auto isWanted = [&](const auto &named) {
    return wanted.count(named.name()) > 0;
  };
  eraseIf(*changed.mutable_initializer(), isWanted);
  eraseIf(*changed.mutable_input(), isWanted);
  graph.Swap(&changed);
}

void GraphTransformer::convertAllFixedPointInitializersToConstants() {
  std::vector<TensorId> ids;
  for (const auto &tensor : implementation_->graph().initializer()) {
    if (isFixedPoint(infoOf(tensor).dataType())) {
      ids.push_back(tensor.name());
    }
  }
  convertInitializersToConstants(ids);
}

void GraphTransformer::saveInitializersExternally(
    const std::vector<TensorId> &ids, const std::string &fileName) {
  saveExternalData(*implementation_->model.proto, ids, fileName);
}

} // namespace popart
