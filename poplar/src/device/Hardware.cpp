#include <poplar/internal/Hardware.hpp>

#include "Registry.hpp"
#include "System.hpp"

#include <fmt/format.h>

namespace poplar::internal {
namespace {

// Loopback addresses: an address that tools can parse and that is nobody's.
std::string machineAddress(unsigned machine) {
  return fmt::format("127.{}.{}.1", machine / 256 % 256, machine % 256);
}

IpuStatus describeIpu(const TargetData &target, unsigned id) {
  const unsigned machine = id / target.ipusPerMachine;
  const unsigned place = id % target.ipusPerMachine;
  IpuStatus ipu;
  ipu.id = id;
  ipu.machine = machineAddress(machine);
  ipu.ipuNumber = target.ipusPerMachine - 1 - place;
  // A machine has two boards; the second has the lower ids.
  const unsigned board = 2 * place < target.ipusPerMachine ? 2 : 1;
  ipu.serial = fmt::format("SIM0.{:04}.{:07}", board, machine);
  // No PCI domain has such a number.
  ipu.pciId = fmt::format("sim0:{:02x}:00.0", id % 256);
  return ipu;
}

} // namespace

std::vector<IpuGroup> deviceGroups(unsigned ipus) {
  std::vector<IpuGroup> groups;
  for (unsigned count = 1; count <= ipus; count *= 2) {
    for (unsigned first = 0; first + count <= ipus; first += count) {
      groups.push_back({static_cast<unsigned>(groups.size()), first, count});
    }
  }
  return groups;
}

PartitionStatus readPartition() {
  const System system = emulatedSystem();
  const TargetData &target = system.target;
  PartitionStatus partition;
  partition.name = system.partition;
  partition.boardType = system.boardType;
  partition.isPcie = system.boardType == "C2" || system.boardType == "C600";
  partition.arch = target.arch;
  partition.clockHz = target.clockHz;
  if (target.numIPUs == 0) {
    return partition;
  }
  Registry &registry = Registry::of(system);
  for (unsigned id = 0; id < target.numIPUs; ++id) {
    IpuStatus &ipu = partition.ipus.emplace_back(describeIpu(target, id));
    ipu.attachment = registry.attachment(id);
  }
  return partition;
}

} // namespace poplar::internal
