// Sessions made from ONNX models, and weights that come from models and go into
// them.
#include <session/Implementation.hpp>

#include <onnx/ExternalData.hpp>
#include <onnx/Import.hpp>
#include <onnx/Proto.hpp>
#include <onnx/TensorData.hpp>
#include <session/OptimizerState.hpp>
#include <support/Timed.hpp>

#include <algorithm>
#include <climits>
#include <fstream>

namespace popart {
namespace {

namespace fs = std::filesystem;

struct Imported {
  OnnxModel model;
  std::shared_ptr<Ir> ir;
};

Tensor *findVariable(Graph &graph, const TensorId &id) {
  bool isVariable =
      graph.hasTensor(id) && graph.getTensor(id).type == TensorType::Variable;
  return isVariable ? &graph.getTensor(id) : nullptr;
}

// The graph has the weights; they are not needed twice.
void dropWeights(OnnxModel &model, Graph &graph) {
  for (auto &tensor : *model.proto->mutable_graph()->mutable_initializer()) {
    const Tensor *variable = findVariable(graph, tensor.name());
    if (variable && !variable->consumers.empty()) { // see savedState
      clearData(tensor);
    }
  }
}

Imported import(const std::string &model, const DataFlow &dataFlow,
                const InputShapeInfo &inputShapeInfo,
                const SessionOptions &options, const Patterns &patterns,
                bool isTraining) {
  patterns.ensureAllMandatoryPatternsAreEnabled();
  constexpr support::Logger logger(support::LogChannel::Popart, "transform");
  Imported result{
      support::timed(logger, "loadModel", [&] { return loadModel(model); }),
      std::make_shared<Ir>()};
  result.ir->dataFlow = dataFlow;
  result.ir->sessionOptions = options;
  result.ir->patterns = patterns;
  ImportOptions how;
  how.inputShapeInfo = inputShapeInfo;
  how.areWeightsVariable = isTraining || !options.constantWeights;
  how.strictOpVersions = options.strictOpVersions;
  how.isTraining = isTraining;
  how.replicationFactor =
      static_cast<unsigned>(options.getGlobalReplicationFactor());
  support::timed(logger, "importModel", [&] {
    importModel(result.model, how, result.ir->getMainGraph());
    dropWeights(result.model, result.ir->getMainGraph());
  });
  return result;
}

void requireSameInfo(const Session::Implementation &self, const Tensor &tensor,
                     const TensorInfo &info) {
  support::requireUser<error>(
      self.hostInfo(tensor) == info,
      "[session] the model has '{}' as {}, the session as {} of other shape or "
      "type",
      tensor.id, info.data_type(), tensor.info.data_type());
}

// A model that was saved while training goes on where it was.
void takeState(Session::Implementation &self) {
  for (auto &[id, state] : savedState(self.model)) {
    if (Tensor *tensor = findVariable(self.ir->getMainGraph(), id)) {
      requireSameInfo(self, *tensor, state.info);
      tensor->data = state.data;
    }
  }
}

} // namespace

std::unique_ptr<InferenceSession> InferenceSession::createFromOnnxModel(
    const std::string &model, const DataFlow &dataFlow,
    std::shared_ptr<DeviceInfo> device, const InputShapeInfo &inputShapeInfo,
    const SessionOptions &userOptions, const Patterns &patterns,
    const std::string &name) {
  Imported imported = import(model, dataFlow, inputShapeInfo, userOptions,
                             patterns, /*isTraining=*/false);
  auto session = createFromIr(imported.ir, std::move(device), name);
  Implementation &self = *session->implementation_;
  self.model = std::move(imported.model);
  return session;
}

std::unique_ptr<TrainingSession> TrainingSession::createFromOnnxModel(
    const std::string &model, const DataFlow &dataFlow, const TensorId &loss,
    const Optimizer &optimizer, std::shared_ptr<DeviceInfo> device,
    const InputShapeInfo &inputShapeInfo, const SessionOptions &userOptions,
    const Patterns &patterns, const std::string &name) {
  Imported imported = import(model, dataFlow, inputShapeInfo, userOptions,
                             patterns, /*isTraining=*/true);
  imported.ir->loss = loss;
  imported.ir->optimizer = optimizer.clone();
  auto session = createFromIr(imported.ir, std::move(device), name);
  Implementation &self = *session->implementation_;
  self.model = std::move(imported.model);
  takeState(self);
  return session;
}

void Session::modelToHost(const std::string &fileName) {
  Implementation &self = *implementation_;
  support::requireUser<error>(self.model.proto != nullptr,
                              "[modelToHost] the session was not made from an "
                              "ONNX model");
  weightsToHost();
  Graph &graph = self.ir->getMainGraph();
  onnx::ModelProto saved = *self.model.proto;
  std::set<TensorId> known;
  for (auto &tensor : *saved.mutable_graph()->mutable_initializer()) {
    known.insert(tensor.name());
    auto external = self.model.external.find(tensor.name());
    const Tensor *variable = findVariable(graph, tensor.name());
    if (external != self.model.external.end()) {
      writeExternal(self.model.folder, external->second,
                    variable ? variable->data.bytes() : bytesOf(tensor));
      setExternal(tensor, external->second);
    } else if (variable) {
      setData(tensor, self.hostInfo(*variable), variable->data.data());
    }
  }
  const auto &asked = self.ir->additionalModelProtoTensors();
  self.forEachVariable([&](const Tensor &variable) {
    bool isWritten =
        isOptimizerStateId(variable.id) ||
        std::find(asked.begin(), asked.end(), variable.id) != asked.end();
    if (isWritten && !known.count(variable.id)) {
      auto *tensor = saved.mutable_graph()->add_initializer();
      tensor->set_name(variable.id);
      setData(*tensor, self.hostInfo(variable), variable.data.data());
      // Models before version 4 list initialisers as inputs.
      saved.set_ir_version(std::max<std::int64_t>(4, saved.ir_version()));
    }
  });
  support::requireUser<error>(
      saved.ByteSizeLong() <= INT_MAX,
      "[modelToHost] the model has {} bytes; a ModelProto has at most 2 GB. "
      "Build it with saveInitializersExternally",
      saved.ByteSizeLong());
  std::ofstream file(fileName, std::ios::binary);
  support::requireUser<error>(saved.SerializeToOstream(&file),
                              "[modelToHost] cannot write '{}'", fileName);
}

void Session::resetHostWeights(
    const std::string &modelProtoOrFilename,
    bool ignoreWeightsInModelWithoutCorrespondingHostWeight) {
  Implementation &self = *implementation_;
  support::requireUser<error>(
      !self.areWeightsConstant(),
      "Cannot call resetHostWeights when constantWeights is set");
  Graph &graph = self.ir->getMainGraph();
  OnnxModel model = loadModel(modelProtoOrFilename);
  for (const auto &proto : model.proto->graph().initializer()) {
    Tensor *tensor = findVariable(graph, proto.name());
    if (tensor) {
      requireSameInfo(self, *tensor, infoOf(proto));
      tensor->data = bytesOf(proto);
      continue;
    }
    support::requireUser<error>(
        graph.hasTensor(proto.name()) ||
            ignoreWeightsInModelWithoutCorrespondingHostWeight,
        "resetHostWeights, no tensor '{}' in tensors", proto.name());
  }
}

void Session::updateExternallySavedTensorLocations(
    const std::string &fromLocation, const std::string &toLocation) {
  OnnxModel &model = implementation_->model;
  fs::path from = model.folder / fromLocation;
  fs::path to = model.folder / toLocation;
  support::requireUser<error>(fs::exists(from),
                              "[updateExternallySavedTensorLocations] there is "
                              "no file '{}'",
                              from.string());
  support::requireUser<error>(!fs::exists(to),
                              "[updateExternallySavedTensorLocations] there is "
                              "a file '{}' already",
                              to.string());
  bool isUsed = false;
  for (auto &[id, where] : model.external) {
    if (where.location == fromLocation) {
      where.location = toLocation;
      isUsed = true;
    }
  }
  support::requireUser<error>(isUsed,
                              "[updateExternallySavedTensorLocations] no "
                              "initialiser is in '{}'",
                              fromLocation);
  fs::copy_file(from, to);
}

} // namespace popart
