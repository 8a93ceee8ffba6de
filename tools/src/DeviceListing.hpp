// What gc-info prints: the list of devices, the attributes of one, and the
// grid of its tiles.
#pragma once

#include <poplar/internal/Hardware.hpp>

#include <map>
#include <string>

namespace tools {

// Singles and, if asked for, the groups they form, with aligned ids and hosts.
std::string deviceListing(const poplar::internal::PartitionStatus &partition,
                          bool listsGroups);

// "id" and "target" first, then by name.
std::string deviceInfo(const std::map<std::string, std::string> &attributes);

// One line for each IPU of the group: its id, then what tells its chip from
// others.
std::string chipIds(const poplar::internal::PartitionStatus &partition,
                    const poplar::internal::IpuGroup &group);

// The state of all tiles of a free IPU, by supertiles of four: a column for
// each of the 16 along the exchange, a row for each step away from it.
std::string tileOverview(unsigned tilesPerIpu);

} // namespace tools
