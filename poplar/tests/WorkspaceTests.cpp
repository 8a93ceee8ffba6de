// Memory that a task has to itself: whose it is, and how much of it there is.
#include "LiftedProgram.hpp"

#include "compiler/AssignStorage.hpp"
#include "compiler/Pipeline.hpp"
#include "engine/StaticProgram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace poplar;
using namespace poplar::engine;
using poplar::test::EngineProgram;
using poplar::test::lifted;

constexpr std::size_t wantedBytes = 1000;

// Independent tasks that fill their workspace and note where it is.
class FillingPlan final : public kernels::Plan {
public:
  explicit FillingPlan(std::size_t count)
      : addresses(count), threads(count), isUndisturbed(count) {
    workspaceBytes_ = wantedBytes;
    tasks_.resize(count, {0, 100000, {}});
  }

  void run(std::uint32_t task, std::byte *const *,
           kernels::Memory memory) const override {
    const auto own = static_cast<std::byte>(task + 1);
    std::fill_n(memory.workspace, wantedBytes, own);
    std::this_thread::yield();
    isUndisturbed[task] =
        std::all_of(memory.workspace, memory.workspace + wantedBytes,
                    [&](std::byte byte) { return byte == own; });
    addresses[task] = memory.workspace;
    threads[task] = std::this_thread::get_id();
  }

  // By task.
  mutable std::vector<std::byte *> addresses;
  mutable std::vector<std::thread::id> threads;
  mutable std::vector<char> isUndisturbed;
};

TEST(Workspaces, EveryWorkerHasItsOwn) {
  constexpr unsigned count = 3;
  const auto plan = std::make_shared<FillingPlan>(24);
  TaskProgram tasks;
  tasks.plans.push_back(plan);
  tasks.calls.emplace_back();
  tasks.body.kind = compiler::ControlTree::Kind::Stretch;
  for (std::uint32_t i = 0; i < plan->tasks().size(); ++i) {
    TaskItem &item = tasks.body.tasks.emplace_back();
    item.plan = plan.get();
    item.task = i;
    item.cost = plan->tasks()[i].cost;
  }
  const std::atomic<bool> stop = false;
  StaticProgram program(std::move(tasks), count, stop);
  ASSERT_EQ(program.usedWorkers(), count);
  Workers workers(count);
  workers.makeWorkspaces(count, wantedBytes);
  EXPECT_EQ(workers.workspaceBytes(), count * wantedBytes);
  program.run(workers, nullptr);

  std::map<std::thread::id, std::byte *> found;
  for (std::size_t i = 0; i < plan->tasks().size(); ++i) {
    EXPECT_TRUE(plan->isUndisturbed[i]);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plan->addresses[i]) % 64, 0U);
    const auto [at, isNew] =
        found.emplace(plan->threads[i], plan->addresses[i]);
    EXPECT_EQ(at->second, plan->addresses[i]);
  }
  EXPECT_EQ(found.size(), count);
}

// Elements of transposed matrices are gathered, some at a time.
TEST(Workspaces, AreAsLargeAsTheLargestAndNotInTheArena) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {100, 100}, 1);
  const Tensor t = p.addTemporary("t", {100, 100});
  const Tensor y = p.addHostVariable("y", {100, 100}, 1);
  p.elementwise("a+b", {x.transpose(), x}, t);
  p.elementwise("a*2", {t.transpose()}, y);
  compiler::ValueProgram program = lifted(p);
  compiler::PipelineOptions options;
  options.disabled = {"fuseElementwise"};
  compiler::runPasses(program, options);
  std::vector<std::size_t> wanted;
  for (const compiler::Node &node : program.body.nodes) {
    EXPECT_EQ(node.plan->scratchBytes(), 0U);
    wanted.push_back(node.plan->workspaceBytes());
  }
  const auto storage = compiler::assignStorage(program);
  EXPECT_GT(*std::max_element(wanted.begin(), wanted.end()), 0U);
  EXPECT_EQ(storage.workspaceBytes,
            *std::max_element(wanted.begin(), wanted.end()));
  EXPECT_EQ(storage.arenaBytes, (100 * 100 * sizeof(float) + 63) / 64 * 64);
}

} // namespace
