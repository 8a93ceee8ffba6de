// Partitions that no machine has, with the values of documented samples, so
// that expected text can be typed from those.
#pragma once

#include "Monitor.hpp"

#include <chrono>
#include <string>

namespace tools::testing {

inline const std::chrono::system_clock::time_point now =
    std::chrono::system_clock::time_point(std::chrono::hours(480000));

// IPU-Machines of four IPUs, which are numbered from 3 to 0.
inline poplar::internal::PartitionStatus
partitionOf(unsigned ipus, const std::string &name = "p1") {
  poplar::internal::PartitionStatus partition;
  partition.name = name;
  partition.boardType = "M2000";
  partition.arch = "ipu2";
  partition.clockHz = 1.33e9;
  for (unsigned id = 0; id < ipus; ++id) {
    poplar::internal::IpuStatus ipu;
    ipu.id = id;
    ipu.machine = "10.1.5." + std::to_string(7 + id / 4);
    ipu.ipuNumber = 3 - id % 4;
    ipu.serial = id % 4 < 2 ? "0069.0002.8210521" : "0069.0001.8210521";
    partition.ipus.push_back(ipu);
  }
  return partition;
}

inline Snapshot snapshotOf(poplar::internal::PartitionStatus partition) {
  Snapshot snapshot;
  snapshot.partition = std::move(partition);
  snapshot.time = now;
  snapshot.serverVersion = "1.9.0";
  snapshot.firmware = "2.4.4";
  snapshot.routing = "DNC";
  return snapshot;
}

inline poplar::internal::Attachment attachment(int pid, const std::string &user,
                                               const std::string &executable,
                                               std::chrono::seconds age) {
  poplar::internal::Attachment attachment;
  attachment.pid = pid;
  attachment.user = user;
  attachment.executable = executable;
  attachment.since = now - age;
  return attachment;
}

} // namespace tools::testing
