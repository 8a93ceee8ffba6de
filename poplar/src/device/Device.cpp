#include <poplar/Device.hpp>

#include "DeviceImpl.hpp"
#include "graph/Handles.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <mutex>
#include <vector>

namespace poplar {
namespace {

// Which IPUs of the system this process holds.
struct HeldIpus {
  std::mutex mutex;
  std::vector<bool> isHeld;
};

HeldIpus &heldIpus() {
  static HeldIpus held;
  return held;
}

const DeviceImpl &validImpl(const std::unique_ptr<DeviceImpl> &impl) {
  support::requireUser<poplar_error>(
      impl != nullptr,
      "[poplar::Device] the device is default-constructed; take one from "
      "DeviceManager or IPUModel");
  return *impl;
}

const DeviceImpl &attachedHardware(const std::unique_ptr<DeviceImpl> &impl,
                                   const char *operation) {
  const DeviceImpl &device = validImpl(impl);
  support::requireUser<poplar_error>(
      device.claim != nullptr && device.claim->isAttached(),
      "[poplar::Device::{}] device {} is not an attached IPU", operation,
      device.id);
  return device;
}

} // namespace

bool HardwareClaim::acquire() {
  HeldIpus &held = heldIpus();
  std::lock_guard lock(held.mutex);
  if (isAttached_) {
    return true;
  }
  if (held.isHeld.size() < first_ + count_) {
    held.isHeld.resize(first_ + count_);
  }
  for (unsigned ipu = first_; ipu < first_ + count_; ++ipu) {
    if (held.isHeld[ipu]) {
      return false;
    }
  }
  for (unsigned ipu = first_; ipu < first_ + count_; ++ipu) {
    held.isHeld[ipu] = true;
  }
  isAttached_ = true;
  return true;
}

void HardwareClaim::release() {
  HeldIpus &held = heldIpus();
  std::lock_guard lock(held.mutex);
  if (isAttached_) {
    for (unsigned ipu = first_; ipu < first_ + count_; ++ipu) {
      held.isHeld[ipu] = false;
    }
    isAttached_ = false;
  }
}

Device internal::Access::makeDevice(std::unique_ptr<DeviceImpl> impl) {
  return Device(std::move(impl));
}

Device::Device() = default;
Device::Device(std::unique_ptr<DeviceImpl> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;
Device::Device(Device &&) noexcept = default;
Device &Device::operator=(Device &&) noexcept = default;

Device Device::createCPUDevice(unsigned numIPUs) {
  return Device(std::make_unique<DeviceImpl>(
      DeviceImpl{Target::createCPUTarget(true, numIPUs), 0, nullptr}));
}

Device Device::createVirtualDevice(unsigned tilesPerIPU) {
  DeviceImpl reduced = validImpl(impl_);
  reduced.target = reduced.target.createVirtualTarget(
      reduced.target.getNumIPUs(), tilesPerIPU);
  return Device(std::make_unique<DeviceImpl>(std::move(reduced)));
}

unsigned Device::getId() const {
  return validImpl(impl_).id;
}
const Target &Device::getTarget() const {
  return validImpl(impl_).target;
}

bool Device::attach() const {
  const DeviceImpl &device = validImpl(impl_);
  return device.claim == nullptr || device.claim->acquire();
}

void Device::detach() const {
  const DeviceImpl &device = validImpl(impl_);
  if (device.claim != nullptr) {
    device.claim->release();
  }
}

bool Device::isAttached() const {
  const DeviceImpl &device = validImpl(impl_);
  return device.claim == nullptr || device.claim->isAttached();
}

void Device::getDriverVersion(unsigned &major, unsigned &minor,
                              unsigned &point) const {
  attachedHardware(impl_, "getDriverVersion");
  // Of the driver that the 3.3 release came with.
  major = 1;
  minor = 1;
  point = 3;
}

std::vector<int> Device::getDriverIDs() const {
  const DeviceImpl &device = attachedHardware(impl_, "getDriverIDs");
  std::vector<int> ids;
  for (unsigned i = 0; i < device.claim->count(); ++i) {
    ids.push_back(static_cast<int>(device.claim->first() + i));
  }
  return ids;
}

std::map<std::string, std::string> Device::getAttributes() const {
  const Target &target = getTarget();
  return {{"architecture", target.getTargetArchString()},
          {"target type", toString(target.getTargetType())},
          {"number of IPUs", std::to_string(target.getNumIPUs())},
          {"tiles per IPU", std::to_string(target.getTilesPerIPU())},
          {"tile clock",
           fmt::format("{:.0f} MHz", target.getTileClockFrequency() / 1e6)}};
}

bool Device::supportsRemoteBuffers() const {
  return validImpl(impl_).claim != nullptr;
}

bool Device::hasGateway() const {
  return validImpl(impl_).claim != nullptr;
}

void Device::reset() const {
  attachedHardware(impl_, "reset");
}

} // namespace poplar
