#include <poplar/Device.hpp>

#include "DeviceImpl.hpp"
#include "graph/Handles.hpp"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <array>
#include <filesystem>
#include <mutex>
#include <vector>

#include <unistd.h>

namespace poplar {
namespace {

constexpr support::Logger logger(support::LogChannel::Poplar, "TARGET");

// Of the driver that the 3.3 release came with.
constexpr std::array<unsigned, 3> driverVersion = {1, 1, 3};

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

Device Device::createSimulatorDevice(const Target &target,
                                     const OptionFlags &) {
  return Device(std::make_unique<DeviceImpl>(DeviceImpl{target, 0, nullptr}));
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
  const bool isHeld = device.claim == nullptr || device.claim->acquire();
  logger.info("device {}: {}", device.id,
              isHeld ? "attached" : "another device holds some of its IPUs");
  return isHeld;
}

void Device::detach() const {
  const DeviceImpl &device = validImpl(impl_);
  if (device.claim != nullptr && device.claim->isAttached()) {
    device.claim->release();
    logger.info("device {}: detached", device.id);
  }
}

bool Device::isAttached() const {
  const DeviceImpl &device = validImpl(impl_);
  return device.claim == nullptr || device.claim->isAttached();
}

void Device::getDriverVersion(unsigned &major, unsigned &minor,
                              unsigned &point) const {
  attachedHardware(impl_, "getDriverVersion");
  major = driverVersion[0];
  minor = driverVersion[1];
  point = driverVersion[2];
}

std::vector<int> Device::getDriverIDs() const {
  const DeviceImpl &device = attachedHardware(impl_, "getDriverIDs");
  std::vector<int> ids;
  for (unsigned i = 0; i < device.claim->count(); ++i) {
    ids.push_back(static_cast<int>(device.claim->first() + i));
  }
  return ids;
}

bool Device::hasGateway() const {
  return attachedHardware(impl_, "hasGateway").target.getGatewayMode();
}

void Device::reset() const {
  attachedHardware(impl_, "reset");
}

std::vector<int> Device::getNumaTopology() const {
  const DeviceImpl &device = attachedHardware(impl_, "getNumaTopology");
  return std::vector<int>(device.claim->count(), 0);
}

std::set<int> Device::getNumaNodesUsedForIPUs() const {
  const std::vector<int> nodes = getNumaTopology();
  return {nodes.begin(), nodes.end()};
}

std::map<std::string, std::string> Device::getAttributes() const {
  const DeviceImpl &device = validImpl(impl_);
  const Target &target = device.target;
  std::map<std::string, std::string> attributes = {
      {"id", std::to_string(device.id)},
      {"target", toString(target.getTargetType())},
      {"ipu architecture", target.getTargetArchString()},
      {"clock", fmt::format("{:.0f}MHz", target.getTileClockFrequency() / 1e6)},
      {"remote buffers supported", supportsRemoteBuffers() ? "1" : "0"}};
  if (device.claim == nullptr) {
    return attributes;
  }
  attributes["target"] = device.claim->count() > 1 ? "Multi IPU" : "Fabric";
  attributes["driver version"] =
      fmt::format("{}", fmt::join(driverVersion, "."));
  attributes["graph streaming"] = "true";
  attributes["ipu error state"] = "no errors";
  attributes["numa node"] = "0";
  if (device.claim->isAttached()) {
    attributes["user executable"] =
        std::filesystem::read_symlink("/proc/self/exe");
    attributes["user process id"] = std::to_string(getpid());
  }
  return attributes;
}

bool Device::supportsRemoteBuffers() const {
  return validImpl(impl_).claim != nullptr;
}

} // namespace poplar
