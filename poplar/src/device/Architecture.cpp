#include "Architecture.hpp"

#include "System.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <array>

namespace poplar::internal {
namespace {

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

TargetData systemData(std::string_view name) {
  return findSystem(name).target;
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
