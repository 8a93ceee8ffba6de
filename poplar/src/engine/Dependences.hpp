// Which tasks must wait for which: those before them in program order that
// touch the same bytes, one of the two writing.
#pragma once

#include "engine/TaskList.hpp"

#include <cstdint>
#include <vector>

namespace poplar::engine {

struct Dependence {
  std::uint32_t task = 0;
  // The task's previous iteration, not this one's.
  bool isPrevious = false;

  friend auto operator<=>(const Dependence &, const Dependence &) = default;
};

// For each task, what it waits for, without repetition. Tasks of one stage of
// one call do not wait for each other; a stage waits for the call's earlier
// ones. With `isLoop` the tasks run again and again, and dependences reach back
// into the previous iteration.
std::vector<std::vector<Dependence>>
findDependences(const std::vector<TaskItem> &tasks, bool isLoop);

} // namespace poplar::engine
