#include "Architecture.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <array>

namespace poplar::internal {

TargetData architectureData(std::string_view name) {
  TargetData data; // ipu2
  if (name == "ipu1") {
    data.tilesPerIPU = 1216;
    data.bytesPerTile = 262144;
    data.clockHz = 1.6e9;
  } else if (name == "ipu21") {
    data.clockHz = 1.85e9;
  } else {
    support::requireUser<invalid_machine_model>(
        name == "ipu2",
        "[poplar::IPUModel] architecture '{}' given; ipu1, ipu2 and ipu21 are "
        "allowed",
        name);
  }
  data.arch = name;
  return data;
}

void checkTargetOptions(const OptionFlags &options) {
  static constexpr std::array<std::string_view, 5> known = {
      "syncConfiguration", "gatewayMode", "ipuLinkDomainSize",
      "ipuLinkTopology", "ipuLinkConfiguration"};
  for (const auto &[name, value] : options) {
    support::requireUser<invalid_option>(
        std::find(known.begin(), known.end(), name) != known.end(),
        "[poplar::Target] Unrecognised option '{}' (value '{}')", name, value);
  }
}

} // namespace poplar::internal
