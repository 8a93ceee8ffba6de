// IPUs of the emulated system that a device stands on, held by this process or
// not. Shared by a device and its virtual devices.
#pragma once

#include "DeviceUse.hpp"

#include <poplar/internal/Hardware.hpp>

#include <memory>
#include <string>
#include <utility>

namespace poplar::internal {

class Registry;

// A forked child holds nothing, whatever its parent holds.
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
  bool isAttached() const { return use_->isCounted(); }

  const IpuGroup &group() const { return group_; }
  double clockHz() const { return clockHz_; }
  const std::string &partition() const { return partition_; }
  const std::shared_ptr<DeviceUse> &use() const { return use_; }

private:
  Registry &registry_;
  IpuGroup group_;
  double clockHz_;
  std::string partition_;
  const std::shared_ptr<DeviceUse> use_ = std::make_shared<DeviceUse>();
};

} // namespace poplar::internal
