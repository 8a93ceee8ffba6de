#include <poplar/Engine.hpp>

#include "engine/EngineImpl.hpp"

#include <poplar/internal/LinkedPrograms.hpp>
#include <support/Error.hpp>

namespace poplar {

Engine::Engine(const Graph &graph, program::Program program,
               const OptionFlags &options, ProgressFunc progress,
               const DebugContext &debugContext)
    : Engine(compileGraph(graph, ArrayRef<program::Program>(&program, 1),
                          options, std::move(progress), debugContext)) {}

Engine::Engine(const Graph &graph, ArrayRef<program::Program> programs,
               const OptionFlags &options, ProgressFunc progress,
               const DebugContext &debugContext)
    : Engine(compileGraph(graph, programs, options, std::move(progress),
                          debugContext)) {}

Engine::Engine(Graph &&graph, program::Program program,
               const OptionFlags &options, ProgressFunc progress,
               const DebugContext &debugContext)
    : Engine(static_cast<const Graph &>(graph), std::move(program), options,
             std::move(progress), debugContext) {}

Engine::Engine(Graph &&graph, ArrayRef<program::Program> programs,
               const OptionFlags &options, ProgressFunc progress,
               const DebugContext &debugContext)
    : Engine(static_cast<const Graph &>(graph), programs, options,
             std::move(progress), debugContext) {}

Engine::Engine(Executable &&executable, const OptionFlags &options)
    : Engine(static_cast<const Executable &>(executable), options) {}

Engine::Engine(const Executable &executable, const OptionFlags &options)
    : impl_(std::make_unique<EngineImpl>(executable.impl(), options)) {}

Engine::~Engine() = default;
Engine::Engine(Engine &&) noexcept = default;
Engine &Engine::operator=(Engine &&) noexcept = default;

EngineImpl &Engine::impl() const {
  support::requireUser<poplar_error>(
      impl_ != nullptr, "[Engine] the engine was moved from: nothing is left "
                        "in it; use the one that it was moved to");
  return *impl_;
}

void Engine::prepare(const Device &device) {
  impl().prepare(device);
}

void Engine::prepare(const Device &device, const RuntimeOptions &) {
  impl().prepare(device);
}

void Engine::deploy() {
  impl().deploy();
}

void Engine::load(const Device &device) {
  prepare(device);
  deploy();
}

void Engine::run(unsigned program, const std::string &debugName) {
  impl().run(program, debugName);
}

void Engine::loadAndRun(const Device &device, unsigned program) {
  load(device);
  run(program);
}

void Engine::stop() {
  impl().host().isStopping = true;
}

void Engine::writeTensor(StringRef handle, const void *begin, const void *end) {
  impl().writeTensor(handle, begin, end);
}

void Engine::readTensor(StringRef handle, void *begin, void *end) {
  impl().readTensor(handle, begin, end);
}

void Engine::readTensor(StringRef handle, void *buffer) {
  impl().readTensor(handle, buffer);
}

void Engine::connectStream(StringRef handle, void *begin, void *end) {
  impl().host().streams.connectBuffer(handle, begin, end);
}

void Engine::connectStream(StringRef handle, void *buffer) {
  impl().host().streams.connectFixed(handle, buffer);
}

void Engine::connectStreamToCallback(StringRef handle,
                                     StreamCallbackHandle callback) {
  impl().host().streams.connectCallback(handle, std::move(callback));
}

void Engine::connectStreamToCallback(StringRef handle, unsigned replica,
                                     StreamCallbackHandle callback) {
  impl().host().streams.connectCallback(handle, replica, std::move(callback));
}

std::vector<std::string> Engine::listStreams() const {
  return impl().host().streams.handles();
}

void Engine::copyToRemoteBuffer(const void *source, StringRef handle,
                                std::uint64_t row, unsigned replica) {
  impl().writeRow(handle, replica, row, source);
}

void Engine::copyFromRemoteBuffer(StringRef handle, void *destination,
                                  std::uint64_t row, unsigned replica) {
  impl().readRow(handle, replica, row, destination);
}

void Engine::requireRowSize(StringRef handle, std::size_t bytes) const {
  const engine::RemoteBuffers &buffers = impl().host().remoteBuffers;
  const std::size_t rowBytes = buffers.rowBytes(buffers.find(handle));
  support::requireUser<tensor_io_state_error>(
      bytes == rowBytes,
      "[Engine] a row of remote buffer '{}' has {} bytes; {} were given",
      std::string(handle), rowBytes, bytes);
}

void Engine::setPrintStream(std::ostream &stream) {
  impl().host().printStream = &stream;
}

void Engine::setPrintTensorStream(std::ostream &stream) {
  impl().host().printTensorStream = &stream;
}

Engine::TimerTimePoint Engine::getTimeStamp() {
  return {std::chrono::steady_clock::now()};
}

std::string Engine::reportTiming(const TimerTimePoint &from,
                                 const TimerTimePoint &to) {
  const std::chrono::duration<double> seconds = to.host - from.host;
  return fmt::format("Host time: {:.6f} s", seconds.count());
}

OptionFlags Engine::getEngineOptions() const {
  return impl().options();
}

void Engine::serializeExecutable(std::ostream &stream) const {
  impl().serializeExecutable(stream);
}

void Engine::printProfileSummary(std::ostream &stream,
                                 const OptionFlags &options) {
  impl().printProfileSummary(stream, options);
}

void Engine::resetExecutionProfile() {
  impl().resetRuns();
}

void Engine::enableExecutionProfiling() {
  impl().recordRuns(true);
}

void Engine::disableExecutionProfiling() {
  impl().recordRuns(false);
}

EngineImpl &internal::implOf(const Engine &engine) {
  return engine.impl();
}

std::uint64_t internal::modelledCycles(const Engine &engine) {
  return implOf(engine).modelledCycles();
}

} // namespace poplar
