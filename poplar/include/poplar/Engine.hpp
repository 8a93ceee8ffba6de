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
#include <poplar/RuntimeOptions.hpp>
#include <poplar/StandardIncludes.hpp>
#include <poplar/StreamCallback.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplar/exceptions.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace poplar {

class EngineImpl; // of Aspen's own libraries
class Engine;
namespace internal {
EngineImpl &implOf(const Engine &engine);
} // namespace internal

// One thread uses an engine at a time; stop() alone may be called from others.
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
  void prepare(const Device &device, const RuntimeOptions &options);
  void deploy();
  void load(const Device &device);

  void run(unsigned program = 0, const std::string &debugName = "");
  void loadAndRun(const Device &device, unsigned program = 0);
  // Ends the endless loops of the program that is running.
  void stop();

  // The byte range must be as long as the tensor; in a replicated graph, as the
  // tensors of all replicas one after another.
  void writeTensor(StringRef handle, const void *begin, const void *end);
  template <typename T> void writeTensor(StringRef handle, ArrayRef<T> values) {
    writeTensor(handle, values.begin(), values.end());
  }
  template <typename T>
  void writeTensor(StringRef handle, const std::vector<T> &values) {
    writeTensor(handle, ArrayRef<T>(values));
  }
  void readTensor(StringRef handle, void *begin, void *end);
  // The buffer must have room for the whole tensor.
  void readTensor(StringRef handle, void *buffer);
  // An ArrayRef borrows memory that must be writable here.
  template <typename T> void readTensor(StringRef handle, ArrayRef<T> values) {
    readTensor(handle, writable(values), writable(values) + values.size());
  }
  template <typename T>
  void readTensor(StringRef handle, std::vector<T> &values) {
    readTensor(handle, ArrayRef<T>(values));
  }

  // Streams may be connected before loading and between runs.
  //
  // A circular buffer: each transfer goes on where the last one ended, and
  // starts again at `begin` after reaching `end`. In a replicated graph, the
  // transfers of all replicas follow each other, unless the stream is
  // broadcast.
  void connectStream(StringRef handle, void *begin, void *end);
  // A buffer of one transfer for each replica.
  void connectStream(StringRef handle, void *buffer);
  template <typename T>
  void connectStream(StringRef handle, const ArrayRef<T> &values) {
    connectStream(handle, writable(values), writable(values) + values.size());
  }
  template <typename T>
  void connectStream(StringRef handle, std::vector<T> &values) {
    connectStream(handle, ArrayRef<T>(values));
  }
  // The callback serves all replicas, one after another.
  void connectStreamToCallback(StringRef handle, StreamCallbackHandle callback);
  // Broadcast streams ask the callback of replica 0 for all.
  void connectStreamToCallback(StringRef handle, unsigned replica,
                               StreamCallbackHandle callback);
  std::vector<std::string> listStreams() const;

  // One row of a remote buffer.
  void copyToRemoteBuffer(const void *source, StringRef handle,
                          std::uint64_t row, unsigned replica = 0);
  void copyFromRemoteBuffer(StringRef handle, void *destination,
                            std::uint64_t row, unsigned replica = 0);
  template <typename T>
  void copyToRemoteBuffer(ArrayRef<T> source, StringRef handle,
                          std::uint64_t row, unsigned replica = 0) {
    requireRowSize(handle, source.size() * sizeof(T));
    copyToRemoteBuffer(source.data(), handle, row, replica);
  }
  template <typename T>
  void copyToRemoteBuffer(const std::vector<T> &source, StringRef handle,
                          std::uint64_t row, unsigned replica = 0) {
    copyToRemoteBuffer(ArrayRef<T>(source), handle, row, replica);
  }
  template <typename T>
  void copyFromRemoteBuffer(StringRef handle, ArrayRef<T> destination,
                            std::uint64_t row, unsigned replica = 0) {
    requireRowSize(handle, destination.size() * sizeof(T));
    copyFromRemoteBuffer(handle, static_cast<void *>(writable(destination)),
                         row, replica);
  }
  template <typename T>
  void copyFromRemoteBuffer(StringRef handle, std::vector<T> &destination,
                            std::uint64_t row, unsigned replica = 0) {
    copyFromRemoteBuffer(handle, ArrayRef<T>(destination), row, replica);
  }

  // Where codelets and PrintTensor write; both start as stderr. The stream must
  // outlive the runs.
  void setPrintStream(std::ostream &stream);
  void setPrintTensorStream(std::ostream &stream);

  // The host's clock at one moment.
  struct TimerTimePoint {
    std::chrono::steady_clock::time_point host;
  };
  TimerTimePoint getTimeStamp();
  // The time between two moments, as text.
  std::string reportTiming(const TimerTimePoint &from,
                           const TimerTimePoint &to);

  OptionFlags getEngineOptions() const;
  // As Executable::serialize does.
  void serializeExecutable(std::ostream &stream) const;
  void printProfileSummary(std::ostream &stream,
                           const OptionFlags &options = {});
  // Which runs the summary shows: all since the last reset, but those made
  // while profiling was disabled.
  void resetExecutionProfile();
  void enableExecutionProfiling();
  void disableExecutionProfiling();

private:
  friend EngineImpl &internal::implOf(const Engine &engine);

  template <typename T> static T *writable(const ArrayRef<T> &values) {
    return const_cast<T *>(values.data());
  }
  EngineImpl &impl() const; // throws when it was moved from
  void requireRowSize(StringRef handle, std::size_t bytes) const;

  std::unique_ptr<EngineImpl> impl_;
};

} // namespace poplar
