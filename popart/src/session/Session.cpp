// From the IR to an engine, and steps on it.
#include <session/Implementation.hpp>

#include <ir/GraphEditor.hpp>
#include <lowering/Types.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>
#include <transforms/Passes.hpp>
#include <transforms/Pipeline.hpp>

#include <poplar/Engine.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace popart {

namespace {

int ipusOfReplica(const Session::Implementation &self) {
  std::int64_t ipus = self.device->getNumIpus();
  support::requireUser<error>(
      self.replicas() >= 1 && ipus % self.replicas() == 0,
      "For replicated graphs, the number of IPUs must be divisible by the "
      "replication factor. There are {} IPUs and {} replicas",
      ipus, self.replicas());
  return static_cast<int>(ipus / self.replicas());
}

void checkIoTiles(const Session::Implementation &self) {
  int tiles = self.device->getTilesPerIPU();
  int ioTiles = self.ir->sessionOptions.numIOTiles;
  support::requireUser<error>(ioTiles < tiles,
                              "numIOTiles ({}) must be less than the tiles of "
                              "an IPU ({})",
                              ioTiles, tiles);
}

bool holdsVariables(const Graph &graph) {
  std::vector<TensorId> ids = graph.getTensorIds();
  return std::any_of(ids.begin(), ids.end(), [&](const TensorId &id) {
    return graph.getTensor(id).type == TensorType::Variable;
  });
}

// A device that is connected on demand is so from the first load on.
void requireAttached(const Session::Implementation &self) {
  support::requireUser<error>(
      self.device->isAttached() ||
          (self.device->getConnectionType() == DeviceConnectionType::OnDemand &&
           self.device->tryAttachUntilTimeout()),
      "[session] the device is not attached: {}", self.device->toString());
}

constexpr support::Logger logger(support::LogChannel::Popart, "session");

} // namespace

Session::Session(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
                 std::string name)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation &self = *implementation_;
  self.ir = std::move(ir);
  self.device = std::move(device);
  self.name = std::move(name);
  self.runsMachine = runsMachineProgram(*self.ir);
  Graph &graph = self.ir->getMainGraph();
  int ipus = ipusOfReplica(self);
  checkIoTiles(self);
  self.hasInitializers = holdsVariables(graph);
  PassContext model{*self.ir, graph, ipus};
  runPasses(modelPasses(), model);
  GraphEditor(self.machineGraph).copyFrom(graph);
  PassContext machine{*self.ir, self.machineGraph, ipus};
  runPasses(machinePasses(), machine);
  self.areReplicasFolded =
      self.replicas() > 1 && !self.isDistributed() && !self.runsMachine &&
      canFoldReplicas(graph, static_cast<unsigned>(self.replicas()));
  if (self.areReplicasFolded) {
    GraphEditor(self.foldedGraph).copyFrom(graph);
    PassContext folded{*self.ir, self.foldedGraph, ipus};
    runPasses(valuePasses(), folded);
  }
}

Session::~Session() = default;

bool Session::tryLoadExecutable() {
  return findInCache(*implementation_);
}

void Session::prepareDevice(bool loadEngine, const Progress &progress) {
  Implementation &self = *implementation_;
  if (!self.ir->sessionOptions.compileEngine) {
    return;
  }
  if (!self.executable.impl() && !tryLoadExecutable()) {
    logger.info("compiling {}", self.name);
    self.executable = compileSession(self, progress);
    addToCache(self);
  }
  self.engine = makeEngine(self);
  self.binding = std::make_unique<StepBinding>(*self.ir, self.valueGraph());
  self.isLoaded = false;
  if (loadEngine) {
    loadEngineAndConnectStreams();
  }
}

void Session::loadEngineAndConnectStreams() {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("loadEngineAndConnectStreams");
  if (self.device->getType() == DeviceType::OfflineIpu) {
    return;
  }
  requireAttached(self);
  meetOtherProcesses(self);
  engine.load(self.device->getDevice());
  self.isLoaded = true;
  self.hasVariables = false;
  self.writeSeeds();
}

void Session::setEngineIsLoaded(bool isLoaded) {
  implementation_->isLoaded = isLoaded;
}

void Session::connectStreamToCallback(const std::string &streamHandle,
                                      std::function<void(void *)> callback,
                                      unsigned index) {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("connectStreamToCallback");
  support::requireUser<error>(
      std::int64_t{index} < self.replicas(),
      "[connectStreamToCallback] there is no replica {}; there are {}", index,
      self.replicas());
  self.binding->leaveToUser(streamHandle);
  if (!self.areReplicasFolded) {
    engine.connectStreamToCallback(streamHandle, index, std::move(callback));
    return;
  }
  // Replicas take turns, and so do their callbacks.
  auto &turns = self.callbacks[streamHandle];
  turns.resize(static_cast<std::size_t>(self.replicas()));
  turns[index] = std::move(callback);
  engine.connectStreamToCallback(
      streamHandle, [turns, next = std::size_t{0}](void *buffer) mutable {
        const auto &current = turns[next];
        next = (next + 1) % turns.size();
        if (current) {
          current(buffer);
        }
      });
}

void Session::connectStream(const std::string &streamHandle, void *buffer) {
  poplar::Engine &engine = implementation_->requireEngine("connectStream");
  implementation_->binding->leaveToUser(streamHandle);
  engine.connectStream(streamHandle, buffer);
}

void Session::copyFromRemoteBuffer(const std::string &buffer, void *destination,
                                   int repeatIndex, unsigned replicationIndex) {
  implementation_->requireEngine("copyFromRemoteBuffer")
      .copyFromRemoteBuffer(buffer, destination,
                            static_cast<std::uint64_t>(repeatIndex),
                            replicationIndex);
}

void Session::copyToRemoteBuffer(void *source, const std::string &buffer,
                                 int repeatIndex, unsigned replicationIndex) {
  implementation_->requireEngine("copyToRemoteBuffer")
      .copyToRemoteBuffer(static_cast<const void *>(source), buffer,
                          static_cast<std::uint64_t>(repeatIndex),
                          replicationIndex);
}

void Session::run(const std::string &programHandle, IStepIO &stepIO,
                  const std::string &debugName) {
  support::requireUser<error>(programHandle == "main",
                              "[run] there is no program '{}'; the only one is "
                              "'main'",
                              programHandle);
  run(stepIO, debugName);
}

void Session::run(IStepIO &stepIO, const std::string &debugName) {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("run");
  support::requireUser<error>(
      self.device->getType() != DeviceType::OfflineIpu,
      "Offline IPU device is not configured for execution");
  support::requireUser<error>(
      self.hasWeights || !self.ir->isTraining() || !self.hasInitializers,
      "Must call weightsFromHost before run as the model has initializers and "
      "the session has been created in training mode");
  if (!self.isLoaded) {
    loadEngineAndConnectStreams();
  }
  self.writeMissing();
  self.binding->connect(engine, stepIO);
  if (self.ir->sessionOptions.instrumentWithHardwareCycleCounter) {
    engine.resetExecutionProfile();
  }
  engine.run(stepProgram, debugName.empty() ? self.name : debugName);
  self.binding->finish(stepIO);
  self.hasRun = true;
}

std::vector<TensorId> Session::getTensorIds() const {
  return implementation_->ir->getMainGraph().getTensorIds();
}

bool Session::hasInfo(const TensorId &id) const {
  return implementation_->ir->getMainGraph().hasTensor(id);
}

TensorInfo Session::getInfo(const TensorId &id) const {
  support::requireUser<error>(hasInfo(id), "TensorInfo for `{}' not found", id);
  return implementation_->ir->getMainGraph().getTensor(id).info;
}

Shape Session::getAnchorShape(const TensorId &id) const {
  return anchorShape(*implementation_->ir, id, getInfo(id));
}

std::unique_ptr<InferenceSession>
InferenceSession::createFromIr(std::shared_ptr<Ir> ir,
                               std::shared_ptr<DeviceInfo> device,
                               const std::string &name) {
  support::requireUser<error>(ir != nullptr && device != nullptr,
                              "[InferenceSession] needs an IR and a device");
  support::requireUser<error>(!ir->isTraining(),
                              "[InferenceSession] the IR has an optimiser; use "
                              "a TrainingSession");
  return std::unique_ptr<InferenceSession>(
      new InferenceSession(std::move(ir), std::move(device), name));
}

std::unique_ptr<TrainingSession>
TrainingSession::createFromIr(std::shared_ptr<Ir> ir,
                              std::shared_ptr<DeviceInfo> device,
                              const std::string &name) {
  support::requireUser<error>(ir != nullptr && device != nullptr,
                              "[TrainingSession] needs an IR and a device");
  support::requireUser<error>(ir->isTraining(),
                              "[TrainingSession] the IR has no optimiser");
  return std::unique_ptr<TrainingSession>(
      new TrainingSession(std::move(ir), std::move(device), name));
}

void TrainingSession::updateOptimizerFromHost(const Optimizer &optimizer) {
  Implementation &self = *implementation_;
  self.ir->optimizer->validReplacement(optimizer);
  Graph &graph = self.ir->getMainGraph();
  auto update = [&](const TensorId &id, OptimizerValue value) {
    if (value.isConst() || !graph.hasTensor(id)) {
      return;
    }
    Tensor &tensor = graph.getTensor(id);
    float number = value.val();
    std::memcpy(tensor.data.change(), &number, sizeof(number));
    if (self.engine) {
      self.write(tensor);
    }
  };
  for (const auto &row : optimizer.hyperparameters()) {
    update(row.scalar + reservedDefaultInfix() + "FLOAT",
           row.values.getDefault());
    for (const auto &[weight, value] : row.values.getSpecific()) {
      update(row.scalar + reservedSpecificInfix() + weight, value);
    }
  }
  for (const char *type : {"FLOAT", "FLOAT16"}) {
    update(std::string(reservedLossScalingPrefix()) + type,
           optimizer.lossScaling());
  }
  self.ir->optimizer = optimizer.clone();
}

} // namespace popart
