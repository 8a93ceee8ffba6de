// The pool: every worker once per job, exceptions, sleeping, forking.
#include <support/SpinPool.hpp>

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>

namespace {

using support::SpinPool;

std::array<int, 3> countRuns(SpinPool &pool, int jobs) {
  std::array<int, 3> runs = {};
  for (int i = 0; i < jobs; ++i) {
    pool.run([&](unsigned worker) { ++runs[worker]; });
  }
  return runs;
}

TEST(SpinPool, RunsEveryWorkerOncePerJob) {
  SpinPool pool(3);
  EXPECT_EQ(countRuns(pool, 1000), (std::array<int, 3>{1000, 1000, 1000}));
}

TEST(SpinPool, WakesWorkersThatWentToSleep) {
  SpinPool pool(3);
  countRuns(pool, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(countRuns(pool, 1), (std::array<int, 3>{1, 1, 1}));
}

TEST(SpinPool, RethrowsAnExceptionAndStaysUsable) {
  SpinPool pool(2);
  const auto failOn = [&](unsigned failing) {
    pool.run([&](unsigned worker) {
      if (worker == failing) {
        throw std::runtime_error("failed");
      }
    });
  };
  EXPECT_THROW(failOn(0), std::runtime_error);
  EXPECT_THROW(failOn(1), std::runtime_error);
  EXPECT_NO_THROW(failOn(2));
}

TEST(SpinPool, KeepsOpenMpOnOneThreadDuringJobsOnly) {
  omp_set_num_threads(2);
  SpinPool pool(2);
  std::array<int, 2> inside = {};
  pool.run([&](unsigned worker) { inside[worker] = omp_get_max_threads(); });
  EXPECT_EQ(inside, (std::array<int, 2>{1, 1}));
  EXPECT_EQ(omp_get_max_threads(), 2);
}

TEST(SpinPool, StartsNewThreadsInAForkedChild) {
  SpinPool pool(3);
  countRuns(pool, 1);
  const pid_t child = fork();
  if (child == 0) {
    const bool isRight = countRuns(pool, 10) == std::array<int, 3>{10, 10, 10};
    _exit(isRight ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace
