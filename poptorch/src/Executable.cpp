#include "Executable.hpp"

#include "AtenTable.hpp"
#include "Device.hpp"
#include "Error.hpp"

#include <fmt/format.h>
#include <support/Error.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

namespace poptorch {

// Memory of the current call behind an array that stays.
class Executable::HostArray : public popart::IArray {
public:
  explicit HostArray(popart::TensorInfo info) : info_(std::move(info)) {}

  void setData(void *data) { data_ = data; }

  void *data() override { return data_; }
  popart::DataType dataType() const override { return info_.dataType(); }
  std::size_t rank() const override { return info_.shape().size(); }
  std::int64_t dim(std::size_t index) const override {
    return info_.shape().at(index);
  }
  std::size_t nelms() const override {
    return static_cast<std::size_t>(info_.nelms());
  }
  const popart::Shape &shape() const override { return info_.shape(); }

private:
  popart::TensorInfo info_;
  void *data_ = nullptr;
};

namespace {

popart::AnchorReturnType
returnType(popart::AnchorReturnTypeId mode, int period,
           std::optional<popart::ExchangeStrategy> overlap = {}) {
  using popart::AnchorReturnType;
  auto tiles = overlap ? popart::TileSet::IO : popart::TileSet::Compute;
  auto strategy = overlap.value_or(popart::ExchangeStrategy::JustInTime);
  switch (mode) {
  case popart::AnchorReturnTypeId::Final:
    return AnchorReturnType("Final", tiles, strategy);
  case popart::AnchorReturnTypeId::EveryN:
    return AnchorReturnType("EveryN", period, tiles, strategy);
  case popart::AnchorReturnTypeId::Sum:
    return AnchorReturnType("Sum", tiles, strategy);
  default:
    return AnchorReturnType("All", tiles, strategy);
  }
}

constexpr int progressTotal = 100;

void report(const Executable::Progress &progress, int done) {
  if (progress) {
    progress(done, progressTotal);
  }
}

double secondsNow() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// The micro-batches of a call along the first dimension.
popart::TensorInfo timesBatch(const popart::TensorInfo &info,
                              std::int64_t batch) {
  popart::Shape shape = info.shape();
  if (batch != 1 && shape.empty()) {
    shape.push_back(1);
  }
  if (!shape.empty()) {
    shape[0] *= batch;
  }
  return popart::TensorInfo(info.dataType(), shape);
}

} // namespace

Executable::Executable(const TraceRecord &record, const CompileOptions &options,
                       const std::optional<OptimizerDescription> &optimizer,
                       const Progress &progress)
    : options_(options), ir_(std::make_shared<popart::Ir>()) {
  report(progress, 0);
  TranslationOptions translationOptions;
  translationOptions.isTraining = optimizer.has_value();
  translationOptions.isPipelined = options_.executionMode == "pipelined";
  translationOptions.replicas = replicas();
  translationOptions.phaseStride = phaseStride();
  translationOptions.availableMemory = options_.availableMemory;
  translation_ = within("LowerToPopart::lower", [&] {
    return translate(record, translationOptions, ir_->getMainGraph());
  });
  if (optimizer) {
    ir_->loss = translation_.loss;
    ir_->optimizer = makeOptimizer(*optimizer);
  }
  setSessionOptions(optimizer && optimizer->maxGradientNorm);
  checkPipeline();
  setDataFlow();
  within("Compiler::initSession", [&] { initSession(); });
  report(progress, 3);
  if (!options_.executableFile.empty()) {
    session_->loadExecutable(options_.executableFile);
  }
  bool isOnline = options_.connectionType != 2;
  within("Compiler::compileAndPrepareDevice", [&] {
    session_->prepareDevice(isOnline, [&progress](int done, int total) {
      report(progress, 7 + done * 92 / std::max(total, 1));
    });
  });
  report(progress, progressTotal);
  if (isOnline && options_.randomSeed) {
    session_->setRandomSeed(*options_.randomSeed);
  }
  makeArrays(record);
}

Executable::~Executable() = default;

void Executable::initSession() {
  acquireDevice();
  if (ir_->isTraining()) {
    session_ =
        popart::TrainingSession::createFromIr(ir_, device_, options_.modelName);
  } else {
    session_ = popart::InferenceSession::createFromIr(ir_, device_,
                                                      options_.modelName);
  }
}

void Executable::makeArrays(const TraceRecord &record) {
  for (const popart::TensorId &id : anchors_) {
    outputInfos_.push_back(batched(id, ir_->dataFlow.art(id)));
  }
  auto batch = std::int64_t{options_.deviceIterations} *
               options_.gradientAccumulation * options_.replicationFactor;
  for (const auto &[name, number] : record.inputs) {
    const auto &info = record.tensors[static_cast<std::size_t>(number)].info;
    inputArrays_.push_back(
        std::make_unique<HostArray>(timesBatch(info, batch)));
  }
  for (const auto &info : outputInfos_) {
    outputArrays_.push_back(std::make_unique<HostArray>(info));
  }
}

void Executable::acquireDevice() {
  DeviceRequest request;
  request.modelIpus = translation_.ipuCount;
  request.replicas = options_.replicationFactor;
  request.connectionType = options_.connectionType;
  request.syncPattern = options_.syncPattern;
  request.roundIpuCount = options_.roundIpuCount;
  request.useIpuModel = options_.useIpuModel;
  request.ipuModelVersion = options_.ipuModelVersion;
  request.ipuModelTiles = options_.ipuModelTiles;
  request.ipuId = options_.ipuId;
  device_ = poptorch::acquireDevice(request);
}

void Executable::setDataFlow() {
  auto all = popart::AnchorReturnType("All");
  popart::AnchorReturnTypeMap anchors;
  anchors_ = translation_.outputs;
  for (const popart::TensorId &id : translation_.outputs) {
    auto found = translation_.overlappedOutputs.find(id);
    std::optional<popart::ExchangeStrategy> overlap;
    if (found != translation_.overlappedOutputs.end()) {
      overlap = found->second;
    }
    anchors.emplace(id, returnType(options_.outputMode,
                                   options_.outputReturnPeriod, overlap));
  }
  for (const auto &[position, id] : translation_.writtenInputs) {
    anchors_.push_back(id);
    anchors.emplace(id, all);
  }
  for (const AnchorRequest &request : options_.anchors) {
    anchors_.push_back(request.name);
    anchors.emplace(request.name,
                    returnType(request.mode, request.returnPeriod));
  }
  ir_->dataFlow = popart::DataFlow(options_.deviceIterations, anchors);
}

popart::TensorInfo
Executable::batched(const popart::TensorId &id,
                    const popart::AnchorReturnType &type) const {
  std::int64_t all = std::int64_t{options_.deviceIterations} *
                     options_.gradientAccumulation * options_.replicationFactor;
  switch (type.id()) {
  case popart::AnchorReturnTypeId::Final:
  case popart::AnchorReturnTypeId::Sum:
    return timesBatch(session_->getInfo(id), options_.replicationFactor);
  case popart::AnchorReturnTypeId::EveryN:
    return timesBatch(session_->getInfo(id), all / type.rp());
  default:
    return timesBatch(session_->getInfo(id), all);
  }
}

void Executable::run(const std::vector<void *> &inputs,
                     const std::vector<void *> &outputs) {
  std::map<popart::TensorId, popart::IArray &> in;
  std::map<popart::TensorId, popart::IArray &> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const popart::TensorId &id = translation_.inputs[i];
    if (!id.empty()) {
      inputArrays_[i]->setData(inputs[i]);
      in.emplace(id, *inputArrays_[i]);
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputArrays_[i]->setData(outputs[i]);
    out.emplace(anchors_[i], *outputArrays_[i]); // the first of equal ones
  }
  RunTimes times;
  times.input = secondsNow();
  popart::StepIO stepIO(in, out);
  times.inputComplete = secondsNow();
  within("Compiler::run", [&] { session_->run(stepIO); });
  times.output = secondsNow();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    void *source = out.at(anchors_[i]).data();
    if (source != outputs[i]) {
      std::memcpy(outputs[i], source,
                  static_cast<std::size_t>(outputInfos_[i].nbytes()));
    }
  }
  times.outputComplete = secondsNow();
  lastRunTimes_ = times;
}

Executable::Rows Executable::returnedRows() const {
  Rows rows;
  for (const std::string &name : translation_.state) {
    const popart::Tensor &weight = ir_->getMainGraph().getTensor(name);
    bool isGrouped = translation_.grouped.count(name) > 0;
    rows.push_back(
        isGrouped
            ? weight.variableSettings.numReplicasReturningVariable(replicas())
            : 0);
  }
  return rows;
}

popart::WeightsIO Executable::weightsIO(const std::vector<void *> &weights,
                                        const Rows &rows) const {
  popart::WeightsIO io;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string &name = translation_.state.at(i);
    const popart::TensorInfo &info = ir_->getMainGraph().getTensor(name).info;
    popart::Shape shape = info.shape();
    if (!rows.empty() && rows.at(i) > 0) {
      shape.insert(shape.begin(), rows[i]);
    }
    if (weights[i]) {
      io.insert(name, {weights[i], {info.dataType(), shape}});
    }
  }
  return io;
}

void Executable::writeWeights(const std::vector<void *> &weights,
                              const Rows &rows) {
  if (ir_->isTraining() && hasWeights_) {
    session_->weightsToHost(); // the optimiser's state stays as it is
  }
  session_->writeWeights(weightsIO(weights, rows));
  session_->weightsFromHost();
  hasWeights_ = true;
}

void Executable::writeBuffers(const std::vector<void *> &weights) {
  session_->writeWeights(weightsIO(weights, {}));
  session_->buffersFromHost();
}

void Executable::readWeights(const std::vector<void *> &weights,
                             const Rows &rows) {
  session_->weightsToHost();
  session_->readWeights(weightsIO(weights, rows));
}

void Executable::setOptimizer(const OptimizerDescription &description) {
  auto *training = dynamic_cast<popart::TrainingSession *>(session_.get());
  support::requireUser<Error>(training,
                              "Inference models have no optimizer to set");
  training->updateOptimizerFromHost(*makeOptimizer(description));
}

std::vector<std::uint64_t> Executable::randomState() {
  std::vector<std::uint64_t> state = {session_->getRandomSeed(),
                                      session_->getRandomStep()};
  if (hasTileState()) {
    auto words = session_->getRNGState();
    state.insert(state.end(), words.begin(), words.end());
  }
  return state;
}

void Executable::setRandomState(const std::vector<std::uint64_t> &state) {
  support::requireUser<Error>(
      state.size() >= 2, "A random state of {} numbers is none", state.size());
  if (state[0] != session_->getRandomSeed()) {
    session_->setRandomSeed(state[0]);
  }
  session_->setRandomStep(static_cast<std::uint32_t>(state[1]));
  if (hasTileState() && state.size() > 2) {
    session_->setRNGState({state.begin() + 2, state.end()});
  }
}

bool Executable::hasTileState() const {
  return ir_->sessionOptions.enableLoadAndOffloadRNGState && isAttached();
}

void Executable::connectHostFunction(std::int64_t number,
                                     const HostFunction &function) {
  for (int replica = 0; replica < options_.replicationFactor; ++replica) {
    session_->connectHostFunction(hostFunctionHandle(number), function,
                                  static_cast<unsigned>(replica));
  }
}

std::uint64_t Executable::cycleCount() {
  return session_->getCycleCount();
}

const std::vector<std::string> &Executable::cacheProblems() const {
  return session_->cacheProblems();
}

void Executable::save(const std::string &fileName) {
  session_->saveExecutable(fileName, /*savePopartMetadata=*/true,
                           /*saveVariables=*/false);
}

void Executable::attach() {
  support::requireUser<Error>(device_->attach(), "Failed to acquire {} IPU(s)",
                              device_->getNumIpus());
  session_->loadEngineAndConnectStreams();
  if (!tileState_.empty()) {
    session_->setRNGState(tileState_);
  }
}

void Executable::detach() {
  session_->setRandomStep(session_->getRandomStep());
  if (hasTileState()) {
    tileState_ = session_->getRNGState();
  }
  if (hasWeights_) {
    session_->weightsToHost();
  }
  device_->detach();
  hasWeights_ = false;
}

std::vector<std::string> Executable::tensorNames() const {
  return session_->getTensorIds();
}

std::string Executable::summary() {
  return session_->getSummaryReport(false);
}

std::string Executable::serializeIr() const {
  return session_->serializeIr(popart::IrSerializationFormat::JSON);
}

std::string Executable::printIr(bool isMachine) const {
  return session_->printIr(isMachine);
}

} // namespace poptorch
