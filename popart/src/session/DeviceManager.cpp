// Devices from Poplar's device manager and its IPU Model.
#include <popart/devicemanager.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <poplar/Device.hpp>
#include <poplar/DeviceManager.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Target.hpp>

#include <bit>
#include <chrono>
#include <thread>
#include <utility>

namespace popart {
namespace {

const char *nameOf(DeviceType type) {
  switch (type) {
  case DeviceType::IpuModel:
    return "ipu-model";
  case DeviceType::Cpu:
    return "cpu";
  case DeviceType::Ipu:
    return "ipu";
  case DeviceType::OfflineIpu:
    return "offline-ipu";
  case DeviceType::Sim:
    return "sim";
  }
  return "";
}

std::shared_ptr<DeviceInfo> share(DeviceType type,
                                  DeviceConnectionType connectionType,
                                  poplar::Device device) {
  return std::make_shared<DeviceInfo>(
      type, connectionType,
      std::make_unique<poplar::Device>(std::move(device)));
}

std::string versionOf(const std::map<std::string, std::string> &options) {
  auto found = options.find("ipuVersion");
  return found == options.end() ? "ipu2" : found->second;
}

// The machine that the options of a device describe.
poplar::IPUModel
describedModel(const char *function,
               const std::map<std::string, std::string> &options,
               unsigned defaultTiles) {
  auto value = [&](const char *key, const std::string &fallback) {
    auto found = options.find(key);
    return found == options.end() ? fallback : found->second;
  };
  for (const auto &[key, text] : options) {
    support::requireUser<error>(
        key == "numIPUs" || key == "tilesPerIPU" || key == "compileIPUCode" ||
            key == "ipuVersion" || key == "syncPattern" || key == "gatewayMode",
        "[{}] there is no option '{}'; the options are numIPUs, tilesPerIPU, "
        "compileIPUCode, ipuVersion, syncPattern and gatewayMode",
        function, key);
  }
  poplar::IPUModel model(versionOf(options).c_str());
  try {
    model.numIPUs = static_cast<unsigned>(std::stoul(value("numIPUs", "1")));
    unsigned tiles = defaultTiles == 0 ? model.tilesPerIPU : defaultTiles;
    model.tilesPerIPU = static_cast<unsigned>(
        std::stoul(value("tilesPerIPU", std::to_string(tiles))));
  } catch (const std::logic_error &) {
    throw error(
        fmt::format("[{}] numIPUs '{}' and tilesPerIPU '{}' must be numbers",
                    function, value("numIPUs", "1"), value("tilesPerIPU", "")));
  }
  return model;
}

} // namespace

DeviceInfo::DeviceInfo(DeviceType type, DeviceConnectionType connectionType,
                       std::unique_ptr<poplar::Device> device)
    : type_(type), connectionType_(connectionType), device_(std::move(device)),
      target_(std::make_unique<poplar::Target>(device_->getTarget())) {}

DeviceInfo::DeviceInfo(DeviceType type, std::unique_ptr<poplar::Target> target)
    : type_(type), connectionType_(DeviceConnectionType::Never),
      device_(std::make_unique<poplar::Device>()), target_(std::move(target)) {}

DeviceInfo::~DeviceInfo() {
  detach();
}

bool DeviceInfo::attach() {
  support::requireUser<error>(type_ != DeviceType::OfflineIpu,
                              "An offline device cannot be attached: it is "
                              "only compiled for");
  attached_ = attached_ || device_->attach();
  return attached_;
}

bool DeviceInfo::tryAttachUntilTimeout() {
  using Clock = std::chrono::steady_clock;
  auto end =
      Clock::now() +
      std::chrono::seconds(
          DeviceManager::createDeviceManager().getOnDemandAttachTimeout());
  while (!attach()) {
    if (Clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

void DeviceInfo::detach() {
  if (attached_) {
    device_->detach();
    attached_ = false;
  }
}

int DeviceInfo::getId() const {
  return static_cast<int>(device_->getId());
}

int DeviceInfo::getNumIpus() const {
  return static_cast<int>(target_->getNumIPUs());
}

int DeviceInfo::getTilesPerIPU() const {
  return static_cast<int>(target_->getTilesPerIPU());
}

int DeviceInfo::getNumWorkerContexts() const {
  return static_cast<int>(target_->getNumWorkerContexts());
}

std::string DeviceInfo::getIpuVersion() const {
  return std::string(target_->getTargetArchString());
}

std::string DeviceInfo::toString() const {
  return fmt::format("Device Type:{} Connection Type:{} IPU count:{} Tiles "
                     "per IPU:{}",
                     nameOf(type_), static_cast<int>(connectionType_),
                     getNumIpus(), getTilesPerIPU());
}

DeviceManager &DeviceManager::createDeviceManager() {
  static DeviceManager manager;
  return manager;
}

std::shared_ptr<DeviceInfo> DeviceManager::tryAcquireAvailableDevice(
    int numIpus, int tilesPerIpu, SyncPattern,
    DeviceConnectionType connectionType, DeviceSelectionCriterion) {
  support::requireUser<error>(
      numIpus > 0 && std::has_single_bit(static_cast<unsigned>(numIpus)),
      "You have attempted to acquire {} IPUs. The number of IPUs requested "
      "must be a power of two",
      numIpus);
  support::requireUser<error>(
      connectionType != DeviceConnectionType::Never,
      "A device that is never connected cannot be acquired; use "
      "createOfflineIPUDevice to compile without one");
  auto devices = poplar::DeviceManager::createDeviceManager().getDevices(
      poplar::TargetType::IPU, static_cast<unsigned>(numIpus));
  std::shared_ptr<DeviceInfo> waited; // for, on demand, if none is free
  for (poplar::Device &device : devices) {
    auto tiles = static_cast<unsigned>(tilesPerIpu);
    bool isResized = tiles != 0 && tiles != device.getTarget().getTilesPerIPU();
    auto info = share(DeviceType::Ipu, connectionType,
                      isResized ? device.createVirtualDevice(tiles)
                                : std::move(device));
    bool isFree = info->attach();
    if (connectionType == DeviceConnectionType::OnDemand) {
      info->detach();
      waited = waited ? waited : info;
    }
    if (isFree) {
      return info;
    }
  }
  return waited;
}

std::shared_ptr<DeviceInfo> DeviceManager::acquireAvailableDevice(
    int numIpus, int tilesPerIpu, SyncPattern pattern,
    DeviceConnectionType connectionType, DeviceSelectionCriterion criterion) {
  auto device = tryAcquireAvailableDevice(numIpus, tilesPerIpu, pattern,
                                          connectionType, criterion);
  support::requireUser<error>(
      device != nullptr,
      "Failed to acquire device with {} IPUs. Ensure that there are sufficient "
      "IPUs available. If you have enabled the Poplar SDK you can check device "
      "availability with the `gc-monitor` command-line utility.",
      numIpus);
  return device;
}

std::shared_ptr<DeviceInfo>
DeviceManager::tryAcquireDeviceById(int id, SyncPattern,
                                    DeviceConnectionType connectionType) {
  auto manager = poplar::DeviceManager::createDeviceManager();
  if (id < 0 || static_cast<std::size_t>(id) >= manager.getNumDevices()) {
    return nullptr;
  }
  auto device = share(DeviceType::Ipu, connectionType,
                      manager.getDevice(static_cast<unsigned>(id)));
  return connectionType == DeviceConnectionType::OnDemand || device->attach()
             ? device
             : nullptr;
}

std::shared_ptr<DeviceInfo>
DeviceManager::acquireDeviceById(int id, SyncPattern pattern,
                                 DeviceConnectionType connectionType) {
  auto device = tryAcquireDeviceById(id, pattern, connectionType);
  support::requireUser<error>(
      device != nullptr,
      "Failed to acquire device {}: it is in use, or there is no such device",
      id);
  return device;
}

std::vector<std::shared_ptr<DeviceInfo>>
DeviceManager::enumerateDevices(SyncPattern, int numIpus, DeviceType deviceType,
                                DeviceConnectionType connectionType,
                                int tilesPerIpu) {
  std::vector<std::shared_ptr<DeviceInfo>> found;
  if (deviceType == DeviceType::Cpu) {
    found.push_back(createCpuDevice());
  }
  if (deviceType != DeviceType::Ipu) {
    return found;
  }
  for (poplar::Device &device :
       poplar::DeviceManager::createDeviceManager().getDevices(
           poplar::TargetType::IPU, static_cast<unsigned>(numIpus))) {
    auto tiles = static_cast<int>(device.getTarget().getTilesPerIPU());
    if (tilesPerIpu == 0 || tilesPerIpu == tiles) {
      found.push_back(
          share(DeviceType::Ipu, connectionType, std::move(device)));
    }
  }
  return found;
}

std::shared_ptr<DeviceInfo> DeviceManager::createIpuModelDevice(
    const std::map<std::string, std::string> &options) {
  auto device =
      share(DeviceType::IpuModel, DeviceConnectionType::Always,
            describedModel("createIpuModelDevice", options, 4).createDevice());
  device->attach();
  return device;
}

std::shared_ptr<DeviceInfo> DeviceManager::createOfflineIPUDevice(
    const std::map<std::string, std::string> &options) {
  const auto model = describedModel("createOfflineIPUDevice", options, 0);
  return std::make_shared<DeviceInfo>(
      DeviceType::OfflineIpu,
      std::make_unique<poplar::Target>(poplar::Target::createIPUTarget(
          model.numIPUs, model.tilesPerIPU, versionOf(options))));
}

std::shared_ptr<DeviceInfo>
DeviceManager::createOfflineIpuFromDeviceInfo(const DeviceInfo &deviceInfo) {
  return createOfflineIPUDevice(
      {{"numIPUs", std::to_string(deviceInfo.getNumIpus())},
       {"tilesPerIPU", std::to_string(deviceInfo.getTilesPerIPU())},
       {"ipuVersion", deviceInfo.getIpuVersion()}});
}

std::shared_ptr<DeviceInfo>
DeviceManager::createOfflineIpuFromSystemString(const std::string &system,
                                                unsigned numIpus) {
  return std::make_shared<DeviceInfo>(
      DeviceType::OfflineIpu,
      std::make_unique<poplar::Target>(
          poplar::Target::createIPUTarget(numIpus, system)));
}

std::shared_ptr<DeviceInfo> DeviceManager::createSimDevice(
    const std::map<std::string, std::string> &options) {
  auto device =
      share(DeviceType::Sim, DeviceConnectionType::Always,
            describedModel("createSimDevice", options, 4).createDevice());
  device->attach();
  return device;
}

std::shared_ptr<DeviceInfo> DeviceManager::createCpuDevice() {
  auto device = share(DeviceType::Cpu, DeviceConnectionType::Always,
                      poplar::Device::createCPUDevice());
  device->attach();
  return device;
}

} // namespace popart
