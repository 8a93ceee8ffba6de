#include "Device.hpp"

#include "Error.hpp"

#include <fmt/format.h>
#include <poplar/DeviceManager.hpp>
#include <support/Error.hpp>

#include <bit>
#include <map>

namespace poptorch {
namespace {

using support::requireUser;

constexpr std::int64_t largestIpuCount = 64;
constexpr int connectNever = 2;

std::map<std::string, std::string> modelOptions(const DeviceRequest &request,
                                                std::int64_t ipus) {
  return {{"numIPUs", std::to_string(ipus)},
          {"tilesPerIPU", std::to_string(request.ipuModelTiles)},
          {"ipuVersion", request.ipuModelVersion}};
}

// Hardware comes in powers of two; nothing is reserved to compile only.
std::int64_t reservedIpus(const DeviceRequest &request) {
  std::int64_t wanted = request.modelIpus * request.replicas;
  requireUser<Error>(wanted <= largestIpuCount,
                     "Too many IPUs requested ({}): a process can have {} at "
                     "most",
                     wanted, largestIpuCount);
  auto rounded = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  if (request.connectionType == connectNever && !request.roundIpuCount) {
    return wanted;
  }
  requireUser<Error>(
      rounded == wanted || request.roundIpuCount,
      "The model specifies the use of {} IPUs, however PopTorch must reserve a "
      "minimum of {} in order to allow the model to run, because PopTorch must "
      "reserve a power of 2. Enable poptorch.Options().autoRoundNumIPUs(True) "
      "to reserve the IPUs that are left over too.",
      wanted, rounded);
  return rounded;
}

std::shared_ptr<popart::DeviceInfo> acquireById(popart::DeviceManager &manager,
                                                const DeviceRequest &request) {
  auto device = manager.acquireDeviceById(
      *request.ipuId, static_cast<popart::SyncPattern>(request.syncPattern));
  requireUser<Error>(device != nullptr, "Failed to acquire device Id {}",
                     *request.ipuId);
  std::int64_t used = request.modelIpus * request.replicas;
  requireUser<Error>(device->getNumIpus() >= used,
                     "Device Id {} has {} IPUs. Expected at least replication "
                     "factor * used IPUs = {} * {}",
                     *request.ipuId, device->getNumIpus(), request.replicas,
                     request.modelIpus);
  return device;
}

// Why no device could be had. Python waits for one unless there is none at all
// (_compilation.py).
std::string describeFailure(std::int64_t ipus) {
  std::string message = fmt::format("Failed to acquire {} IPU(s)", ipus);
  if (poplar::DeviceManager().getNumDevices() == 0) {
    message += "\nNo IPU detected in the system. `gc-monitor` shows the IPUs "
               "that there are.";
  } else if (hardwareArchitecture(static_cast<unsigned>(ipus)).empty()) {
    message += fmt::format("\nNo device found on the system with {} IPUs: the "
                           "configuration needs changing",
                           ipus);
  }
  return message;
}

} // namespace

std::shared_ptr<popart::DeviceInfo>
acquireDevice(const DeviceRequest &request) {
  auto &manager = popart::DeviceManager::createDeviceManager();
  bool isOffline = request.connectionType == connectNever;
  if (request.useIpuModel) {
    requireUser<Error>(!isOffline,
                       "poptorch.ConnectionType.Never is not supported for the "
                       "IPU model");
    auto device = manager.createIpuModelDevice(
        modelOptions(request, request.modelIpus * request.replicas));
    device->attach();
    return device;
  }
  std::int64_t ipus = reservedIpus(request);
  if (isOffline) {
    requireUser<Error>(!request.ipuId, "Offline compilation targeting a "
                                       "specific id not supported");
    return manager.createOfflineIPUDevice(modelOptions(request, ipus));
  }
  if (request.ipuId) {
    return acquireById(manager, request);
  }
  auto device = manager.tryAcquireAvailableDevice(
      static_cast<int>(ipus), 0,
      static_cast<popart::SyncPattern>(request.syncPattern));
  if (device == nullptr) {
    throw Error(describeFailure(ipus));
  }
  return device;
}

std::string hardwareArchitecture(unsigned ipus) {
  const auto devices =
      poplar::DeviceManager().getDevices(poplar::TargetType::IPU, ipus);
  return devices.empty()
             ? ""
             : std::string(devices[0].getTarget().getTargetArchString());
}

} // namespace poptorch
