// A scheduled program: for every worker a flat list of calls and of what to
// wait for. Running it allocates nothing and takes no locks.
#pragma once

#include "engine/Schedule.hpp"
#include "engine/StepProfile.hpp"
#include "engine/TaskList.hpp"
#include "engine/Workers.hpp"
#include "model/ProgramCounts.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace poplar::engine {

class StaticProgram {
public:
  // Endless loops end at the first iteration after which `stop` is set.
  StaticProgram(TaskProgram tasks, unsigned workers,
                const std::atomic<bool> &stop);

  // Runs on the workers that the schedule uses, who have workspaces large
  // enough for all tasks. With a profile, every task is timed. When a task
  // throws, all workers stop and the exception is passed on.
  void run(Workers &workers, StepProfile *profile);

  unsigned usedWorkers() const { return usedWorkers_; }

  const std::vector<Call> &calls() const { return tasks_.calls; }

  // Adds which way control went since the last call; see Executor.
  void takeCounts(model::ProgramCounts &counts);

private:
  struct Step {
    const kernels::Plan *plan;
    std::byte *const *operands;
    std::byte *scratch;
    std::uint32_t task;
    std::uint32_t waits; // how many of the list belong to this step
    std::uint32_t call;
  };
  struct WorkerSteps {
    std::vector<Step> steps;
    std::vector<Wait> waits;
  };
  struct Block {
    compiler::ControlTree::Kind kind = compiler::ControlTree::Kind::Sequence;
    std::uint64_t count = 1;
    std::vector<WorkerSteps> workers; // of a stretch
    std::vector<Block> children;
    Decision decision;
    bool continuesOn = true;
    std::vector<std::int32_t> keys;
    std::size_t function = 0;
    std::size_t counters = 0; // the block's in `counters_`
  };
  // Of a program whose course depends on data.
  struct Counters {
    const internal::ProgramNode *node;
    std::uint64_t runs = 0;
    std::vector<std::uint64_t> parts; // by child; of a loop: its iterations
  };
  // How many tasks a worker has finished, ever; on a cache line of its own.
  // Signed, because the first iteration of a loop may wait for less than zero.
  struct alignas(64) Progress {
    std::atomic<std::int64_t> finished = 0;
  };
  // One worker's walk over the program.
  struct Walk {
    unsigned worker = 0;
    std::byte *workspace = nullptr;
    std::int64_t finished = 0;
    // What every worker will have finished where this one's block starts.
    std::vector<std::int64_t> bases;
    StepProfile *profile = nullptr;
  };

  Block makeBlock(const TaskBlock &tasks, unsigned workers);
  template <bool isProfiled> void walk(const Block &block, Walk &state);
  template <bool isProfiled> void runStretch(const Block &block, Walk &state);
  template <bool isProfiled>
  void runSteps(const WorkerSteps &steps, Walk &state);
  std::int64_t decide(const Decision &decision, Walk &state);
  bool isToldToStop(Walk &state);
  void countStep(Walk &state);
  void countRun(const Block &block, const Walk &state);
  void countPart(const Block &block, std::size_t part, const Walk &state);
  void waitFor(unsigned worker, std::int64_t count) const;
  void waitForAll(const Walk &state) const;

  TaskProgram tasks_;
  unsigned usedWorkers_ = 1; // counted while the body is made
  // Written by worker 0 alone.
  std::vector<Counters> counters_;
  Block body_;
  std::vector<Block> functions_;
  std::vector<Progress> progress_;
  std::vector<std::int64_t> starts_; // progress before the current run
  std::vector<Walk> walks_;
  std::atomic<bool> isStopped_ = false; // by an error
  const std::atomic<bool> &stop_;
  bool stopSeen_ = false; // what the workers agreed on
};

} // namespace poplar::engine
