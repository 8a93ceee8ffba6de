#include "engine/StaticProgram.hpp"

#include <algorithm>
#include <utility>

namespace poplar::engine {
namespace {

using Kind = compiler::ControlTree::Kind;

// Ends a worker's walk when another worker has failed.
struct Stopped {};

} // namespace

StaticProgram::StaticProgram(TaskProgram tasks, unsigned workers,
                             const std::atomic<bool> &stop)
    : tasks_(std::move(tasks)), body_(makeBlock(tasks_.body, workers)),
      progress_(workers), starts_(workers), walks_(workers), stop_(stop) {
  for (const TaskBlock &function : tasks_.functions) {
    functions_.push_back(makeBlock(function, workers));
  }
  for (unsigned w = 0; w < workers; ++w) {
    walks_[w].worker = w;
    walks_[w].bases.resize(workers);
  }
}

StaticProgram::Block StaticProgram::makeBlock(const TaskBlock &tasks,
                                              unsigned workers) {
  Block block;
  block.kind = tasks.kind;
  block.count = tasks.count;
  block.decision = tasks.decision;
  block.continuesOn = tasks.continuesOn;
  block.keys = tasks.keys;
  block.function = tasks.function;
  if (tasks.node != nullptr) {
    block.counters = counters_.size();
    const std::size_t parts =
        tasks.kind == Kind::Switch ? tasks.children.size() : 1; // of a loop
    counters_.push_back({tasks.node, 0, std::vector<std::uint64_t>(parts)});
  }
  for (const TaskBlock &child : tasks.children) {
    block.children.push_back(makeBlock(child, workers));
  }
  if (tasks.kind != Kind::Stretch) {
    return block;
  }
  const Schedule schedule = makeSchedule(
      tasks.tasks, findDependences(tasks.tasks, tasks.count > 1), workers);
  for (unsigned w = 0; w < workers; ++w) {
    WorkerSteps &worker = block.workers.emplace_back();
    for (const PlacedTask &placed : schedule[w]) {
      const TaskItem &task = tasks.tasks[placed.task];
      worker.steps.push_back({task.plan, task.operands, task.scratch, task.task,
                              static_cast<std::uint32_t>(placed.waits.size()),
                              task.call});
      worker.waits.insert(worker.waits.end(), placed.waits.begin(),
                          placed.waits.end());
      usedWorkers_ = std::max(usedWorkers_, w + 1);
    }
  }
  return block;
}

void StaticProgram::waitFor(unsigned worker, std::int64_t count) const {
  support::SpinWait spin;
  while (progress_[worker].finished.load(std::memory_order_acquire) < count) {
    spin.pause();
    if (isStopped_.load(std::memory_order_relaxed)) {
      throw Stopped();
    }
  }
}

void StaticProgram::waitForAll(const Walk &state) const {
  for (unsigned w = 0; w < usedWorkers_; ++w) {
    if (w != state.worker) {
      waitFor(w, state.bases[w]);
    }
  }
}

template <bool isProfiled>
void StaticProgram::runSteps(const WorkerSteps &steps, Walk &state) {
  const Wait *wait = steps.waits.data();
  std::atomic<std::int64_t> &finished = progress_[state.worker].finished;
  for (const Step &step : steps.steps) {
    StepProfile::Clock::duration waited{};
    StepProfile::Clock::time_point start;
    StepProfile::TaskClock::time_point ready;
    if constexpr (isProfiled) {
      start = StepProfile::Clock::now();
    }
    for (std::uint32_t i = 0; i < step.waits; ++i, ++wait) {
      waitFor(wait->worker, state.bases[wait->worker] + wait->count);
    }
    if constexpr (isProfiled) {
      waited = StepProfile::Clock::now() - start;
      ready = StepProfile::TaskClock::now();
    }
    step.plan->run(step.task, step.operands, {step.scratch, state.workspace});
    if constexpr (isProfiled) {
      state.profile->add(state.worker, step.call, waited,
                         StepProfile::TaskClock::now() - ready);
    }
    finished.store(++state.finished, std::memory_order_release);
  }
}

template <bool isProfiled>
void StaticProgram::walk(const Block &block, Walk &state) {
  switch (block.kind) {
  case Kind::Stretch:
    runStretch<isProfiled>(block, state);
    break;
  case Kind::Sequence:
    if (block.count == internal::RepeatNode::forever) {
      countRun(block, state);
    }
    for (std::uint64_t i = 0; i < block.count; ++i) {
      for (const Block &child : block.children) {
        walk<isProfiled>(child, state);
      }
      if (block.count == internal::RepeatNode::forever) {
        countPart(block, 0, state);
        if (isToldToStop(state)) {
          break;
        }
      }
    }
    break;
  case Kind::While:
    countRun(block, state);
    walk<isProfiled>(block.children[0], state);
    while ((decide(block.decision, state) != 0) == block.continuesOn) {
      countPart(block, 0, state);
      walk<isProfiled>(block.children[1], state);
      walk<isProfiled>(block.children[0], state);
    }
    break;
  case Kind::Switch: {
    const std::int64_t value = decide(block.decision, state);
    const auto key = std::find(block.keys.begin(), block.keys.end(), value);
    const auto part = static_cast<std::size_t>(key - block.keys.begin());
    countRun(block, state);
    countPart(block, part, state);
    walk<isProfiled>(block.children[part], state);
    break;
  }
  case Kind::Call:
    walk<isProfiled>(functions_[block.function], state);
    break;
  }
}

// Every worker reads the value for itself. Reading counts as a task of each, so
// that what comes next, which waits for all before it, cannot change the value
// under a worker that is late.
std::int64_t StaticProgram::decide(const Decision &decision, Walk &state) {
  waitForAll(state);
  const std::int64_t value = decision.read();
  countStep(state);
  return value;
}

// One worker looks, so that all see the same.
bool StaticProgram::isToldToStop(Walk &state) {
  waitForAll(state);
  if (state.worker == 0) {
    stopSeen_ = stop_.load(std::memory_order_relaxed);
  }
  countStep(state);
  waitForAll(state);
  const bool isSeen = stopSeen_;
  countStep(state);
  return isSeen;
}

void StaticProgram::countStep(Walk &state) {
  progress_[state.worker].finished.store(++state.finished,
                                         std::memory_order_release);
  for (unsigned w = 0; w < usedWorkers_; ++w) {
    ++state.bases[w];
  }
}

void StaticProgram::countRun(const Block &block, const Walk &state) {
  if (state.worker == 0) {
    ++counters_[block.counters].runs;
  }
}

void StaticProgram::countPart(const Block &block, std::size_t part,
                              const Walk &state) {
  if (state.worker == 0) {
    ++counters_[block.counters].parts[part];
  }
}

void StaticProgram::takeCounts(model::ProgramCounts &counts) {
  for (Counters &counters : counters_) {
    model::PartCounts taken = {counters.runs, counters.parts};
    if (std::holds_alternative<internal::IfNode>(counters.node->op)) {
      std::swap(taken.parts[0], taken.parts[1]); // its children: else, then
    }
    counts[counters.node].add(taken);
    counters.runs = 0;
    std::fill(counters.parts.begin(), counters.parts.end(), 0);
  }
}

// A stretch starts when all before it is done; its iterations follow each other
// by the tasks' own waits.
template <bool isProfiled>
void StaticProgram::runStretch(const Block &block, Walk &state) {
  waitForAll(state);
  for (std::uint64_t i = 0; i < block.count; ++i) {
    runSteps<isProfiled>(block.workers[state.worker], state);
    for (unsigned w = 0; w < usedWorkers_; ++w) {
      state.bases[w] +=
          static_cast<std::int64_t>(block.workers[w].steps.size());
    }
  }
}

void StaticProgram::run(Workers &workers, StepProfile *profile) {
  for (unsigned w = 0; w < usedWorkers_; ++w) {
    starts_[w] = progress_[w].finished.load(std::memory_order_relaxed);
    walks_[w].workspace = workers.workspace(w);
    walks_[w].profile = profile;
  }
  isStopped_.store(false, std::memory_order_relaxed);
  const auto work = [this](unsigned worker) {
    Walk &state = walks_[worker];
    state.bases = starts_;
    state.finished = starts_[worker];
    try {
      state.profile == nullptr ? walk<false>(body_, state)
                               : walk<true>(body_, state);
    } catch (const Stopped &) {
    } catch (...) {
      isStopped_.store(true, std::memory_order_relaxed);
      throw;
    }
  };
  try {
    workers.run(usedWorkers_, work);
  } catch (...) {
    // Workers stopped at different places: count from zero again.
    for (Progress &progress : progress_) {
      progress.finished.store(0, std::memory_order_relaxed);
    }
    throw;
  }
}

} // namespace poplar::engine
