// What the profile of an engine's steps counts.
#include "engine/StepProfile.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

using TaskClock = poplar::engine::StepProfile::TaskClock;
using namespace std::chrono_literals;

TEST(StepProfile, CountsWhatAThreadComputesAndNotWhatItSleeps) {
  const auto start = TaskClock::now();
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(TaskClock::now() - start, 50ms);
  const auto end = std::chrono::steady_clock::now() + 100ms;
  while (std::chrono::steady_clock::now() < end) {
  }
  EXPECT_GT(TaskClock::now() - start, 1ms); // some of a busy machine's time
}

} // namespace
