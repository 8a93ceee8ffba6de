#include "engine/EngineImpl.hpp"

#include "compiler/ExpandReplicas.hpp"
#include "compiler/RoundHalves.hpp"
#include "device/DeviceUse.hpp"
#include "engine/EngineOptions.hpp"
#include "engine/FastExecutor.hpp"
#include "engine/ReferenceExecutor.hpp"
#include "graph/Handles.hpp"
#include "profile/ExecutionText.hpp"
#include "profile/Text.hpp"
#include "program/VisitPrograms.hpp"

#include <poplar/Device.hpp>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace poplar {
namespace {

using internal::StreamId;

// ASPEN_THREADS, or one worker for each core.
unsigned threadCount() {
  if (const char *text = std::getenv("ASPEN_THREADS")) {
    const int threads = std::atoi(text);
    support::requireUser<poplar_error>(
        threads > 0, "[Engine] ASPEN_THREADS is '{}'; it must be at least 1",
        text);
    return static_cast<unsigned>(threads);
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

std::unique_ptr<engine::Executor>
makeExecutor(const ExecutableImpl::Reading &values, const OptionFlags &options,
             engine::HostServices &host) {
  const char *text = std::getenv("ASPEN_EXECUTOR");
  const std::string_view name = text == nullptr ? "fast" : text;
  if (name == "reference") {
    return std::make_unique<engine::ReferenceExecutor>(
        values.graph, values.programs, host, engine::FloatTraps(options));
  }
  support::requireUser<poplar_error>(
      name == "fast",
      "[Engine] ASPEN_EXECUTOR is '{}'; allowed: fast, reference", name);
  return std::make_unique<engine::FastExecutor>(
      values.graph, values.programs, host, threadCount(),
      engine::isEnabled(options, "debug.verify"), engine::FloatTraps(options));
}

std::vector<StreamId> streamsUsed(const internal::GraphData &graph,
                                  const internal::ProgramPtr &program) {
  std::vector<StreamId> result;
  internal::forEachNode(graph, program, [&](const internal::ProgramNode &node) {
    if (const auto *in = std::get_if<internal::StreamInNode>(&node.op)) {
      result.push_back(in->stream);
    } else if (const auto *out =
                   std::get_if<internal::StreamOutNode>(&node.op)) {
      result.push_back(out->stream);
    }
  });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

const std::shared_ptr<const ExecutableImpl> &
requireCompiled(const std::shared_ptr<const ExecutableImpl> &executable) {
  support::requireUser<poplar_error>(
      executable != nullptr,
      "[Engine] the executable is empty; make one with compileGraph");
  return executable;
}

// With halves rounded as programs ask for, and without replicas.
std::shared_ptr<const ExecutableImpl::Reading>
valuesToRun(const ExecutableImpl &executable, const OptionFlags &options,
            const compiler::RuntimeReplicas &replicas,
            engine::RunCounts &counts) {
  using Reading = ExecutableImpl::Reading;
  std::shared_ptr<const Reading> values = executable.sharedValues();
  const bool startsStochastic =
      engine::isEnabled(options, "prng.enableStochasticRounding");
  if (startsStochastic || compiler::hasFloatControl(values->graph)) {
    Reading rounded = *values;
    compiler::roundHalves(rounded.graph, startsStochastic);
    values = std::make_shared<const Reading>(std::move(rounded));
  }
  if (values->graph.replicationFactor == 1) {
    return values;
  }
  compiler::ExpandedGraph expanded =
      compiler::expandReplicas(values->graph, values->programs, replicas);
  counts.setOrigins(std::move(expanded.origins));
  return std::make_shared<const Reading>(
      Reading{std::move(expanded.graph), std::move(expanded.programs)});
}

std::string describe(const internal::TargetData &target) {
  const char *kind = "CPU";
  switch (target.kind) {
  case internal::TargetKind::Ipu:
    kind = "IPU";
    break;
  case internal::TargetKind::IpuModel:
    kind = "IPU_MODEL";
    break;
  case internal::TargetKind::Cpu:
    break;
  }
  return fmt::format("{} '{}' with {} IPUs of {} tiles", kind, target.arch,
                     target.numIPUs, target.tilesPerIPU);
}

// Bow (ipu21) runs what was compiled for the GC200 (ipu2), and the other way
// round: only their clocks differ.
bool isSameArchitecture(const std::string &a, const std::string &b) {
  return a == b || (a.starts_with("ipu2") && b.starts_with("ipu2"));
}

std::size_t byteSize(const internal::TensorView &view) {
  return static_cast<std::size_t>(view.elements()) * support::sizeOf(view.type);
}

void requireSize(const char *function, const std::string &handle,
                 const internal::TensorView &view, std::ptrdiff_t bytes) {
  support::requireUser<tensor_io_state_error>(
      bytes == static_cast<std::ptrdiff_t>(byteSize(view)),
      "[Engine::{}] '{}' was given {} bytes; a tensor of shape {} has {}",
      function, handle, bytes, support::toString(view.shape), byteSize(view));
}

OptionFlags merge(OptionFlags options, const OptionFlags &onTop) {
  for (const auto &[name, value] : onTop) {
    options.set(name, value);
  }
  return engine::resolveOptions(options);
}

} // namespace

EngineImpl::EngineImpl(std::shared_ptr<const ExecutableImpl> executable,
                       const OptionFlags &options)
    : executable_(requireCompiled(executable)),
      options_(merge(executable_->options(), options)),
      replicas_(engine::runtimeReplicas(
          options_, executable_->machine().graph.replicationFactor)),
      values_(valuesToRun(*executable_, options_, replicas_, counts_)),
      host_(values_->graph, options_),
      executor_(makeExecutor(*values_, options_, host_)) {
  for (const internal::ProgramPtr &program : values_->programs) {
    streamsOf_.push_back(streamsUsed(values_->graph, program));
  }
}

EngineImpl::~EngineImpl() {
  leaveDevice();
}

void EngineImpl::leaveDevice() {
  if (use_ != nullptr) {
    use_->removeHostBytes(host_.bufferBytes());
  }
  use_ = nullptr;
}

void EngineImpl::prepare(const Device &device) {
  const internal::GraphData &graph = executable_->machine().graph;
  const internal::TargetData &given = internal::targetData(device.getTarget());
  internal::TargetData expected = *graph.target; // of one replica
  expected.numIPUs *= replicas_.count;
  support::requireUser<poplar_error>(
      given.kind == expected.kind &&
          isSameArchitecture(given.arch, expected.arch) &&
          given.numIPUs == expected.numIPUs &&
          given.tilesPerIPU == expected.tilesPerIPU,
      "[Engine::load] the device is {}; the graph was built for {}",
      describe(given), describe(expected));
  leaveDevice();
  use_ = internal::Access::use(device);
  if (use_ != nullptr) {
    use_->addHostBytes(host_.bufferBytes());
  }
  host_.streams.setDevice(use_.get());
  isPrepared_ = true;
}

void EngineImpl::deploy() {
  support::requireUser<poplar_error>(
      isPrepared_, "[Engine::deploy] call Engine::prepare first");
  executor_->load();
  resetRuns();
  isLoaded_ = true;
}

void EngineImpl::run(std::size_t program, const std::string &debugName) {
  support::requireUser<poplar_error>(isLoaded_,
                                     "[Engine::run] call Engine::load first");
  support::requireUser<poplar_error>(
      program < streamsOf_.size(),
      "[Engine::run] there is no program {}; the engine has {} programs",
      program, streamsOf_.size());
  host_.streams.requireConnected(streamsOf_[program]);
  host_.isStopping = false;
  {
    const internal::RunTime time(use_.get());
    executor_->run(program);
  }
  if (!isRecording_) {
    return;
  }
  if (!runs_.empty() && runs_.back().program == program &&
      runs_.back().name == debugName) {
    ++runs_.back().count;
  } else {
    runs_.push_back({program, debugName, 1});
  }
}

void EngineImpl::requireLoaded(const char *function) const {
  support::requireUser<tensor_io_state_error>(
      isLoaded_, "[Engine::{}] call Engine::load first", function);
}

const internal::TensorView &EngineImpl::findAccess(
    const char *function,
    const std::map<std::string, internal::HostAccess> &accesses,
    const std::string &handle) const {
  requireLoaded(function);
  const auto found = accesses.find(handle);
  support::requireUser<tensor_io_state_error>(
      found != accesses.end(), "[Engine::{}] there is no tensor handle '{}'",
      function, handle);
  return found->second.view;
}

void EngineImpl::writeTensor(const std::string &handle, const void *begin,
                             const void *end) {
  constexpr const char *function = "writeTensor";
  const internal::TensorView &view =
      findAccess(function, values_->graph.hostWrites, handle);
  const auto *first = static_cast<const std::byte *>(begin);
  requireSize(function, handle, view,
              static_cast<const std::byte *>(end) - first);
  executor_->write(first, view);
}

void EngineImpl::lendTensor(const std::string &handle,
                            const std::shared_ptr<const std::byte> &bytes,
                            std::size_t size) {
  constexpr const char *function = "lendTensor";
  const internal::TensorView &view =
      findAccess(function, values_->graph.hostWrites, handle);
  requireSize(function, handle, view, static_cast<std::ptrdiff_t>(size));
  executor_->lend(bytes, view);
}

bool EngineImpl::isLent(const std::string &handle, const void *bytes) const {
  return executor_->variables().isAt(
      static_cast<const std::byte *>(bytes),
      findAccess("isLent", values_->graph.hostReads, handle));
}

void EngineImpl::readTensor(const std::string &handle, void *begin, void *end) {
  constexpr const char *function = "readTensor";
  const internal::TensorView &view =
      findAccess(function, values_->graph.hostReads, handle);
  auto *first = static_cast<std::byte *>(begin);
  requireSize(function, handle, view, static_cast<std::byte *>(end) - first);
  executor_->variables().pack(view, first);
}

void EngineImpl::readTensor(const std::string &handle, void *buffer) {
  executor_->variables().pack(
      findAccess("readTensor", values_->graph.hostReads, handle),
      static_cast<std::byte *>(buffer));
}

void EngineImpl::writeRow(const std::string &buffer, unsigned replica,
                          std::uint64_t row, const void *data) {
  requireLoaded("copyToRemoteBuffer");
  host_.remoteBuffers.write(host_.remoteBuffers.find(buffer), replica, row,
                            static_cast<const std::byte *>(data));
}

void EngineImpl::readRow(const std::string &buffer, unsigned replica,
                         std::uint64_t row, void *data) {
  requireLoaded("copyFromRemoteBuffer");
  host_.remoteBuffers.read(host_.remoteBuffers.find(buffer), replica, row,
                           static_cast<std::byte *>(data));
}

void EngineImpl::collectCounts() {
  engine::RunCounts dropped;
  (isRecording_ ? counts_ : dropped).collect(*executor_, host_.streams);
}

void EngineImpl::recordRuns(bool isRecording) {
  collectCounts();
  isRecording_ = isRecording;
}

void EngineImpl::resetRuns() {
  collectCounts();
  counts_.clear();
  runs_.clear();
}

model::ProgramCounts EngineImpl::programCounts() {
  collectCounts();
  const ExecutableImpl::Reading &machine = executable_->machine();
  return counts_.of(machine.graph, machine.programs);
}

profile::ProfileRequest
EngineImpl::profileRequest(const model::ProgramCounts &counts) {
  const ExecutableImpl::Reading &machine = executable_->machine();
  profile::ProfileRequest request{.graph = machine.graph,
                                  .programs = machine.programs,
                                  .runs = runs_,
                                  .counts = &counts};
  request.memory = engine::memoryOptions(executable_->options());
  return request;
}

std::uint64_t EngineImpl::modelledCycles() {
  const model::ProgramCounts counts = programCounts();
  return profile::measureExecution(profileRequest(counts)).total;
}

void EngineImpl::printProfileSummary(std::ostream &stream,
                                     const OptionFlags &options) {
  const engine::SummaryOptions shown = engine::parseSummaryOptions(options);
  const model::ProgramCounts counts = programCounts();
  profile::ProfileRequest request = profileRequest(counts);
  if (shown.assumedRuns > 0) {
    request.runs.push_back({0, "assumed", shown.assumedRuns});
  }
  request.showExecutionSteps = shown.showExecutionSteps;
  request.showPerIpuMemoryUsage = shown.showPerIpuMemoryUsage;
  request.showVarStorage = shown.showVarStorage;
  request.showOptimizations = shown.showOptimizations;
  request.colours = shown.colours.value_or(profile::wantsColours(stream));
  profile::printSummary(stream, request);
}

} // namespace poplar
