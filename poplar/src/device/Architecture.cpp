#include "Architecture.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <array>

namespace poplar::internal {
namespace {

struct SystemRow {
  std::string_view name;
  std::string_view arch;
  unsigned ipus;
  double clockHz;
};

constexpr double mk2Clock = 1.33e9;
constexpr double bowClock = 1.85e9;

constexpr std::array<SystemRow, 14> systems = {{
    {"c2", "ipu1", 2, 1.6e9},
    {"m2000", "ipu2", 4, mk2Clock},
    {"pod4", "ipu2", 4, mk2Clock},
    {"pod16", "ipu2", 16, mk2Clock},
    {"pod64", "ipu2", 64, mk2Clock},
    {"pod128", "ipu2", 128, mk2Clock},
    {"pod256", "ipu2", 256, mk2Clock},
    {"bow-2000", "ipu2", 4, bowClock},
    {"bow-pod4", "ipu2", 4, bowClock},
    {"bow-pod16", "ipu2", 16, bowClock},
    {"bow-pod64", "ipu2", 64, bowClock},
    {"bow-pod128", "ipu2", 128, bowClock},
    {"bow-pod256", "ipu2", 256, bowClock},
    // The name that PopART asks for to build for machines that it has not got.
    {"_VIRTUAL_GRAPH_TEST_16", "ipu2", 16, mk2Clock},
}};

std::string systemNames() {
  std::string names;
  for (const SystemRow &system : systems) {
    names += names.empty() ? "" : ", ";
    names += system.name;
  }
  return names;
}

// Memory elements of 16 KiB, then interleaved pairs of them.
void setMemoryElements(TargetData &data, unsigned plain, unsigned pairs) {
  constexpr std::uint64_t elementBytes = 16384;
  data.memoryElementOffsets.clear();
  for (unsigned i = 0; i < plain; ++i) {
    data.memoryElementOffsets.push_back(i * elementBytes);
  }
  for (unsigned i = 0; i < pairs; ++i) {
    data.memoryElementOffsets.push_back((plain + 2 * i) * elementBytes);
  }
  data.interleavedElementIndex = plain;
}

// A row of one option: the words it takes and what each of them sets.
template <typename Value, std::size_t size>
Value parseWord(const std::string &name, std::string value,
                const std::array<std::pair<const char *, Value>, size> &words) {
  // Programs and tools spell them with and without a capital letter.
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto isSame = [&](std::string_view word) {
    return std::equal(word.begin(), word.end(), value.begin(), value.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
  };
  std::string allowed;
  for (const auto &[word, meaning] : words) {
    if (isSame(word)) {
      return meaning;
    }
    allowed += allowed.empty() ? word : std::string(", ") + word;
  }
  throw invalid_option(fmt::format("[poplar::Target] option '{}' has the "
                                   "invalid value '{}'; allowed: {}",
                                   name, value, allowed));
}

unsigned parseIpus(const std::string &name, const std::string &value) {
  const bool isNumber = !value.empty() && value.size() <= 6 &&
                        std::all_of(value.begin(), value.end(), [](char c) {
                          return c >= '0' && c <= '9';
                        });
  const unsigned long ipus = isNumber ? std::stoul(value) : 0;
  support::requireUser<invalid_option>(
      ipus > 0,
      "[poplar::Target] option '{}' has the invalid value '{}'; allowed: a "
      "number of IPUs from 1 to 999999",
      name, value);
  return static_cast<unsigned>(ipus);
}

} // namespace

TargetData architectureData(std::string_view name) {
  TargetData data; // ipu2
  setMemoryElements(data, 13, 13);
  if (name == "ipu1") {
    data.tilesPerIPU = 1216;
    data.bytesPerTile = 262144;
    data.clockHz = 1.6e9;
    data.fp16InFp16OutConvUnits = 8;
    data.fp32ConvUnits = 8;
    data.contextsPerXb = 19;
    setMemoryElements(data, 8, 4);
  } else if (name == "ipu21") {
    data.clockHz = 1.5e9;
    data.quarterConvUnits = 16;
  } else {
    support::requireUser<invalid_machine_model>(
        name == "ipu2",
        "[poplar] '{}' given; the architectures ipu1, ipu2 and ipu21 are "
        "allowed, and for hardware {}",
        name, systemNames());
  }
  data.arch = name;
  return data;
}

TargetData systemData(std::string_view name) {
  const auto row = std::find_if(
      systems.begin(), systems.end(),
      [&](const SystemRow &system) { return system.name == name; });
  TargetData data;
  if (row != systems.end()) {
    data = architectureData(row->arch);
    data.system = name;
    data.numIPUs = row->ipus;
    data.clockHz = row->clockHz;
    data.ipuLinkDomainSize = std::min(row->ipus, data.ipuLinkDomainSize);
  } else {
    data = architectureData(name);
  }
  data.kind = TargetKind::Ipu;
  return data;
}

void applyTargetOptions(const OptionFlags &options, TargetData &data) {
  OptionFlags all = options;
  readJSONFromEnv("POPLAR_TARGET_OPTIONS", all);
  using Configuration = IpuLinkConfiguration;
  using Topology = IpuLinkTopology;
  static constexpr std::array<std::pair<const char *, Topology>, 3> topologies =
      {{{"Mesh", Topology::Mesh},
        {"Torus", Topology::Torus},
        {"Line", Topology::Line}}};
  static constexpr std::array<std::pair<const char *, Configuration>, 3>
      configurations = {{{"Default", Configuration::Default},
                         {"BarleyTwist", Configuration::BarleyTwist},
                         {"SlidingWindow", Configuration::SlidingWindow}}};
  static constexpr std::array<std::pair<const char *, bool>, 2> booleans = {
      {{"true", true}, {"false", false}}};
  static constexpr std::array<std::pair<const char *, const char *>, 3> syncs =
      {{{"intraReplicaAndAll", "intraReplicaAndAll"},
        {"ipuAndAll", "ipuAndAll"},
        {"intraReplicaAndLadder", "intraReplicaAndLadder"}}};
  for (const auto &[name, value] : all) {
    if (name == "gatewayMode") {
      data.hasGateway = parseWord(name, value, booleans);
    } else if (name == "instanceSize") {
      data.instanceSize = parseIpus(name, value);
    } else if (name == "ipuLinkConfiguration") {
      data.ipuLinkConfiguration = parseWord(name, value, configurations);
    } else if (name == "ipuLinkDomainSize") {
      data.ipuLinkDomainSize = parseIpus(name, value);
    } else if (name == "ipuLinkTopology") {
      data.ipuLinkTopology = parseWord(name, value, topologies);
    } else if (name == "syncConfiguration") {
      data.syncConfiguration = parseWord(name, value, syncs);
    } else {
      throw invalid_option(fmt::format(
          "[poplar::Target] Unrecognised option '{}' (value '{}'); allowed: "
          "gatewayMode, instanceSize, ipuLinkConfiguration, ipuLinkDomainSize, "
          "ipuLinkTopology, syncConfiguration",
          name, value));
    }
  }
}

} // namespace poplar::internal
