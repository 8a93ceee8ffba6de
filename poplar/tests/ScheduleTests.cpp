// Dependences from bytes, and schedules from dependences.
#include "engine/Schedule.hpp"

#include <gtest/gtest.h>

#include <iterator>

namespace {

using namespace poplar::engine;

std::byte memory[64];

// A task of call `call` that reads and writes byte ranges of `memory`.
struct Range {
  int begin;
  int end;
};
TaskItem makeTask(std::uint32_t call, std::vector<Range> reads,
                  std::vector<Range> writes, double cost = 1000) {
  TaskItem task;
  task.call = call;
  task.cost = cost;
  for (const Range &range : reads) {
    task.accesses.push_back(
        {memory + range.begin, memory + range.end, false, false});
  }
  for (const Range &range : writes) {
    task.accesses.push_back(
        {memory + range.begin, memory + range.end, true, false});
  }
  return task;
}

using Dependences = std::vector<std::vector<Dependence>>;

TEST(Dependences, FollowFromOverlappingBytesOfWhichOneIsWritten) {
  const std::vector<TaskItem> tasks = {
      makeTask(0, {}, {{0, 8}}),        // writes a
      makeTask(1, {{0, 4}}, {{8, 12}}), // reads part of a
      makeTask(2, {{4, 8}}, {{12, 16}}),
      makeTask(3, {}, {{0, 4}}), // overwrites what task 1 read
      makeTask(4, {{8, 16}}, {}),
  };
  EXPECT_EQ(findDependences(tasks, false),
            (Dependences{{}, {{0}}, {{0}}, {{0}, {1}}, {{1}, {2}}}));
}

TEST(Dependences, LeaveTasksOfOneStageIndependent) {
  // Two shards with interleaved rows: their ranges overlap, their bytes do not.
  std::vector<TaskItem> tasks = {
      makeTask(0, {}, {{0, 16}}),        makeTask(1, {{0, 16}}, {{0, 15}}),
      makeTask(1, {{0, 16}}, {{1, 16}}), makeTask(1, {}, {{16, 17}}),
      makeTask(2, {{4, 8}}, {}),
  };
  tasks[3].stage = 1;
  EXPECT_EQ(findDependences(tasks, false),
            (Dependences{{}, {{0}}, {{0}}, {{1}, {2}}, {{1}, {2}}}));
}

TEST(Dependences, ReachIntoThePreviousIterationOfALoop) {
  const std::vector<TaskItem> tasks = {
      makeTask(0, {{0, 4}}, {{4, 8}}),
      makeTask(1, {{4, 8}}, {{0, 4}}),
  };
  const bool isPrevious = true;
  EXPECT_EQ(findDependences(tasks, true),
            (Dependences{{{0, isPrevious}, {1, isPrevious}},
                         {{0}, {1, isPrevious}}}));
}

TEST(Dependences, AreThoseOfTheLastWholeWriteAfterManySmallOnes) {
  const std::vector<TaskItem> tasks = {
      makeTask(0, {}, {{0, 4}}), makeTask(1, {{0, 2}}, {{4, 8}}),
      makeTask(2, {}, {{0, 8}}), // over both, and over what task 1 read
      makeTask(2, {}, {{6, 8}}), // with it: no matter what its bytes were
      makeTask(3, {{0, 1}}, {}), makeTask(4, {}, {{2, 4}}),
  };
  EXPECT_EQ(findDependences(tasks, false),
            (Dependences{{}, {{0}}, {{0}, {1}}, {{0}, {1}}, {{2}}, {{2}}}));
}

// Walking through every byte for each of the later tasks would take seconds.
TEST(Dependences, DoNotTakeLongerWhereMemoryWasCut) {
  static std::byte large[20000];
  std::vector<TaskItem> tasks;
  for (std::uint32_t call = 0; call < 2 * sizeof large; ++call) {
    tasks.push_back(makeTask(call, {}, {}));
    bool isWhole = call >= sizeof large;
    tasks.back().accesses.push_back(
        {large + (isWhole ? 0 : call),
         isWhole ? std::end(large) : large + call + 1, true, false});
  }
  const Dependences dependences = findDependences(tasks, false);
  EXPECT_EQ(dependences[sizeof large].size(), sizeof large);
  EXPECT_EQ(dependences.back(),
            (std::vector<Dependence>{{2 * sizeof large - 2}}));
  EXPECT_EQ(makeSchedule(tasks, dependences, 1)[0].size(), 2 * sizeof large);
}

TEST(Dependences, KeepStreamsInOrder) {
  std::vector<TaskItem> tasks = {makeTask(0, {}, {{0, 4}}),
                                 makeTask(1, {{8, 12}}, {})};
  tasks[0].isStream = tasks[1].isStream = true;
  EXPECT_EQ(findDependences(tasks, false), (Dependences{{}, {{0}}}));
}

TEST(Dependences, EndAStreamBeforeTheNextBegins) {
  std::vector<TaskItem> tasks = {
      makeTask(0, {}, {{0, 8}}), makeTask(0, {}, {{0, 4}}),
      makeTask(0, {}, {{4, 8}}), makeTask(1, {{8, 12}}, {})};
  tasks[0].isStream = tasks[3].isStream = true;
  tasks[1].stage = tasks[2].stage = 1;
  tasks[1].isStreamPart = tasks[2].isStreamPart = true;
  EXPECT_EQ(findDependences(tasks, false),
            (Dependences{{}, {{0}}, {{0}}, {{0}, {1}, {2}}}));
}

TEST(Schedule, SpreadsIndependentTasksAndWaitsAcrossWorkers) {
  const std::vector<TaskItem> tasks = {
      makeTask(0, {}, {{0, 4}}, 10000),
      makeTask(1, {}, {{4, 8}}, 9000),
      makeTask(2, {{0, 8}}, {{8, 12}}, 5000),
  };
  const Schedule schedule =
      makeSchedule(tasks, findDependences(tasks, false), 2);
  ASSERT_EQ(schedule[0].size(), 2U);
  ASSERT_EQ(schedule[1].size(), 1U);
  EXPECT_EQ(schedule[0][0].task, 0U);
  EXPECT_EQ(schedule[1][0].task, 1U);
  ASSERT_EQ(schedule[0][1].waits.size(), 1U);
  EXPECT_EQ(schedule[0][1].waits[0].worker, 1U);
  EXPECT_EQ(schedule[0][1].waits[0].count, 1);
}

TEST(Schedule, PutsTasksWhereTheirDataIs) {
  static std::byte large[400000];
  const auto at = [&](std::uint32_t call, int half, double cost) {
    TaskItem task = makeTask(call, {}, {}, cost);
    task.accesses.push_back(
        {large + half * 200000, large + (half + 1) * 200000, true, false});
    return task;
  };
  // Forwards over two halves, then backwards with the costs the other way
  // round: each half stays with its worker.
  const std::vector<TaskItem> tasks = {at(0, 0, 3000), at(1, 1, 2000),
                                       at(2, 0, 2000), at(3, 1, 3000)};
  const Schedule schedule =
      makeSchedule(tasks, findDependences(tasks, true), 2);
  ASSERT_EQ(schedule[0].size(), 2U);
  EXPECT_EQ(schedule[0][0].task + 2, schedule[0][1].task);
  EXPECT_EQ(schedule[1][0].task + 2, schedule[1][1].task);
}

// Each takes a little of what a table has: no cache holds all of it.
TEST(Schedule, SpreadsTasksThatShareALargeTable) {
  static std::byte table[16 << 20];
  std::vector<TaskItem> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(makeTask(0, {}, {{i, i + 1}}, 12000));
    tasks.back().accesses.push_back(
        {table, table + sizeof table, false, false});
  }
  const Schedule schedule =
      makeSchedule(tasks, findDependences(tasks, true), 2);
  EXPECT_EQ(schedule[0].size(), 2U);
  EXPECT_EQ(schedule[1].size(), 2U);
}

TEST(Schedule, KeepsAChainOnOneWorker) {
  std::vector<TaskItem> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(
        makeTask(static_cast<std::uint32_t>(i), {{0, 4}}, {{0, 4}}, 100));
  }
  const Schedule schedule =
      makeSchedule(tasks, findDependences(tasks, false), 3);
  EXPECT_EQ(schedule[0].size(), 10U);
}

TEST(Schedule, RunsStreamsOnWorkerZero) {
  std::vector<TaskItem> tasks = {makeTask(0, {}, {{0, 4}}, 50000),
                                 makeTask(1, {}, {{4, 8}}, 40000)};
  tasks[1].isStream = true;
  const Schedule schedule =
      makeSchedule(tasks, findDependences(tasks, false), 2);
  ASSERT_FALSE(schedule[0].empty());
  EXPECT_EQ(schedule[0].back().task, 1U);
}

} // namespace
