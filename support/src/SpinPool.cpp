#include <support/SpinPool.hpp>

#include <omp.h>
#include <pthread.h>

#include <chrono>
#include <utility>

namespace support {
namespace {

// Long enough to bridge the host's work between two steps, short enough not to
// be noticed when a program idles.
constexpr auto spinTime = std::chrono::microseconds(100);

// Counts the forks above this process; a child sees a new number.
std::atomic<std::uint64_t> forkGeneration = 1;

std::uint64_t currentGeneration() {
  static const bool isRegistered = [] {
    pthread_atfork(nullptr, nullptr, [] { ++forkGeneration; });
    return true;
  }();
  return isRegistered ? forkGeneration.load(std::memory_order_relaxed) : 0;
}

void cpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// The caller's OpenMP team has one thread while a job runs.
class SingleOpenMpThread {
public:
  SingleOpenMpThread() : before_(omp_get_max_threads()) {
    omp_set_num_threads(1);
  }
  ~SingleOpenMpThread() { omp_set_num_threads(before_); }
  SingleOpenMpThread(const SingleOpenMpThread &) = delete;
  SingleOpenMpThread &operator=(const SingleOpenMpThread &) = delete;

private:
  int before_;
};

} // namespace

void SpinWait::pause() {
  constexpr unsigned spinsBeforeYield = 512;
  if (++count_ < spinsBeforeYield) {
    cpuRelax();
  } else {
    std::this_thread::yield();
  }
}

SpinPool::SpinPool(unsigned workers)
    : workers_(workers == 0 ? 1 : workers), errors_(workers_) {}

SpinPool::~SpinPool() {
  if (threads_ == nullptr) {
    return;
  }
  if (generation_ != currentGeneration()) {
    // A forked child: the handles name threads of the parent.
    static_cast<void>(threads_.release());
    return;
  }
  isStopping_.store(true, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread &thread : *threads_) {
    thread.join();
  }
}

void SpinPool::startThreads() {
  static_cast<void>(threads_.release()); // empty, or dead since a fork
  generation_ = currentGeneration();
  finished_.store(0, std::memory_order_relaxed);
  threads_ = std::make_unique<std::vector<std::thread>>();
  for (unsigned worker = 1; worker < workers_; ++worker) {
    threads_->emplace_back([this, worker] { work(worker); });
  }
}

void SpinPool::runJob(unsigned worker) {
  try {
    (*job_)(worker);
  } catch (...) {
    errors_[worker] = std::current_exception();
  }
}

void SpinPool::work(unsigned worker) {
  omp_set_num_threads(1);
  std::uint32_t seen = 0;
  for (;;) {
    const auto sleepAt = std::chrono::steady_clock::now() + spinTime;
    std::uint32_t epoch;
    while ((epoch = epoch_.load(std::memory_order_acquire)) == seen) {
      cpuRelax();
      if (std::chrono::steady_clock::now() > sleepAt) {
        epoch_.wait(seen, std::memory_order_acquire);
      }
    }
    if (isStopping_.load(std::memory_order_relaxed)) {
      return;
    }
    seen = epoch;
    runJob(worker);
    finished_.fetch_add(1, std::memory_order_release);
  }
}

void SpinPool::runAlone(const std::function<void(unsigned)> &job) {
  const SingleOpenMpThread singleThread;
  job(0);
}

void SpinPool::run(const std::function<void(unsigned)> &job) {
  if (workers_ == 1) {
    return runAlone(job);
  }
  const SingleOpenMpThread singleThread;
  if (generation_ != currentGeneration()) {
    epoch_.store(0, std::memory_order_relaxed);
    startThreads();
  }
  job_ = &job;
  finished_.store(0, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  runJob(0);
  SpinWait wait;
  while (finished_.load(std::memory_order_acquire) != workers_ - 1) {
    wait.pause();
  }
  for (std::exception_ptr &error : errors_) {
    if (error != nullptr) {
      std::exception_ptr first = std::exchange(error, nullptr);
      for (std::exception_ptr &other : errors_) {
        other = nullptr;
      }
      std::rethrow_exception(first);
    }
  }
}

} // namespace support
