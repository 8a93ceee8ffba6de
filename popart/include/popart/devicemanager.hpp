// Finding devices: the emulated IPU hardware, and models of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace poplar {
class Device;
class Target;
} // namespace poplar

namespace popart {

enum class DeviceType { IpuModel = 0, Cpu, Ipu, OfflineIpu, Sim };
enum class DeviceConnectionType { Always = 0, OnDemand, Never };
enum class SyncPattern { Full = 0, SinglePipeline, ReplicaAndLadder };
enum class DeviceSelectionCriterion { First = 0, Random };

// A device that a session can compile for and, once attached, run on.
class DeviceInfo {
public:
  DeviceInfo(DeviceType type, DeviceConnectionType connectionType,
             std::unique_ptr<poplar::Device> device);
  // A device that is not there.
  DeviceInfo(DeviceType type, std::unique_ptr<poplar::Target> target);
  ~DeviceInfo();

  bool attach();
  // For as long as the manager's setOnDemandAttachTimeout says.
  bool tryAttachUntilTimeout();
  void detach();
  bool isAttached() const { return attached_; }

  DeviceType getType() const { return type_; }
  DeviceConnectionType getConnectionType() const { return connectionType_; }
  int getId() const;
  int getNumIpus() const;
  int getTilesPerIPU() const;
  int getNumWorkerContexts() const;
  std::string getIpuVersion() const;
  std::string toString() const;

  poplar::Device &getDevice() { return *device_; }
  const poplar::Device &getDevice() const { return *device_; }
  const poplar::Target &getTarget() const { return *target_; }

private:
  DeviceType type_;
  DeviceConnectionType connectionType_;
  std::unique_ptr<poplar::Device> device_;
  std::unique_ptr<poplar::Target> target_; // what is compiled for
  bool attached_ = false;
};

class DeviceManager {
public:
  static DeviceManager &createDeviceManager();

  // Attached, unless it is to be connected on demand, which a session does;
  // throws popart::error when there is none.
  std::shared_ptr<DeviceInfo> acquireAvailableDevice(
      int numIpus = 1, int tilesPerIpu = 0,
      SyncPattern pattern = SyncPattern::Full,
      DeviceConnectionType connectionType = DeviceConnectionType::Always,
      DeviceSelectionCriterion criterion = DeviceSelectionCriterion::First);
  // The same, but null when there is none.
  std::shared_ptr<DeviceInfo> tryAcquireAvailableDevice(
      int numIpus = 1, int tilesPerIpu = 0,
      SyncPattern pattern = SyncPattern::Full,
      DeviceConnectionType connectionType = DeviceConnectionType::Always,
      DeviceSelectionCriterion criterion = DeviceSelectionCriterion::First);
  std::shared_ptr<DeviceInfo> acquireDeviceById(
      int id, SyncPattern pattern = SyncPattern::Full,
      DeviceConnectionType connectionType = DeviceConnectionType::Always);

  // The same, but null when it is in use or not there.
  std::shared_ptr<DeviceInfo> tryAcquireDeviceById(
      int id, SyncPattern pattern = SyncPattern::Full,
      DeviceConnectionType connectionType = DeviceConnectionType::Always);
  // Devices of that many IPUs, in use or not; none is attached.
  std::vector<std::shared_ptr<DeviceInfo>> enumerateDevices(
      SyncPattern pattern = SyncPattern::Full, int numIpus = 1,
      DeviceType deviceType = DeviceType::Ipu,
      DeviceConnectionType connectionType = DeviceConnectionType::Always,
      int tilesPerIpu = 0);

  // Keys: numIPUs (1), tilesPerIPU (4), compileIPUCode, ipuVersion.
  std::shared_ptr<DeviceInfo>
  createIpuModelDevice(const std::map<std::string, std::string> &options);
  // Compiles, cannot run. Keys: numIPUs, tilesPerIPU, ipuVersion.
  std::shared_ptr<DeviceInfo>
  createOfflineIPUDevice(const std::map<std::string, std::string> &options);
  // Like a device that is there, or a system by its name (docs/systems.md).
  std::shared_ptr<DeviceInfo>
  createOfflineIpuFromDeviceInfo(const DeviceInfo &deviceInfo);
  std::shared_ptr<DeviceInfo>
  createOfflineIpuFromSystemString(const std::string &system, unsigned numIpus);
  // A model in the place of the simulator. Keys as for createIpuModelDevice.
  std::shared_ptr<DeviceInfo>
  createSimDevice(const std::map<std::string, std::string> &options);
  std::shared_ptr<DeviceInfo> createCpuDevice();

  // How long a device that is connected on demand is waited for.
  void setOnDemandAttachTimeout(unsigned seconds) { timeout_ = seconds; }
  unsigned getOnDemandAttachTimeout() const { return timeout_; }

private:
  unsigned timeout_ = 0;
};

} // namespace popart
