#include <poplar/DeviceManager.hpp>

#include "Attributes.hpp"
#include "DeviceImpl.hpp"
#include "Registry.hpp"
#include "System.hpp"
#include "TargetOptions.hpp"
#include "graph/Handles.hpp"

#include <poplar/internal/Hardware.hpp>

namespace poplar {
namespace {

using internal::IpuGroup;
using internal::System;

std::vector<IpuGroup> groupsOf(const System &system) {
  return internal::deviceGroups(system.target.numIPUs);
}

Device makeDevice(const System &system, const IpuGroup &group,
                  const OptionFlags &options) {
  internal::TargetData data = system.target;
  internal::applyTargetOptions(options, data);
  data.numIPUs = group.count;
  auto claim = std::make_shared<internal::HardwareClaim>(
      internal::Registry::of(system), group, data.clockHz, system.partition);
  return internal::Access::makeDevice(std::make_unique<DeviceImpl>(DeviceImpl{
      internal::makeTarget(std::move(data)), group.id, std::move(claim)}));
}

template <typename Predicate>
std::vector<Device> makeDevices(const OptionFlags &options,
                                Predicate isWanted) {
  const System system = internal::emulatedSystem();
  std::vector<Device> devices;
  for (const IpuGroup &group : groupsOf(system)) {
    if (isWanted(group)) {
      devices.push_back(makeDevice(system, group, options));
    }
  }
  return devices;
}

} // namespace

std::size_t DeviceManager::getNumDevices() const {
  return groupsOf(internal::emulatedSystem()).size();
}

Device DeviceManager::getDevice(unsigned deviceManagerId,
                                const OptionFlags &options) const {
  const System system = internal::emulatedSystem();
  const auto groups = groupsOf(system);
  return makeDevice(system, internal::groupOf(groups, deviceManagerId),
                    options);
}

std::vector<Device>
DeviceManager::getDevices(const OptionFlags &options) const {
  return makeDevices(options, [](const IpuGroup &) { return true; });
}

std::vector<Device>
DeviceManager::getDevices(TargetType type, unsigned requiredNumIPUs,
                          const OptionFlags &options) const {
  if (type != TargetType::IPU) {
    return {};
  }
  return makeDevices(options, [&](const IpuGroup &group) {
    return group.count == requiredNumIPUs;
  });
}

std::vector<unsigned>
DeviceManager::getChildDeviceIds(unsigned parentId,
                                 unsigned numChildDeviceIpus) const {
  const auto groups = groupsOf(internal::emulatedSystem());
  const IpuGroup &parent = internal::groupOf(groups, parentId);
  std::vector<unsigned> ids;
  for (const IpuGroup &child : groups) {
    if (child.count == numChildDeviceIpus && child.first >= parent.first &&
        child.first + child.count <= parent.first + parent.count) {
      ids.push_back(child.id);
    }
  }
  return ids;
}

} // namespace poplar
