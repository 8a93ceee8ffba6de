// Runs programs on a device and moves their data to and from the host.
#pragma once

#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Device.hpp>
#include <poplar/Executable.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/StandardIncludes.hpp>
#include <poplar/StreamCallback.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplar/exceptions.hpp>

namespace poplar {

class EngineImpl; // of Aspen's own libraries

class Engine {
public:
  // Program i of the list is run by run(i).
  Engine(const Graph &graph, program::Program program,
         const OptionFlags &options = {},
         ProgressFunc progress = ProgressFunc(),
         const DebugContext &debugContext = {});
  Engine(const Graph &graph, ArrayRef<program::Program> programs,
         const OptionFlags &options = {},
         ProgressFunc progress = ProgressFunc(),
         const DebugContext &debugContext = {});
  Engine(Graph &&graph, program::Program program,
         const OptionFlags &options = {},
         ProgressFunc progress = ProgressFunc(),
         const DebugContext &debugContext = {});
  Engine(Graph &&graph, ArrayRef<program::Program> programs,
         const OptionFlags &options = {},
         ProgressFunc progress = ProgressFunc(),
         const DebugContext &debugContext = {});
  Engine(Executable &&executable, const OptionFlags &options = {});
  Engine(const Executable &executable, const OptionFlags &options = {});
  ~Engine();
  Engine(Engine &&) noexcept;
  Engine &operator=(Engine &&) noexcept;

  // Loading is preparing and deploying. It sets variables to their initial
  // values.
  void prepare(const Device &device);
  void deploy();
  void load(const Device &device);

  void run(unsigned program = 0, const std::string &debugName = "");
  void loadAndRun(const Device &device, unsigned program = 0);

  // The byte range must be as long as the tensor.
  void writeTensor(StringRef handle, const void *begin, const void *end);
  template <typename T> void writeTensor(StringRef handle, ArrayRef<T> values) {
    writeTensor(handle, values.begin(), values.end());
  }
  void readTensor(StringRef handle, void *begin, void *end);

  // A circular buffer: each transfer goes on where the last one ended, and
  // starts again at `begin` after reaching `end`.
  void connectStream(StringRef handle, void *begin, void *end);
  // A buffer of one transfer.
  void connectStream(StringRef handle, void *buffer);
  void connectStreamToCallback(StringRef handle, StreamCallbackHandle callback);
  void connectStreamToCallback(StringRef handle, unsigned replica,
                               StreamCallbackHandle callback);
  std::vector<std::string> listStreams() const;

  OptionFlags getEngineOptions() const;
  void printProfileSummary(std::ostream &stream,
                           const OptionFlags &options = {});

private:
  std::unique_ptr<EngineImpl> impl_;
};

} // namespace poplar
