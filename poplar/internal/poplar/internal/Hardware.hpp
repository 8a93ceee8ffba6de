// The emulated hardware as every process of the machine sees it: which IPUs
// there are, what groups they form and who holds them. The command line tools
// read it; only Device::attach() changes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace poplar::internal {

// IPUs [first, first + count) of the system: what a device id stands for.
struct IpuGroup {
  unsigned id = 0;
  unsigned first = 0;
  unsigned count = 1;
};

// The process that holds an IPU.
struct Attachment {
  int pid = 0;
  bool isVisible = true; // false: of another process namespace
  std::string user;
  std::string executable;  // base name
  std::string commandLine; // arguments joined by spaces
  std::string host;
  unsigned deviceId = 0; // the group that was attached
  std::chrono::system_clock::time_point since;
  // Time inside device programs, waits for the host excluded, of the last
  // second or so and since attaching: 0 to 1.
  double utilisation = 0;
  double sessionUtilisation = 0;
  std::uint64_t hostBytes = 0; // of stream and remote buffers
};

struct IpuStatus {
  unsigned id = 0;
  std::string machine;    // IPv4 address of its IPU-Machine
  unsigned ipuNumber = 0; // within the machine: 3 to 0
  std::string serial;
  std::string pciId;
  std::optional<Attachment> attachment; // none: free
};

struct PartitionStatus {
  std::string name;
  std::string boardType;
  bool isPcie = false; // boards in slots of the host: no IPU-Machines
  std::string arch;
  double clockHz = 0;
  std::vector<IpuStatus> ipus;
};

// What is there now. Takes no lock and attaches nothing; a system without IPUs
// has none. Throws invalid_machine_model for a bad ASPEN_SYSTEM.
PartitionStatus readPartition();

// By device id: singles, then pairs, quads and so on.
std::vector<IpuGroup> deviceGroups(unsigned ipus);

// The documented attributes of a device, all values as text; those of a user
// are there only while a process holds it. Throws poplar_error for an id that
// the system does not have.
std::map<std::string, std::string> deviceAttributes(unsigned deviceId);

} // namespace poplar::internal
