// Finding the device that a model needs.
#pragma once

#include <popart/devicemanager.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace poptorch {

struct DeviceRequest {
  std::int64_t modelIpus = 1;
  std::int64_t replicas = 1;
  int connectionType = 0; // poptorch.ConnectionType: Always, OnDemand, Never
  int syncPattern = 0;
  bool roundIpuCount = false;
  bool useIpuModel = false;
  std::string ipuModelVersion;
  int ipuModelTiles = 0;
  std::optional<int> ipuId;
};

// Attached, unless the connection type says later or never. Throws
// poptorch::Error with the documented messages.
std::shared_ptr<popart::DeviceInfo> acquireDevice(const DeviceRequest &request);

// The architecture of devices with that many IPUs, free or not; empty when the
// system has none.
std::string hardwareArchitecture(unsigned ipus);

} // namespace poptorch
