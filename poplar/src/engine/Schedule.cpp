#include "engine/Schedule.hpp"

#include "engine/CacheModel.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace poplar::engine {
namespace {

// Nanoseconds until a worker sees what another has finished.
constexpr double handOverTime = 300;

// Nanoseconds to fetch a byte that another core's cache holds.
constexpr double fetchTime = 0.02;

// What another core's cache holds at most of a task's data. Tasks that each
// read a few rows of a large table are not kept together for its sake.
constexpr std::uint64_t mostFetched = 1 << 20;

struct Placement {
  std::uint32_t worker = 0;
  std::uint32_t index = 0; // among the worker's tasks
  double finish = 0;
};

class Scheduler {
public:
  Scheduler(const std::vector<TaskItem> &tasks,
            const std::vector<std::vector<Dependence>> &dependences,
            unsigned workers)
      : tasks_(tasks), dependences_(dependences), workers_(workers),
        priorities_(tasks.size()), placements_(tasks.size()),
        available_(workers), schedule_(workers) {}

  Schedule run() {
    rank();
    // Programs run again and again: the second time, tasks find their data
    // where the first time left it.
    placeAll();
    if (workers_ > 1) {
      available_.assign(workers_, 0);
      schedule_.assign(workers_, {});
      placeAll();
    }
    for (std::uint32_t w = 0; w < workers_; ++w) {
      addWaits(w);
    }
    return std::move(schedule_);
  }

private:
  // The cost of the longest chain from each task to the end.
  void rank() {
    for (std::size_t t = tasks_.size(); t-- > 0;) {
      priorities_[t] += tasks_[t].cost;
      for (const Dependence &dependence : dependences_[t]) {
        if (!dependence.isPrevious) {
          double &priority = priorities_[dependence.task];
          priority = std::max(priority, priorities_[t]);
        }
      }
    }
  }

  void placeAll() {
    std::vector<std::uint32_t> missing(tasks_.size());
    std::vector<std::vector<std::uint32_t>> successors(tasks_.size());
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      for (const Dependence &dependence : dependences_[t]) {
        if (!dependence.isPrevious) {
          ++missing[t];
          successors[dependence.task].push_back(t);
        }
      }
    }
    const auto isLater = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(priorities_[a], b) < std::pair(priorities_[b], a);
    };
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>,
                        decltype(isLater)>
        ready(isLater);
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      if (missing[t] == 0) {
        ready.push(t);
      }
    }
    while (!ready.empty()) {
      const std::uint32_t task = ready.top();
      ready.pop();
      place(task);
      for (std::uint32_t successor : successors[task]) {
        if (--missing[successor] == 0) {
          ready.push(successor);
        }
      }
    }
  }

  double startOn(std::uint32_t worker, std::uint32_t task) const {
    double start = available_[worker];
    for (const Dependence &dependence : dependences_[task]) {
      if (!dependence.isPrevious) {
        const Placement &other = placements_[dependence.task];
        start = std::max(
            start, other.finish + (other.worker == worker ? 0 : handOverTime));
      }
    }
    return start;
  }

  void place(std::uint32_t task) {
    const std::vector<ByteAccess> &accesses = tasks_[task].accesses;
    std::uint32_t best = 0;
    double bestFinish = std::numeric_limits<double>::max();
    const std::uint32_t candidates = tasks_[task].isStream ? 1 : workers_;
    for (std::uint32_t w = 0; w < candidates; ++w) {
      const std::uint64_t fetched =
          std::min(caches_.foreignBytes(accesses, w), mostFetched);
      const double finish = startOn(w, task) + tasks_[task].cost +
                            fetchTime * static_cast<double>(fetched);
      if (finish < bestFinish) {
        best = w;
        bestFinish = finish;
      }
    }
    caches_.touch(accesses, best);
    placements_[task] = {
        best, static_cast<std::uint32_t>(schedule_[best].size()), bestFinish};
    schedule_[best].push_back({task, {}});
    available_[best] = bestFinish;
  }

  // The last task of every other worker that each task depends on, unless an
  // earlier task of this worker has waited for it.
  void addWaits(std::uint32_t worker) {
    constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();
    std::vector<std::int32_t> seen(workers_, none);
    for (PlacedTask &placed : schedule_[worker]) {
      std::vector<std::int32_t> needed(workers_, none);
      for (const Dependence &dependence : dependences_[placed.task]) {
        const Placement &other = placements_[dependence.task];
        std::int32_t count = static_cast<std::int32_t>(other.index) + 1;
        if (dependence.isPrevious) {
          count -= static_cast<std::int32_t>(schedule_[other.worker].size());
        }
        needed[other.worker] = std::max(needed[other.worker], count);
      }
      for (std::uint32_t w = 0; w < workers_; ++w) {
        if (w != worker && needed[w] > seen[w]) {
          placed.waits.push_back({w, needed[w]});
          seen[w] = needed[w];
        }
      }
    }
  }

  const std::vector<TaskItem> &tasks_;
  const std::vector<std::vector<Dependence>> &dependences_;
  std::uint32_t workers_;
  std::vector<double> priorities_;
  std::vector<Placement> placements_;
  std::vector<double> available_; // by worker
  CacheModel caches_;
  Schedule schedule_;
};

} // namespace

Schedule makeSchedule(const std::vector<TaskItem> &tasks,
                      const std::vector<std::vector<Dependence>> &dependences,
                      unsigned workers) {
  return Scheduler(tasks, dependences, workers).run();
}

} // namespace poplar::engine
