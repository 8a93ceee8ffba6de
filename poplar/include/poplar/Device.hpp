// A device that programs run on. Hardware must be attached before use; two
// devices that share an IPU cannot be attached at the same time.
#pragma once

#include <poplar/Target.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace poplar {

class DeviceImpl;

class Device {
public:
  Device();
  ~Device();
  Device(Device &&) noexcept;
  Device &operator=(Device &&) noexcept;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  static Device createCPUDevice(unsigned numIPUs = 1);
  // Runs what is built for `target`, without hardware to attach.
  static Device createSimulatorDevice(const Target &target,
                                      const OptionFlags &options = {});
  // The same device, seen with fewer tiles on each IPU.
  Device createVirtualDevice(unsigned tilesPerIPU);

  unsigned getId() const;
  const Target &getTarget() const;
  // True when this process now holds the device.
  bool attach() const;
  void detach() const;
  bool isAttached() const;

  // Hardware only, while attached.
  void getDriverVersion(unsigned &major, unsigned &minor,
                        unsigned &point) const;
  std::vector<int> getDriverIDs() const;
  bool hasGateway() const;
  void reset() const;
  // The NUMA node of each IPU, and the set of them.
  std::vector<int> getNumaTopology() const;
  std::set<int> getNumaNodesUsedForIPUs() const;

  // What the system's tools show, by their names; all values are text.
  std::map<std::string, std::string> getAttributes() const;
  bool supportsRemoteBuffers() const;

private:
  friend struct internal::Access;
  explicit Device(std::unique_ptr<DeviceImpl> impl);

  std::unique_ptr<DeviceImpl> impl_;
};

} // namespace poplar
