#include "engine/Schedule.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace poplar::engine {
namespace {

// Nanoseconds until a worker sees what another has finished.
constexpr double handOverTime = 300;

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
    placeAll();
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
    std::uint32_t best = 0;
    double bestStart = startOn(0, task);
    for (std::uint32_t w = 1; w < workers_ && !tasks_[task].isStream; ++w) {
      const double start = startOn(w, task);
      if (start < bestStart) {
        best = w;
        bestStart = start;
      }
    }
    const double finish = bestStart + tasks_[task].cost;
    placements_[task] = {
        best, static_cast<std::uint32_t>(schedule_[best].size()), finish};
    schedule_[best].push_back({task, {}});
    available_[best] = finish;
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
  Schedule schedule_;
};

} // namespace

Schedule makeSchedule(const std::vector<TaskItem> &tasks,
                      const std::vector<std::vector<Dependence>> &dependences,
                      unsigned workers) {
  return Scheduler(tasks, dependences, workers).run();
}

} // namespace poplar::engine
