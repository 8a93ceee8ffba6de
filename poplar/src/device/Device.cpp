#include <poplar/Device.hpp>

#include "Attributes.hpp"
#include "DeviceImpl.hpp"
#include "graph/Handles.hpp"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <vector>

namespace poplar {
namespace {

constexpr support::Logger logger(support::LogChannel::Poplar, "TARGET");

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

Device internal::Access::makeDevice(std::unique_ptr<DeviceImpl> impl) {
  return Device(std::move(impl));
}

std::shared_ptr<internal::DeviceUse>
internal::Access::use(const Device &device) {
  const DeviceImpl &impl = validImpl(device.impl_);
  return impl.claim == nullptr ? nullptr : impl.claim->use();
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
              isHeld ? "attached" : "another holds some of its IPUs");
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
  major = internal::driverVersion[0];
  minor = internal::driverVersion[1];
  point = internal::driverVersion[2];
}

std::vector<int> Device::getDriverIDs() const {
  const DeviceImpl &device = attachedHardware(impl_, "getDriverIDs");
  std::vector<int> ids;
  const internal::IpuGroup &group = device.claim->group();
  for (unsigned i = 0; i < group.count; ++i) {
    ids.push_back(static_cast<int>(group.first + i));
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
  return std::vector<int>(device.claim->group().count, 0);
}

std::set<int> Device::getNumaNodesUsedForIPUs() const {
  const std::vector<int> nodes = getNumaTopology();
  return {nodes.begin(), nodes.end()};
}

std::map<std::string, std::string> Device::getAttributes() const {
  const DeviceImpl &device = validImpl(impl_);
  if (device.claim != nullptr) {
    return internal::deviceAttributes(device.id);
  }
  const Target &target = device.target;
  return {
      {"id", std::to_string(device.id)},
      {"target", toString(target.getTargetType())},
      {"ipu architecture", target.getTargetArchString()},
      {"clock", fmt::format("{:.0f}MHz", target.getTileClockFrequency() / 1e6)},
      {"remote buffers supported", "0"}};
}

bool Device::supportsRemoteBuffers() const {
  return validImpl(impl_).claim != nullptr;
}

} // namespace poplar
