#include "Attributes.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Hardware.hpp>
#include <support/Error.hpp>

#include <chrono>
#include <cmath>
#include <ctime>

namespace poplar::internal {
namespace {

using Attributes = std::map<std::string, std::string>;

// Where firmware and servers would have versions of their own, there is only
// the release that all of this is compatible with.
constexpr const char *release = "3.3.0";

std::string percent(double share) {
  return fmt::format("{:.2f}%", share * 100);
}

// What is the same for all IPUs of a system. Nothing measures temperatures and
// power, and nothing counts errors of links that do not exist.
Attributes systemAttributes(const PartitionStatus &partition) {
  return {
      {"average board temp", "N/A"},
      {"average die temp", "N/A"},
      {"board type", partition.boardType},
      {"board variant", "emulated"},
      {"clock", fmt::format("{}MHz", std::lround(partition.clockHz / 1e6))},
      {"config domain", "0"},
      {"driver version", fmt::format("{}", fmt::join(driverVersion, "."))},
      {"firmware major version", "3"},
      {"firmware minor version", "3"},
      {"firmware patch version", "0"},
      {"firmware version", release},
      {"gateway software version", release},
      {"graph streaming", "true"},
      {"hexoatt total size (bytes)", "34082914304"},
      {"hexopt total size (bytes)", "268435456"},
      {"host link correctable error count", "0"},
      {"icu bootloader version", release},
      {"ipu architecture", partition.arch},
      {"ipu error state", "no errors"},
      {"ipu power", "N/A"},
      {"ipuof partition id", partition.name},
      {"ipuof routing type", "DNC"},
      {"ipuof server version", release},
      {"link correctable error count", "0"},
      {"link correctable error count (session)", "0"},
      {"link speed", "16 GT/s"},
      {"link width", "8"},
      {"number of replicas", "1"},
      {"numa node", "0"},
      {"parity error count threshold", "0"},
      {"parity error threshold interval", "0"},
      {"parity initialised", "true"},
      {"partition sync type", "c2-compatible"},
      {"pcie physical slot", "N/A"},
      {"reconfigurable partition", "true"},
      {"remote buffers supported", "1"},
      {"total board power", "N/A"},
  };
}

void addIpu(const PartitionStatus &partition, const IpuStatus &ipu,
            Attributes &attributes) {
  attributes["target"] = partition.isPcie ? "PCIe" : "Fabric";
  attributes["board ipu index"] = std::to_string(ipu.ipuNumber);
  attributes["board serial number"] = ipu.serial;
  attributes["ipuof host"] = ipu.machine;
  attributes["ipuof routing id"] = std::to_string(ipu.id);
  attributes["pci id"] = ipu.pciId;
  attributes["sysfs file id"] = std::to_string(ipu.id);
}

// The process that holds all IPUs of the group for one device.
const Attachment *holderOf(const PartitionStatus &partition,
                           const IpuGroup &group) {
  const Attachment *holder = nullptr;
  for (unsigned i = 0; i < group.count; ++i) {
    const auto &attachment = partition.ipus[group.first + i].attachment;
    if (!attachment ||
        (holder != nullptr && (attachment->pid != holder->pid ||
                               attachment->deviceId != holder->deviceId))) {
      return nullptr;
    }
    holder = &*attachment;
  }
  return holder;
}

void addHolder(const Attachment *holder, Attributes &attributes) {
  const Attachment none;
  const Attachment &use = holder == nullptr ? none : *holder;
  attributes["hexoatt active size (bytes)"] = std::to_string(use.hostBytes);
  attributes["hexopt active size (bytes)"] = "0";
  attributes["ipu utilisation"] = percent(use.utilisation);
  attributes["ipu utilisation (session)"] = percent(use.sessionUtilisation);
  if (holder != nullptr) {
    const std::time_t since =
        std::chrono::system_clock::to_time_t(holder->since);
    attributes["process start time"] =
        fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(since));
    attributes["user executable"] = holder->executable;
    attributes["user name"] = holder->user;
    attributes["user process id"] = std::to_string(holder->pid);
  }
}

} // namespace

const IpuGroup &groupOf(const std::vector<IpuGroup> &groups,
                        unsigned deviceId) {
  support::requireUser<poplar_error>(
      !groups.empty(),
      "[poplar::DeviceManager] device {} given; the system has no IPUs",
      deviceId);
  support::requireUser<poplar_error>(
      deviceId < groups.size(),
      "[poplar::DeviceManager] device {} given; the system has devices 0 to {}",
      deviceId, groups.size() - 1);
  return groups[deviceId];
}

Attributes deviceAttributes(unsigned deviceId) {
  const PartitionStatus partition = readPartition();
  const auto groups =
      deviceGroups(static_cast<unsigned>(partition.ipus.size()));
  const IpuGroup &group = groupOf(groups, deviceId);
  Attributes attributes = systemAttributes(partition);
  attributes["id"] = std::to_string(deviceId);
  attributes["target"] = "Multi IPU";
  if (group.count == 1) {
    addIpu(partition, partition.ipus[group.first], attributes);
  }
  addHolder(holderOf(partition, group), attributes);
  return attributes;
}

} // namespace poplar::internal
