#include "MonitorCells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tools {

using poplar::internal::IpuStatus;

std::string clockText(const poplar::internal::PartitionStatus &partition) {
  return fmt::format("{:.0f}MHz", partition.clockHz / 1e6);
}

std::string durationText(std::chrono::seconds duration) {
  const std::chrono::hh_mm_ss time(
      std::max(duration, std::chrono::seconds::zero()));
  const auto hours = time.hours().count();
  const auto minutes = time.minutes().count();
  const auto seconds = time.seconds().count();
  if (hours >= 10) {
    return fmt::format("{}h{}m", hours, minutes);
  }
  if (hours > 0) {
    return fmt::format("{}h{}m{}s", hours, minutes, seconds);
  }
  if (minutes > 0) {
    return fmt::format("{}m{}s", minutes, seconds);
  }
  return fmt::format("{}s", seconds);
}

std::string heldFor(const Snapshot &snapshot,
                    const poplar::internal::Attachment &attachment) {
  return durationText(std::chrono::floor<std::chrono::seconds>(
      snapshot.time - attachment.since));
}

std::vector<Ipus> byMachine(Ipus ipus) {
  std::vector<Ipus> machines;
  while (!ipus.empty()) {
    const auto end =
        std::find_if(ipus.begin(), ipus.end(), [&](const IpuStatus &ipu) {
          return ipu.machine != ipus.front().machine;
        });
    const auto count = static_cast<std::size_t>(end - ipus.begin());
    machines.push_back(ipus.first(count));
    ipus = ipus.subspan(count);
  }
  return machines;
}

} // namespace tools
