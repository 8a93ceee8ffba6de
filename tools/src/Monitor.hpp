// What gc-monitor prints: the IPUs of the partition and the processes that
// hold them, as tables or as JSON.
#pragma once

#include <poplar/internal/Hardware.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace tools {

// What one look at the hardware found.
struct Snapshot {
  poplar::internal::PartitionStatus partition;
  std::chrono::system_clock::time_point time;
  // The same for all IPU-Machines.
  std::string machineSoftware;
  std::string serverVersion;
  std::string firmware;
  std::string routing;
};

// One row for each IPU, IPU-Machines apart.
std::string deviceTable(const Snapshot &snapshot);

// One row for each IPU that a process holds, in a table `width` characters
// wide where that is enough for its columns; IPUs of processes that cannot be
// seen from here are in a table of their own.
std::string processTables(const Snapshot &snapshot, std::size_t width);

// {"cards": [{"ipus": [...], ...}, ...]}, a card for each IPU-Machine. All
// values are text; a free IPU has no "PID".
std::string monitorJson(const Snapshot &snapshot);

} // namespace tools
