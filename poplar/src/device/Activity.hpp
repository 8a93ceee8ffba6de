// What a process does with the IPUs that it holds, counted where other
// processes can read it.
#pragma once

#include <array>
#include <cstdint>

namespace poplar::internal {

// Lies in shared memory: the holder counts, with relaxed atomic operations;
// everybody else reads copies. Times are those of coarseNow().
struct Activity {
  // Length of a slot; the last eight and the current one are the recent time.
  static constexpr std::uint64_t slotNs = 125'000'000;

  std::uint64_t busyNs = 0;       // of all runs that ended
  std::uint64_t runningSince = 0; // 0: nothing runs
  std::uint64_t hostBytes = 0;    // of stream and remote buffers
  // A ring: the number of the slot in the upper half, its busy time below.
  std::array<std::uint64_t, 16> slots = {};
};

// Monotonic nanoseconds, the same for all processes of the host, in steps of a
// scheduler tick (1 to 10 ms). A tick falls into a run with a chance that is
// proportional to its length, so that sums of many short runs come out right
// although most of them measure as 0; reading a precise clock would take longer
// than the rest of a small run's bookkeeping.
std::uint64_t coarseNow();

void beginBusy(Activity &activity, std::uint64_t now);
void endBusy(Activity &activity, std::uint64_t now);

// Shares of time, 0 to 1.
struct Utilisation {
  double recent = 0;  // of the last second or so
  double session = 0; // since `attachedAt`
};

Utilisation utilisationOf(const Activity &activity, std::uint64_t attachedAt,
                          std::uint64_t now);

} // namespace poplar::internal
