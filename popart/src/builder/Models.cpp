// Weights of a model that is being built, and models from files and to them.
#include <builder/Builder.hpp>

#include <onnx/ExternalData.hpp>
#include <onnx/Metadata.hpp>
#include <onnx/Model.hpp>
#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <climits>
#include <fstream>

namespace popart {
namespace {

// Small ones may hold shapes and the like, which inference must see.
constexpr std::int64_t mostElementsToSee = 4096;

} // namespace

void ModelBuilder::Implementation::addWeight(const TensorId &id,
                                             const TensorInfo &info,
                                             const void *data) {
  if (data && info.nelms() <= mostElementsToSee) {
    shapes.addConstant(id, info, data);
  } else {
    shapes.addVariable(id, info, nullptr);
  }
}

TensorInfo ModelBuilder::Implementation::infoOnReplica(
    const TensorId &id, const TensorInfo &info,
    const VariableSettings &settings) const {
  if (auto replicas = embeddedReplicationFactor(model)) {
    return {info.dataType(),
            settings.shapeOnReplica(info.shape(), *replicas, id)};
  }
  bool isOneGroup = settings.isUsingCommGroup() &&
                    settings.getCommGroupType() == CommGroupType::All;
  support::requireUser<error>(
      isOneGroup,
      "[Builder] the shape of variable '{}' depends on the number of replicas; "
      "call embedReplicationFactor first",
      id);
  return info;
}

void ModelBuilder::loadModelProto(const std::string &modelProtoOrFilename) {
  Implementation &self = *implementation_;
  self.model = *loadModel(modelProtoOrFilename).proto;
  auto claim = [&](const TensorId &id) {
    self.names->insert(id);
    self.tensors.insert(id);
  };
  auto grouped = variableSettingsOf(self.model);
  for (const auto &tensor : self.graph().initializer()) {
    const TensorId &id = tensor.name();
    claim(id);
    auto settings = grouped.find(id);
    if (settings == grouped.end()) {
      self.addWeight(id, infoOf(tensor), bytesOf(tensor).data());
    } else {
      self.addWeight(id,
                     self.infoOnReplica(id, infoOf(tensor), settings->second),
                     nullptr);
    }
  }
  for (const auto &input : self.graph().input()) {
    const auto &type = input.type().tensor_type();
    bool isKnown = type.has_shape() && !self.tensors.count(input.name());
    Shape shape;
    for (const auto &dim : type.shape().dim()) {
      isKnown = isKnown && dim.has_dim_value();
      shape.push_back(dim.dim_value());
    }
    if (isKnown) {
      self.shapes.addStream(
          input.name(),
          checkedInfo(fromOnnxType(type.elem_type()), shape, input.name()));
    }
    claim(input.name());
  }
  for (onnx::NodeProto &node : *self.graph().mutable_node()) {
    for (const TensorId &id : node.output()) {
      claim(id);
      self.producers[id] = &node;
    }
    self.infer(node);
  }
}

TensorId
ModelBuilder::addInitializedInputTensor(const ConstVoidData &data,
                                        const DebugContext &debugContext) {
  return addInitializedInputTensor(data, VariableSettings(), debugContext);
}

TensorId
ModelBuilder::addInitializedInputTensor(const ConstVoidData &data,
                                        const VariableSettings &settings,
                                        const DebugContext &debugContext) {
  Implementation &self = *implementation_;
  const std::string &name = debugContext.getPathName();
  TensorId id = self.uniqueId(name.empty() ? "init_input" : name);
  onnx::TensorProto *tensor = self.graph().add_initializer();
  tensor->set_name(id);
  setData(*tensor, data.info, data.data);
  setInfo(*self.graph().add_input(), id, data.info);
  if (settings == VariableSettings()) {
    self.addWeight(id, data.info, data.data);
    return id;
  }
  self.addWeight(id, self.infoOnReplica(id, data.info, settings), nullptr);
  setMetadata(self.model, std::string(variableSettingsKey) + "/" + id,
              settings.str());
  return id;
}

std::string ModelBuilder::getModelProto() const {
  const onnx::ModelProto &model = implementation_->model;
  support::requireUser<error>(
      model.ByteSizeLong() <= INT_MAX,
      "[Builder] the model has {} bytes; a ModelProto has at most 2 GB. Call "
      "saveInitializersExternally first",
      model.ByteSizeLong());
  return model.SerializeAsString();
}

void ModelBuilder::saveModelProto(const std::string &fileName) const {
  std::ofstream file(fileName, std::ios::binary);
  file << getModelProto();
  support::requireUser<error>(bool(file), "[Builder] cannot write '{}'",
                              fileName);
}

void ModelBuilder::saveInitializersExternally(const std::vector<TensorId> &ids,
                                              const std::string &fileName) {
  saveExternalData(implementation_->model, ids, fileName);
}

void ModelBuilder::embedReplicationFactor(int replicationFactor) {
  setMetadata(implementation_->model, replicationFactorKey,
              std::to_string(replicationFactor));
}

} // namespace popart
