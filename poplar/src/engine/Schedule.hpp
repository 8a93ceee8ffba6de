// Places tasks on workers, ahead of time.
#pragma once

#include "engine/Dependences.hpp"

#include <cstdint>
#include <vector>

namespace poplar::engine {

// Before a task, `worker` must have finished `count` of its tasks, counted from
// the start of this iteration; zero and less is the previous one.
struct Wait {
  std::uint32_t worker = 0;
  std::int32_t count = 0;
};

struct PlacedTask {
  std::uint32_t task = 0;
  std::vector<Wait> waits;
};

// For each worker, its tasks in the order in which it runs them.
using Schedule = std::vector<std::vector<PlacedTask>>;

// List scheduling: the ready task with the longest way to the end goes to the
// worker that would finish it first, which counts the bytes that another worker
// touched last. Depends on the tasks' declared costs and accesses only.
Schedule makeSchedule(const std::vector<TaskItem> &tasks,
                      const std::vector<std::vector<Dependence>> &dependences,
                      unsigned workers);

} // namespace poplar::engine
