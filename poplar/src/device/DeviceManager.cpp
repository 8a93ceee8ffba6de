#include <poplar/DeviceManager.hpp>

#include "Architecture.hpp"
#include "DeviceImpl.hpp"
#include "graph/Handles.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <string_view>

namespace poplar {
namespace {

// The emulated system.
constexpr std::string_view systemName = "bow-pod16";
constexpr unsigned systemIpus = 16;

// IPUs [first, first + count) of the system.
struct IpuGroup {
  unsigned first;
  unsigned count;
};

// By device id: singles, then pairs, quads and so on.
std::vector<IpuGroup> deviceGroups() {
  std::vector<IpuGroup> groups;
  for (unsigned count = 1; count <= systemIpus; count *= 2) {
    for (unsigned first = 0; first + count <= systemIpus; first += count) {
      groups.push_back({first, count});
    }
  }
  return groups;
}

IpuGroup groupOf(unsigned id) {
  auto groups = deviceGroups();
  support::requireUser<poplar_error>(
      id < groups.size(),
      "[poplar::DeviceManager] device {} given; the system has devices 0 to {}",
      id, groups.size() - 1);
  return groups[id];
}

} // namespace

std::size_t DeviceManager::getNumDevices() const {
  return deviceGroups().size();
}

Device DeviceManager::getDevice(unsigned deviceManagerId,
                                const OptionFlags &options) const {
  IpuGroup group = groupOf(deviceManagerId);
  internal::TargetData data = internal::systemData(systemName);
  internal::applyTargetOptions(options, data);
  data.numIPUs = group.count;
  return internal::Access::makeDevice(std::make_unique<DeviceImpl>(
      DeviceImpl{internal::makeTarget(std::move(data)), deviceManagerId,
                 std::make_shared<HardwareClaim>(group.first, group.count)}));
}

std::vector<Device>
DeviceManager::getDevices(const OptionFlags &options) const {
  std::vector<Device> devices;
  for (unsigned id = 0; id < getNumDevices(); ++id) {
    devices.push_back(getDevice(id, options));
  }
  return devices;
}

std::vector<Device>
DeviceManager::getDevices(TargetType type, unsigned requiredNumIPUs,
                          const OptionFlags &options) const {
  std::vector<Device> devices;
  if (type != TargetType::IPU) {
    return devices;
  }
  for (unsigned id = 0; id < getNumDevices(); ++id) {
    if (groupOf(id).count == requiredNumIPUs) {
      devices.push_back(getDevice(id, options));
    }
  }
  return devices;
}

std::vector<unsigned>
DeviceManager::getChildDeviceIds(unsigned parentId,
                                 unsigned numChildDeviceIpus) const {
  IpuGroup parent = groupOf(parentId);
  std::vector<unsigned> ids;
  for (unsigned id = 0; id < getNumDevices(); ++id) {
    IpuGroup child = groupOf(id);
    if (child.count == numChildDeviceIpus && child.first >= parent.first &&
        child.first + child.count <= parent.first + parent.count) {
      ids.push_back(id);
    }
  }
  return ids;
}

} // namespace poplar
