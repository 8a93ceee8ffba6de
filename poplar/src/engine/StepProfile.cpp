#include "engine/StepProfile.hpp"

#include <fmt/ostream.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <ostream>
#include <string_view>

namespace poplar::engine {
namespace {

double microseconds(StepProfile::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

} // namespace

StepProfile::TaskClock::time_point StepProfile::TaskClock::now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time_point(std::chrono::seconds(time.tv_sec) +
                    std::chrono::nanoseconds(time.tv_nsec));
}

bool StepProfile::isWanted() {
  const char *text = std::getenv("ASPEN_STEP_PROFILE");
  return text != nullptr && std::string_view(text) == "1";
}

StepProfile::StepProfile(std::size_t calls, unsigned workers)
    : workers_(workers) {
  for (Worker &worker : workers_) {
    worker.rows.resize(calls);
  }
}

void StepProfile::print(std::ostream &stream, const std::vector<Call> &calls,
                        const std::string &title) const {
  if (runs_ == 0) {
    return;
  }
  std::vector<Row> sums(calls.size());
  TaskClock::duration busy{};
  for (const Worker &worker : workers_) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].tasks += worker.rows[i].tasks;
      sums[i].time += worker.rows[i].time;
      busy += worker.rows[i].time;
    }
  }
  std::vector<std::size_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return sums[a].time > sums[b].time;
                   });
  const auto runs = static_cast<double>(runs_);
  fmt::print(
      stream,
      "{}: {} runs, {:.1f} us each, {:.1f} us of tasks' processor time\n",
      title, runs_, microseconds(time_) / runs, microseconds(busy) / runs);
  fmt::print(stream, "{:>10} {:>6} {:>10} {:>10}  {}\n", "us/run", "share",
             "expected", "tasks/run", "kernel, operation");
  for (std::size_t i : order) {
    const double tasks = static_cast<double>(sums[i].tasks) / runs;
    fmt::print(stream, "{:>10.2f} {:>5.1f}% {:>10.2f} {:>10.1f}  {}  {}\n",
               microseconds(sums[i].time) / runs,
               100 * microseconds(sums[i].time) / microseconds(busy),
               1e-3 * calls[i].cost * tasks /
                   static_cast<double>(calls[i].tasks),
               tasks, calls[i].kernel, calls[i].name);
  }
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    fmt::print(stream, "{:>10.2f} us/run of worker {} waiting\n",
               microseconds(workers_[w].waited) / runs, w);
  }
}

} // namespace poplar::engine
