// What engines do with a device, counted in the registry for as long as this
// process holds the IPUs. Engines keep it; the device may go before them.
#pragma once

#include "Activity.hpp"

#include <atomic>
#include <cstdint>

namespace poplar::internal {

class DeviceUse {
public:
  // A program starts, and ends. Any thread; a few nanoseconds each.
  void begin() noexcept {
    if (Activity *activity = activity_.load(std::memory_order_relaxed)) {
      beginBusy(*activity, coarseNow());
    }
  }
  void end() noexcept {
    if (Activity *activity = activity_.load(std::memory_order_relaxed)) {
      endBusy(*activity, coarseNow());
    }
  }

  // Host buffers that engines have for the device, or no longer have.
  void addHostBytes(std::uint64_t bytes) noexcept {
    hostBytes_ += bytes;
    publishHostBytes();
  }
  void removeHostBytes(std::uint64_t bytes) noexcept {
    hostBytes_ -= bytes;
    publishHostBytes();
  }

  // Where to count; null: nowhere.
  void countIn(Activity *activity) noexcept {
    activity_ = activity;
    publishHostBytes();
  }
  bool isCounted() const noexcept { return activity_.load() != nullptr; }

private:
  void publishHostBytes() noexcept {
    if (Activity *activity = activity_.load()) {
      std::atomic_ref(activity->hostBytes).store(hostBytes_.load());
    }
  }

  std::atomic<Activity *> activity_ = nullptr;
  std::atomic<std::uint64_t> hostBytes_ = 0;
};

// Counts as long as it lives. There may be nothing to count for: null.
class RunTime {
public:
  explicit RunTime(DeviceUse *use) : use_(use) {
    if (use_ != nullptr) {
      use_->begin();
    }
  }
  ~RunTime() {
    if (use_ != nullptr) {
      use_->end();
    }
  }
  RunTime(const RunTime &) = delete;
  RunTime &operator=(const RunTime &) = delete;

private:
  DeviceUse *use_;
};

// Interrupts a RunTime as long as it lives: the program waits for the host.
class WaitTime {
public:
  explicit WaitTime(DeviceUse *use) : use_(use) {
    if (use_ != nullptr) {
      use_->end();
    }
  }
  ~WaitTime() {
    if (use_ != nullptr) {
      use_->begin();
    }
  }
  WaitTime(const WaitTime &) = delete;
  WaitTime &operator=(const WaitTime &) = delete;

private:
  DeviceUse *use_;
};

} // namespace poplar::internal
