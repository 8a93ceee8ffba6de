#include "DeviceListing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tools {

using poplar::internal::IpuGroup;
using poplar::internal::IpuStatus;
using poplar::internal::PartitionStatus;

namespace {

// "[value]", with spaces in front for a value of up to `width` characters.
std::string bracketed(const std::string &value, std::size_t width) {
  return fmt::format("{:>{}}", '[' + value + ']', width + 2);
}

std::size_t digits(std::size_t number) {
  return std::to_string(number).size();
}

class Listing {
public:
  explicit Listing(const PartitionStatus &partition)
      : partition_(partition),
        groups_(poplar::internal::deviceGroups(
            static_cast<unsigned>(partition.ipus.size()))) {
    for (const IpuGroup &group : groups_) {
      idWidth_ = std::max(idWidth_, digits(group.id));
    }
    for (const IpuStatus &ipu : partition.ipus) {
      hostWidth_ = std::max(hostWidth_, ipu.machine.size());
    }
  }

  std::string text(bool listsGroups) const {
    std::string text = fmt::format("Graphcore device listing:\n"
                                   "Partition: {} [active]\n",
                                   partition_.name);
    for (const IpuGroup &group : groups_) {
      if (group.count == 1) {
        text += fmt::format("-+- Id: {}, target: [{}], {}\n", id(group.id),
                            partition_.isPcie ? "PCIe" : "Fabric",
                            place(partition_.ipus[group.first]));
      } else if (listsGroups) {
        text += groupText(group);
      }
    }
    return text;
  }

private:
  std::string id(unsigned deviceId) const {
    return bracketed(std::to_string(deviceId), idWidth_);
  }

  std::string place(const IpuStatus &ipu) const {
    if (partition_.isPcie) {
      return fmt::format("PCI Domain: [{}]", ipu.pciId);
    }
    return fmt::format("IPU-M host: {}, IPU#: [{}]",
                       bracketed(ipu.machine, hostWidth_), ipu.ipuNumber);
  }

  std::string groupText(const IpuGroup &group) const {
    std::string text =
        fmt::format("-+- Id: {}, target: [Multi IPU]\n", id(group.id));
    for (unsigned i = 0; i < group.count; ++i) {
      const IpuStatus &ipu = partition_.ipus[group.first + i];
      text += fmt::format(" |--- {}: {}, DNC Id: {}, {}\n",
                          partition_.isPcie ? "PCIe Id" : "Id", id(ipu.id),
                          bracketed(std::to_string(i), digits(group.count - 1)),
                          place(ipu));
    }
    return text;
  }

  const PartitionStatus &partition_;
  std::vector<IpuGroup> groups_;
  std::size_t idWidth_ = 0;
  std::size_t hostWidth_ = 0;
};

} // namespace

std::string deviceListing(const PartitionStatus &partition, bool listsGroups) {
  return Listing(partition).text(listsGroups);
}

std::string deviceInfo(const std::map<std::string, std::string> &attributes) {
  std::string first = "Device Info:\n";
  std::string rest;
  for (const auto &[key, value] : attributes) {
    (key == "id" || key == "target" ? first : rest) +=
        fmt::format("  {}: {}\n", key, value);
  }
  return first + rest;
}

std::string chipIds(const PartitionStatus &partition, const IpuGroup &group) {
  std::string text;
  for (unsigned i = group.first; i < group.first + group.count; ++i) {
    const IpuStatus &ipu = partition.ipus[i];
    // A serial number is that of a board with two chips.
    text += fmt::format("{}: {}-{}\n", ipu.id, ipu.serial, ipu.ipuNumber);
  }
  return text;
}

std::string tileOverview(unsigned tilesPerIpu) {
  constexpr unsigned columns = 16;
  constexpr unsigned tilesPerSupertile = 4;
  // What a tile shows that no program has been loaded on. A program's tiles
  // live in the process that runs it, so that no other state is ever seen.
  constexpr char idle = ':';
  std::string text = fmt::format("{:3}", "");
  for (unsigned column = 0; column < columns; ++column) {
    text += fmt::format("{:>5}", column);
  }
  text += '\n';
  for (unsigned row = 0; row * columns * tilesPerSupertile < tilesPerIpu;
       ++row) {
    text += fmt::format("{:>3}", row);
    for (unsigned column = 0; column < columns; ++column) {
      const unsigned first = (row * columns + column) * tilesPerSupertile;
      const unsigned tiles = std::min(
          tilesPerSupertile, tilesPerIpu - std::min(first, tilesPerIpu));
      text += tiles == 0 ? "" : fmt::format("{:>5}", std::string(tiles, idle));
    }
    text += '\n';
  }
  return text;
}

} // namespace tools
