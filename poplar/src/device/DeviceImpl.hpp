// What a Device is: a target and, for hardware, the IPUs that it stands on.
#pragma once

#include <poplar/Device.hpp>

#include <memory>

namespace poplar {

// IPUs [first, first + count) of the emulated system, which this process holds
// while isAttached. Shared by a device and its virtual devices.
class HardwareClaim {
public:
  HardwareClaim(unsigned first, unsigned count)
      : first_(first), count_(count) {}
  ~HardwareClaim() { release(); }
  HardwareClaim(const HardwareClaim &) = delete;
  HardwareClaim &operator=(const HardwareClaim &) = delete;

  // False when another device of this process holds one of the IPUs.
  bool acquire();
  void release();
  bool isAttached() const { return isAttached_; }
  unsigned first() const { return first_; }
  unsigned count() const { return count_; }

private:
  unsigned first_;
  unsigned count_;
  bool isAttached_ = false;
};

class DeviceImpl {
public:
  Target target;
  unsigned id = 0;
  std::shared_ptr<HardwareClaim> claim; // null for models and CPUs
};

} // namespace poplar
