// The state of an Engine: its executable, its streams, an executor and a log of
// what was run.
#pragma once

#include "compiler/ExpandReplicas.hpp"
#include "engine/ExecutableImpl.hpp"
#include "engine/Executor.hpp"
#include "engine/HostServices.hpp"
#include "engine/RunCounts.hpp"
#include "profile/ProfileSummary.hpp"

#include <memory>
#include <string>
#include <vector>

namespace poplar {

class EngineImpl {
public:
  // `options` come on top of those that the executable was compiled with.
  EngineImpl(std::shared_ptr<const ExecutableImpl> executable,
             const OptionFlags &options);
  ~EngineImpl();
  EngineImpl(const EngineImpl &) = delete;
  EngineImpl &operator=(const EngineImpl &) = delete;

  void prepare(const Device &device);
  void deploy();
  void run(std::size_t program, const std::string &debugName);

  void writeTensor(const std::string &handle, const void *begin,
                   const void *end);
  // As in poplar/internal/LentTensors.hpp.
  void lendTensor(const std::string &handle,
                  const std::shared_ptr<const std::byte> &bytes,
                  std::size_t size);
  bool isLent(const std::string &handle, const void *bytes) const;
  void readTensor(const std::string &handle, void *begin, void *end);
  void readTensor(const std::string &handle, void *buffer);
  void writeRow(const std::string &buffer, unsigned replica, std::uint64_t row,
                const void *data);
  void readRow(const std::string &buffer, unsigned replica, std::uint64_t row,
               void *data);

  engine::HostServices &host() { return host_; }
  const ExecutableImpl &executable() const { return *executable_; }
  const OptionFlags &options() const { return options_; }
  void serializeExecutable(std::ostream &stream) const {
    Executable(executable_).serialize(stream);
  }

  void printProfileSummary(std::ostream &stream, const OptionFlags &options);
  // The machine's cycles for those runs.
  std::uint64_t modelledCycles();
  // The summary shows the runs that were recorded since the last reset.
  void recordRuns(bool isRecording);
  void resetRuns();

private:
  void leaveDevice();
  // What the summary is made from; `counts` must outlive it.
  profile::ProfileRequest profileRequest(const model::ProgramCounts &counts);
  model::ProgramCounts programCounts();
  void requireLoaded(const char *function) const;
  // Adds what was counted since the last call, or drops it if the runs were not
  // recorded.
  void collectCounts();
  const internal::TensorView &
  findAccess(const char *function,
             const std::map<std::string, internal::HostAccess> &accesses,
             const std::string &handle) const;

  std::shared_ptr<const ExecutableImpl> executable_;
  OptionFlags options_;
  compiler::RuntimeReplicas replicas_; // that it runs
  engine::RunCounts counts_;           // of the runs in `runs_`
  // What is run: the executable's value reading, its replicas made plain.
  std::shared_ptr<const ExecutableImpl::Reading> values_;
  engine::HostServices host_;
  std::unique_ptr<engine::Executor> executor_;
  std::vector<std::vector<internal::StreamId>> streamsOf_; // by program
  std::shared_ptr<internal::DeviceUse> use_; // null: not on hardware
  bool isPrepared_ = false;
  bool isLoaded_ = false;
  bool isRecording_ = true;
  std::vector<profile::ProgramRun> runs_;
};

} // namespace poplar
