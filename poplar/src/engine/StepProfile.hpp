// Times of every task of a program, for whoever makes kernels faster. On with
// ASPEN_STEP_PROFILE=1; costs nothing when off.
#pragma once

#include "engine/TaskList.hpp"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <vector>

namespace poplar::engine {

class StepProfile {
public:
  using Clock = std::chrono::steady_clock;

  // The processor time of the thread that asks: while others have the core, it
  // stands still. To ask takes some hundred nanoseconds, which tasks include.
  struct TaskClock {
    using duration = Clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<TaskClock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept;
  };

  static bool isWanted();

  StepProfile(std::size_t calls, unsigned workers);

  // Called by each worker for its own tasks.
  void add(unsigned worker, std::uint32_t call, Clock::duration waited,
           TaskClock::duration ran) {
    Row &row = workers_[worker].rows[call];
    ++row.tasks;
    row.time += ran;
    workers_[worker].waited += waited;
  }

  void addRun(Clock::duration time) {
    ++runs_;
    time_ += time;
  }

  // A table of calls, longest first: microseconds of processor time per run of
  // the program, and what their plans expected.
  void print(std::ostream &stream, const std::vector<Call> &calls,
             const std::string &title) const;

private:
  struct Row {
    std::uint64_t tasks = 0;
    TaskClock::duration time{};
  };
  struct alignas(64) Worker {
    std::vector<Row> rows; // by call
    Clock::duration waited{};
  };

  std::vector<Worker> workers_;
  std::uint64_t runs_ = 0;
  Clock::duration time_{};
};

} // namespace poplar::engine
