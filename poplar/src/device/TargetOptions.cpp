#include "TargetOptions.hpp"

#include "LinkNames.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poplar::internal {
namespace {

// A row of one option: the words it takes and what each of them sets.
template <typename Value, std::size_t size>
Value parseWord(const std::string &name, const std::string &value,
                const NamedValues<Value, size> &words) {
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
    allowed += allowed.empty() ? "" : ", ";
    allowed += word;
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

void applyTargetOptions(const OptionFlags &options, TargetData &data) {
  OptionFlags all = options;
  readJSONFromEnv("POPLAR_TARGET_OPTIONS", all);
  static constexpr NamedValues<bool, 2> booleans = {
      {{"true", true}, {"false", false}}};
  static constexpr NamedValues<const char *, 3> syncs = {
      {{"intraReplicaAndAll", "intraReplicaAndAll"},
       {"ipuAndAll", "ipuAndAll"},
       {"intraReplicaAndLadder", "intraReplicaAndLadder"}}};
  for (const auto &[name, value] : all) {
    if (name == "gatewayMode") {
      data.hasGateway = parseWord(name, value, booleans);
    } else if (name == "instanceSize") {
      data.instanceSize = parseIpus(name, value);
    } else if (name == "ipuLinkConfiguration") {
      data.ipuLinkConfiguration =
          parseWord(name, value, linkConfigurationNames);
    } else if (name == "ipuLinkDomainSize") {
      data.ipuLinkDomainSize = parseIpus(name, value);
    } else if (name == "ipuLinkTopology") {
      data.ipuLinkTopology = parseWord(name, value, topologyNames);
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
