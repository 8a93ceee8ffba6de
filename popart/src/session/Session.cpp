// From the IR to an engine, and steps on it.
#include <popart/session.hpp>

#include <ir/GraphEditor.hpp>
#include <ir/Print.hpp>
#include <lowering/StepProgram.hpp>
#include <lowering/Types.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <session/StepBinding.hpp>
#include <support/Error.hpp>
#include <transforms/Pipeline.hpp>

#include <poplar/Engine.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/LinkedPrograms.hpp>

#include <cstring>
#include <sstream>
#include <utility>

namespace popart {

struct Session::Implementation {
  std::shared_ptr<Ir> ir;
  std::shared_ptr<DeviceInfo> device;
  std::string name;
  Graph machineGraph;
  std::unique_ptr<StepBinding> binding;
  std::unique_ptr<poplar::Engine> engine;
  bool isLoaded = false;
  bool hasWeights = false;

  // Pipelined training without accumulation updates weights between the
  // stages of a micro-batch: there the machine's schedule is the meaning.
  bool isScheduleVisible() const {
    const SessionOptions &options = ir->sessionOptions;
    return options.enablePipelining && ir->isTraining() &&
           !options.enableGradientAccumulation;
  }
  const Graph &valueGraph() const {
    return isScheduleVisible() ? machineGraph : ir->getMainGraph();
  }

  bool areWeightsConstant() const {
    return !ir->isTraining() && ir->sessionOptions.constantWeights;
  }

  poplar::Engine &requireEngine(const char *function) const {
    support::requireUser<error>(
        engine != nullptr,
        "Devicex::prepare() must be called before Devicex::{}; call "
        "prepareDevice first",
        function);
    return *engine;
  }

  template <typename F> void forEachVariable(F &&f) {
    for (const TensorId &id : ir->getMainGraph().getTensorIds()) {
      Tensor &tensor = ir->getMainGraph().getTensor(id);
      if (tensor.type == TensorType::Variable) {
        f(tensor);
      }
    }
  }

  // Sends a variable, and the copies of it on other IPUs if there are any.
  void write(const Tensor &tensor) {
    std::vector<char> bytes = toDeviceBytes(tensor.info, tensor.data);
    const char *begin = bytes.data();
    const char *end = begin + bytes.size();
    engine->writeTensor(tensor.id, begin, end);
    if (!isScheduleVisible()) {
      return;
    }
    for (int ipu = 0; ipu < device->getNumIpus(); ++ipu) {
      TensorId copy = tensor.id + "___ipu" + std::to_string(ipu);
      if (machineGraph.hasTensor(copy)) {
        engine->writeTensor(copy, begin, end);
      }
    }
  }
};

Session::Session(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
                 std::string name)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation &self = *implementation_;
  self.ir = std::move(ir);
  self.device = std::move(device);
  self.name = std::move(name);
  Graph &graph = self.ir->getMainGraph();
  PassContext model{*self.ir, graph, self.device->getNumIpus()};
  runPasses(modelPasses(), model);
  GraphEditor(self.machineGraph).copyFrom(graph);
  PassContext machine{*self.ir, self.machineGraph, self.device->getNumIpus()};
  runPasses(machinePasses(), machine);
}

Session::~Session() = default;

void Session::prepareDevice(bool loadEngine, const Progress &progress) {
  Implementation &self = *implementation_;
  const Ir &ir = *self.ir;
  const poplar::Target &target = self.device->getDevice().getTarget();
  poplar::Graph valueGraph(target);
  auto valueStep =
      lowerStep(ir, self.valueGraph(), valueGraph, self.isScheduleVisible());
  poplar::Graph machineGraph(target);
  auto machineStep = lowerStep(ir, self.machineGraph, machineGraph,
                               ir.sessionOptions.enablePipelining);
  poplar::OptionFlags options = {
      {"debug.retainDebugInformation", "false"},
      {"exchange.streamBufferOverlap", "hostRearrangeOnly"},
      {"exchange.enablePrefetch", "true"},
      {"target.deterministicWorkers", "false"}};
  for (const auto &[name, value] : ir.sessionOptions.engineOptions) {
    options.set(name, value);
  }
  try {
    auto executable =
        poplar::internal::compileLinked(valueGraph, {valueStep}, machineGraph,
                                        {machineStep}, options, progress);
    self.engine = std::make_unique<poplar::Engine>(std::move(executable));
  } catch (const poplar::graph_memory_allocation_error &e) {
    throw memory_allocation_err(e.what());
  }
  self.binding = std::make_unique<StepBinding>(ir, self.valueGraph());
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
    std::vector<char> bytes(deviceBytes(tensor.info));
    engine.readTensor(tensor.id, bytes.data(), bytes.data() + bytes.size());
    tensor.data = toHostBytes(tensor.info, bytes);
  });
}

void Session::readWeights(const IWeightsIO &weights) {
  implementation_->forEachVariable([&](const Tensor &tensor) {
    if (weights.contains(tensor.id)) {
      std::memcpy(weights.weight(tensor.id).data, tensor.data.data(),
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
      std::memcpy(tensor.data.data(), weights.weight(tensor.id).data,
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
  engine.run(0, debugName.empty() ? self.name : debugName);
  self.binding->finish(stepIO);
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
