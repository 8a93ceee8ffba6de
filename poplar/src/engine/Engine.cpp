#include <poplar/Engine.hpp>

#include "engine/EngineImpl.hpp"

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

void Engine::prepare(const Device &device) {
  impl_->prepare(device);
}

void Engine::deploy() {
  impl_->deploy();
}

void Engine::load(const Device &device) {
  impl_->prepare(device);
  impl_->deploy();
}

void Engine::run(unsigned program, const std::string &debugName) {
  impl_->run(program, debugName);
}

void Engine::loadAndRun(const Device &device, unsigned program) {
  load(device);
  run(program);
}

void Engine::writeTensor(StringRef handle, const void *begin, const void *end) {
  impl_->writeTensor(handle, begin, end);
}

void Engine::readTensor(StringRef handle, void *begin, void *end) {
  impl_->readTensor(handle, begin, end);
}

void Engine::connectStream(StringRef handle, void *begin, void *end) {
  impl_->host().streams.connectBuffer(handle, begin, end);
}

void Engine::connectStream(StringRef handle, void *buffer) {
  impl_->host().streams.connectFixed(handle, buffer);
}

void Engine::connectStreamToCallback(StringRef handle,
                                     StreamCallbackHandle callback) {
  impl_->host().streams.connectCallback(handle, std::move(callback));
}

void Engine::connectStreamToCallback(StringRef handle, unsigned replica,
                                     StreamCallbackHandle callback) {
  impl_->host().streams.connectCallback(handle, replica, std::move(callback));
}

std::vector<std::string> Engine::listStreams() const {
  return impl_->host().streams.handles();
}

OptionFlags Engine::getEngineOptions() const {
  return impl_->options();
}

void Engine::printProfileSummary(std::ostream &stream,
                                 const OptionFlags &options) {
  impl_->printProfileSummary(stream, options);
}

} // namespace poplar
