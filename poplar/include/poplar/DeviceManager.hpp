// Finds the devices of the system: single IPUs first, then the groups of 2, 4,
// 8 ... that they form.
#pragma once

#include <poplar/Device.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/TargetType.hpp>

#include <cstddef>
#include <vector>

namespace poplar {

class DeviceManager {
public:
  static DeviceManager createDeviceManager() { return DeviceManager(); }

  std::size_t getNumDevices() const;
  std::vector<Device> getDevices(const OptionFlags &options = {}) const;
  // Those of this type with exactly this many IPUs; may be none.
  std::vector<Device> getDevices(TargetType type, unsigned requiredNumIPUs,
                                 const OptionFlags &options = {}) const;
  Device getDevice(unsigned deviceManagerId,
                   const OptionFlags &options = {}) const;
  // Ids of the devices of that many IPUs that lie inside the parent.
  std::vector<unsigned>
  getChildDeviceIds(unsigned parentId, unsigned numChildDeviceIpus = 1) const;
};

} // namespace poplar
