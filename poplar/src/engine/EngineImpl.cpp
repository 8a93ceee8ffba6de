#include "engine/EngineImpl.hpp"

#include "compiler/ExpandReplicas.hpp"
#include "engine/EngineOptions.hpp"
#include "engine/FastExecutor.hpp"
#include "engine/ReferenceExecutor.hpp"
#include "program/VisitPrograms.hpp"

#include <poplar/Device.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/TargetData.hpp>
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
    return std::make_unique<engine::ReferenceExecutor>(values.graph,
                                                       values.programs, host);
  }
  support::requireUser<poplar_error>(
      name == "fast",
      "[Engine] ASPEN_EXECUTOR is '{}'; allowed: fast, reference", name);
  const auto verify = options.find("debug.verify");
  return std::make_unique<engine::FastExecutor>(
      values.graph, values.programs, host, threadCount(),
      verify != options.end() && verify->second == "true");
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

std::shared_ptr<const ExecutableImpl::Reading>
withoutReplicas(const ExecutableImpl &executable) {
  if (executable.values().graph.replicationFactor == 1) {
    return executable.sharedValues();
  }
  compiler::ExpandedGraph expanded = compiler::expandReplicas(
      executable.values().graph, executable.values().programs);
  return std::make_shared<const ExecutableImpl::Reading>(
      ExecutableImpl::Reading{std::move(expanded.graph),
                              std::move(expanded.programs)});
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
      values_(withoutReplicas(*executable_)), host_(values_->graph, options_),
      executor_(makeExecutor(*values_, options_, host_)) {
  for (const internal::ProgramPtr &program : executable_->values().programs) {
    streamsOf_.push_back(streamsUsed(executable_->values().graph, program));
  }
}

void EngineImpl::prepare(const Device &device) {
  const internal::TargetData &target = *executable_->machine().graph.target;
  const Target &given = device.getTarget();
  support::requireUser<poplar_error>(
      given.getNumIPUs() == target.numIPUs &&
          given.getTilesPerIPU() == target.tilesPerIPU,
      "[Engine::load] the device has {} IPUs of {} tiles; the graph was built "
      "for {} IPUs of {} tiles",
      given.getNumIPUs(), given.getTilesPerIPU(), target.numIPUs,
      target.tilesPerIPU);
  isPrepared_ = true;
}

void EngineImpl::deploy() {
  support::requireUser<poplar_error>(
      isPrepared_, "[Engine::deploy] call Engine::prepare first");
  executor_->load();
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
  executor_->run(program);
  if (!runs_.empty() && runs_.back().program == program &&
      runs_.back().name == debugName) {
    ++runs_.back().count;
  } else {
    runs_.push_back({program, debugName, 1});
  }
}

const internal::TensorView &EngineImpl::findAccess(
    const char *function,
    const std::map<std::string, internal::HostAccess> &accesses,
    const std::string &handle, std::ptrdiff_t bytes) const {
  support::requireUser<tensor_io_state_error>(
      isLoaded_, "[Engine::{}] call Engine::load first", function);
  const auto found = accesses.find(handle);
  support::requireUser<tensor_io_state_error>(
      found != accesses.end(), "[Engine::{}] there is no tensor handle '{}'",
      function, handle);
  const internal::TensorView &view = found->second.view;
  const auto expected = static_cast<std::ptrdiff_t>(
      static_cast<std::size_t>(view.elements()) * support::sizeOf(view.type));
  support::requireUser<tensor_io_state_error>(
      bytes == expected,
      "[Engine::{}] '{}' was given {} bytes; a tensor of shape {} has {}",
      function, handle, bytes, support::toString(view.shape), expected);
  return view;
}

void EngineImpl::writeTensor(const std::string &handle, const void *begin,
                             const void *end) {
  const auto *first = static_cast<const std::byte *>(begin);
  const auto *last = static_cast<const std::byte *>(end);
  executor_->variables().unpack(first, findAccess("writeTensor",
                                                  values_->graph.hostWrites,
                                                  handle, last - first));
}

void EngineImpl::readTensor(const std::string &handle, void *begin, void *end) {
  auto *first = static_cast<std::byte *>(begin);
  auto *last = static_cast<std::byte *>(end);
  executor_->variables().pack(
      findAccess("readTensor", values_->graph.hostReads, handle, last - first),
      first);
}

void EngineImpl::printProfileSummary(std::ostream &stream,
                                     const OptionFlags &options) {
  const engine::SummaryOptions shown = engine::parseSummaryOptions(options);
  profile::ProfileRequest request{.graph = executable_->machine().graph,
                                  .programs = executable_->machine().programs,
                                  .runs = runs_};
  request.showExecutionSteps = shown.showExecutionSteps;
  request.showPerIpuMemoryUsage = shown.showPerIpuMemoryUsage;
  request.showVarStorage = shown.showVarStorage;
  request.showOptimizations = shown.showOptimizations;
  request.colours = shown.colours;
  profile::printSummary(stream, request);
}

} // namespace poplar
