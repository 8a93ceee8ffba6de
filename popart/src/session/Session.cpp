// From the IR to an engine, and steps on it.
#include <session/Implementation.hpp>

#include <ir/GraphEditor.hpp>
#include <ir/Print.hpp>
#include <lowering/StepProgram.hpp>
#include <lowering/Types.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <transforms/Passes.hpp>
#include <transforms/Pipeline.hpp>

#include <poplar/Engine.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/LinkedPrograms.hpp>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

namespace popart {

namespace {

poplar::Executable compile(const Session::Implementation &self,
                           const Session::Progress &progress) {
  const Ir &ir = *self.ir;
  const poplar::Target &target = self.device->getTarget();
  auto withReplicas = [](std::int64_t count) {
    return poplar::replication_factor(static_cast<unsigned>(count));
  };
  poplar::Graph valueGraph(target, withReplicas(self.copies()));
  auto valueStep =
      lowerStep(ir, self.valueGraph(), valueGraph, self.isScheduleVisible());
  poplar::Graph machineGraph(target, withReplicas(self.replicas()));
  auto machineStep = lowerStep(ir, self.machineGraph, machineGraph,
                               ir.sessionOptions.enablePipelining);
  poplar::OptionFlags options = {
      {"debug.retainDebugInformation", "false"},
      {"target.deterministicWorkers",
       ir.sessionOptions.enableStochasticRounding ? "true" : "false"}};
  if (ir.sessionOptions.enablePrefetchDatastreams) {
    options.set("exchange.streamBufferOverlap", "hostRearrangeOnly");
    options.set("exchange.enablePrefetch", "true");
  } else {
    options.set("exchange.enablePrefetch", "false");
  }
  if (ir.sessionOptions.enableFloatingPointChecks) {
    options.set("debug.floatPointOpException", "true");
  }
  for (const auto &[name, value] : ir.sessionOptions.engineOptions) {
    options.set(name, value);
  }
  try {
    return poplar::internal::compileLinked(valueGraph, {valueStep},
                                           machineGraph, {machineStep}, options,
                                           progress);
  } catch (const poplar::graph_memory_allocation_error &e) {
    throw memory_allocation_err(e.what());
  }
}

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

// The user's memory for a variable, which has its size.
void *memoryFor(const IWeightsIO &weights, const Tensor &tensor) {
  MutableVoidData memory = weights.weight(tensor.id);
  support::requireUser<error>(
      memory.info.dataType() == tensor.info.dataType() &&
          memory.info.nelms() == tensor.info.nelms(),
      "[weights] memory for '{}' has {} elements of type {}; the variable has "
      "{} of type {}",
      tensor.id, memory.info.nelms(), memory.info.data_type(),
      tensor.info.nelms(), tensor.info.data_type());
  return memory.data;
}

// The estimate of all runs since the profile was reset, from the summary's
// "Total cycles: 1,234 (...)".
std::uint64_t totalCycles(poplar::Engine &engine) {
  std::ostringstream text;
  engine.printProfileSummary(text, {{"showExecutionSteps", "false"}});
  const std::string summary = text.str();
  const std::string label = "Total cycles:";
  std::size_t at = summary.find(label);
  support::requireInternal(at != std::string::npos,
                           "the profile's summary has no total of cycles");
  at = summary.find_first_not_of(' ', at + label.size());
  std::uint64_t cycles = 0;
  for (; summary[at] == ',' || std::isdigit(summary[at]); ++at) {
    if (summary[at] != ',') {
      cycles = cycles * 10 + static_cast<std::uint64_t>(summary[at] - '0');
    }
  }
  return cycles;
}

} // namespace

Session::Session(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
                 std::string name)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation &self = *implementation_;
  self.ir = std::move(ir);
  self.device = std::move(device);
  self.name = std::move(name);
  Graph &graph = self.ir->getMainGraph();
  int ipus = ipusOfReplica(self);
  checkIoTiles(self);
  PassContext model{*self.ir, graph, ipus};
  runPasses(modelPasses(), model);
  GraphEditor(self.machineGraph).copyFrom(graph);
  PassContext machine{*self.ir, self.machineGraph, ipus};
  runPasses(machinePasses(), machine);
  self.areReplicasFolded = self.replicas() > 1 && !self.isScheduleVisible() &&
                           canFoldReplicas(graph);
  if (self.areReplicasFolded) {
    GraphEditor(self.foldedGraph).copyFrom(graph);
    PassContext folded{*self.ir, self.foldedGraph, ipus};
    runPasses(valuePasses(), folded);
  }
}

Session::~Session() = default;

void Session::prepareDevice(bool loadEngine, const Progress &progress) {
  Implementation &self = *implementation_;
  std::string cached = cacheFile(self);
  if (!self.executable.impl() && !cached.empty() &&
      std::filesystem::exists(cached)) {
    readExecutable(self, cached);
  }
  if (!self.executable.impl()) {
    self.executable = compile(
        self, progress ? progress
                       : self.ir->sessionOptions.compilationProgressLogger);
    if (!cached.empty()) {
      writeExecutable(self, cached, /*hasVariables=*/false);
    }
  }
  self.engine = std::make_unique<poplar::Engine>(self.executable);
  self.binding = std::make_unique<StepBinding>(*self.ir, self.valueGraph());
  self.isLoaded = false;
  if (loadEngine) {
    loadEngineAndConnectStreams();
  }
}

void Session::loadEngineAndConnectStreams() {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("loadEngineAndConnectStreams");
  if (self.device->getType() != DeviceType::OfflineIpu) {
    engine.load(self.device->getDevice());
    self.isLoaded = true;
  }
}

void Session::weightsFromHost() {
  Implementation &self = *implementation_;
  self.requireEngine("weightsFromHost");
  if (!self.areWeightsConstant()) {
    self.forEachVariable([&](const Tensor &tensor) { self.write(tensor); });
  }
  self.hasWeights = true;
}

void Session::weightsToHost() {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("weightsToHost");
  if (self.areWeightsConstant()) {
    return;
  }
  self.forEachVariable([&](Tensor &tensor) {
    std::size_t size = deviceBytes(tensor.info);
    std::vector<char> bytes(size * static_cast<std::size_t>(self.copies()));
    engine.readTensor(tensor.id, bytes.data(), bytes.data() + bytes.size());
    bytes.resize(size); // replica 0 speaks for all
    tensor.data = toHostBytes(tensor.info, bytes);
  });
}

void Session::readWeights(const IWeightsIO &weights) {
  implementation_->forEachVariable([&](const Tensor &tensor) {
    if (weights.contains(tensor.id)) {
      std::memcpy(memoryFor(weights, tensor), tensor.data.data(),
                  tensor.data.size());
    }
  });
}

void Session::writeWeights(const IWeightsIO &weights) {
  support::requireUser<error>(
      !implementation_->areWeightsConstant(),
      "Cannot call writeWeights when constantWeights is set. Set "
      "`constantWeights` to False to change weights after compilation");
  implementation_->forEachVariable([&](Tensor &tensor) {
    if (weights.contains(tensor.id)) {
      std::memcpy(tensor.data.data(), memoryFor(weights, tensor),
                  tensor.data.size());
    }
  });
}

void Session::run(IStepIO &stepIO, const std::string &debugName) {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("run");
  support::requireUser<error>(
      self.device->getType() != DeviceType::OfflineIpu,
      "Offline IPU device is not configured for execution");
  support::requireUser<error>(
      self.hasWeights || !self.ir->isTraining(),
      "Must call weightsFromHost before run as the model has initializers and "
      "the session has been created in training mode");
  if (!self.isLoaded) {
    loadEngineAndConnectStreams();
  }
  self.binding->connect(engine, stepIO);
  if (self.ir->sessionOptions.instrumentWithHardwareCycleCounter) {
    engine.resetExecutionProfile();
  }
  engine.run(0, debugName.empty() ? self.name : debugName);
  self.binding->finish(stepIO);
  self.hasRun = true;
}

void Session::setRandomSeed(std::uint64_t seed) {
  Implementation &self = *implementation_;
  self.requireEngine("setRandomSeed");
  self.randomSeed = seed;
  Graph &graph = self.ir->getMainGraph();
  if (graph.hasTensor(reservedRandomSeedId())) {
    Tensor &tensor = graph.getTensor(reservedRandomSeedId());
    std::memcpy(tensor.data.data(), &seed, sizeof(seed));
    self.write(tensor);
  }
}

std::uint64_t Session::getRandomSeed() const {
  return implementation_->randomSeed;
}

std::uint64_t Session::getCycleCount(const std::string &id) {
  Implementation &self = *implementation_;
  const SessionOptions &options = self.ir->sessionOptions;
  support::requireUser<error>(
      options.instrumentWithHardwareCycleCounter,
      "SessionOption 'instrumentWithHardwareCycleCounter' must be set to true "
      "in order to measure cycle count");
  support::requireUser<error>(self.hasRun,
                              "Must call run before getCycleCount.");
  bool isKnown = id.empty();
  for (int ipu = 0; ipu < self.device->getNumIpus(); ++ipu) {
    isKnown = isKnown ||
              (options.hardwareInstrumentations.count(Instrumentation::Inner) &&
               id == fmt::format("inner_ipu_{}", ipu));
  }
  support::requireUser<error>(
      isKnown,
      "Invalid id for cycle counter, '{}'. Ids are '' for the whole step and, "
      "with Instrumentation::Inner, 'inner_ipu_<i>'",
      id);
  std::uint64_t cycles = totalCycles(*self.engine);
  // Inside the loops of a step every IPU waits for the others.
  auto batches = static_cast<std::uint64_t>(self.ir->dataFlow.batchesPerStep());
  return id.empty() ? cycles : cycles / batches;
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

std::string Session::getSummaryReport(bool) {
  poplar::Engine &engine = implementation_->requireEngine("getSummaryReport");
  poplar::OptionFlags options;
  for (const auto &[name, value] :
       implementation_->ir->sessionOptions.reportOptions) {
    options.set(name, value);
  }
  std::ostringstream text;
  engine.printProfileSummary(text, options);
  return text.str();
}

std::string Session::printIr(bool machine) const {
  return printGraph(machine ? implementation_->machineGraph
                            : implementation_->ir->getMainGraph());
}

const Ir &Session::getIr() const {
  return *implementation_->ir;
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
    std::memcpy(tensor.data.data(), &number, sizeof(number));
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
