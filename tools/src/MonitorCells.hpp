// The values that gc-monitor shows in both of its forms.
#pragma once

#include "Monitor.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace tools {

// There are no sensors: an emulated machine has no temperature and no power.
inline constexpr const char *notMeasured = "N/A";

std::string clockText(const poplar::internal::PartitionStatus &partition);

// "13s", "1m3s", "1h2m3s"; from ten hours on without the seconds, "10h2m", so
// that it fits its column.
std::string durationText(std::chrono::seconds duration);
std::string heldFor(const Snapshot &snapshot,
                    const poplar::internal::Attachment &attachment);

using Ipus = std::span<const poplar::internal::IpuStatus>;

// Runs of IPUs that share an IPU-Machine.
std::vector<Ipus> byMachine(Ipus ipus);

} // namespace tools
