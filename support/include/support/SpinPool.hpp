// A small pool of worker threads that spin for a moment between jobs, so that
// handing out work costs a fraction of a microsecond while a program is busy.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace support {

class SpinPool {
public:
  // `workers` counts the caller, which is worker 0 of every job: a pool of one
  // has no threads at all.
  explicit SpinPool(unsigned workers);
  ~SpinPool();
  SpinPool(const SpinPool &) = delete;
  SpinPool &operator=(const SpinPool &) = delete;

  unsigned workers() const { return workers_; }

  // Runs job(worker) on every worker and returns when all have. An exception of
  // worker 0 is rethrown after that; those of other workers too, if worker 0
  // had none. OpenMP regions inside a job run on their worker alone.
  void run(const std::function<void(unsigned)> &job);

  // The same for a job that only has work for worker 0: wakes nobody.
  void runAlone(const std::function<void(unsigned)> &job);

private:
  void startThreads();
  void work(unsigned worker);
  void runJob(unsigned worker);

  unsigned workers_;
  // Threads do not survive fork(): a pool whose generation is old starts new
  // ones before its next job.
  std::uint64_t generation_ = 0;
  std::unique_ptr<std::vector<std::thread>> threads_;
  const std::function<void(unsigned)> *job_ = nullptr;
  std::vector<std::exception_ptr> errors_;
  // On lines of their own: every worker polls `epoch_`, all write `finished_`.
  alignas(64) std::atomic<std::uint32_t> epoch_ = 0; // jobs handed out
  alignas(64) std::atomic<std::uint32_t> finished_ = 0;
  std::atomic<bool> isStopping_ = false;
};

// A pause in a loop that polls memory: cheap at first, and gives up the core
// after a while so that a machine with more threads than cores still advances.
class SpinWait {
public:
  void pause();

private:
  unsigned count_ = 0;
};

} // namespace support
