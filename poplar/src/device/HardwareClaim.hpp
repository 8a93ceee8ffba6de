// IPUs of the emulated system that a device stands on, and what is done with
// them while this process holds them.
#pragma once

#include "Activity.hpp"

#include <poplar/internal/Hardware.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace poplar::internal {

class Registry;

// Shared by a device, its virtual devices and the engines loaded onto them. A
// forked child holds nothing, whatever its parent holds.
class HardwareClaim {
public:
  HardwareClaim(Registry &registry, const IpuGroup &group, double clockHz,
                std::string partition)
      : registry_(registry), group_(group), clockHz_(clockHz),
        partition_(std::move(partition)) {}
  ~HardwareClaim() { release(); }
  HardwareClaim(const HardwareClaim &) = delete;
  HardwareClaim &operator=(const HardwareClaim &) = delete;

  // False when another device or process holds one of the IPUs. Throws
  // poplar_error when the registry cannot be used.
  bool acquire();
  void release() noexcept;
  bool isAttached() const { return activity_.load() != nullptr; }

  const IpuGroup &group() const { return group_; }
  double clockHz() const { return clockHz_; }
  const std::string &partition() const { return partition_; }

  // A program runs, and does not.
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
  // Bytes of host buffers that engines keep for the device.
  void addHostBytes(std::int64_t bytes) noexcept;

private:
  friend class Registry;
  void publishHostBytes() noexcept;

  Registry &registry_;
  IpuGroup group_;
  double clockHz_;
  std::string partition_;
  std::atomic<std::uint64_t> hostBytes_ = 0;
  // Where to count; set by the registry while this process holds the IPUs.
  std::atomic<Activity *> activity_ = nullptr;
};

} // namespace poplar::internal
