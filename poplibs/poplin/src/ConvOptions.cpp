#include <poplin/internal/ConvOptions.hpp>

#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <support/Error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace poplin::internal {

using poplar::invalid_option;
using support::requireUser;

namespace {

using Choices = std::span<const std::string_view>;

constexpr std::string_view booleans[] = {"true", "false"};
constexpr std::string_view partialsTypes[] = {"half", "float"};
constexpr std::string_view matMulPasses[] = {
    "NONE", "INFERENCE_FWD", "TRAINING_FWD", "TRAINING_BWD", "TRAINING_WU"};
constexpr std::string_view convPasses[] = {
    "NONE",          "INFERENCE_FWD",    "TRAINING_FWD",    "TRAINING_BWD",
    "TRAINING_WU",   "FC_INFERENCE_FWD", "FC_TRAINING_FWD", "FC_TRAINING_BWD",
    "FC_TRAINING_WU"};

// An option with its values; none means any text.
struct Option {
  std::string_view name;
  Choices values;
};
constexpr Option common[] = {
    {"partialsType", partialsTypes},       {"use128BitConvUnitLoad", booleans},
    {"enableMultiStageReduce", booleans},  {"enableFastReduce", booleans},
    {"enableSingleInputReduce", booleans}, {"remapOutputTensor", booleans},
    {"disableSRForAMPVertices", booleans}, {"planConstraints", {}},
};
constexpr Option onlyMatMul[] = {
    {"fullyConnectedPass", matMulPasses},
    {"inputRHSIsPreArranged", booleans},
    {"gatherOutput", booleans},
};
constexpr Option onlyConv[] = {
    {"pass", convPasses},
    {"enableConvDithering", booleans},
    {"gatherConvOutput", booleans},
    {"partialsType.interIPU", partialsTypes},
    {"partialsType.interTile", partialsTypes},
    {"numIPUs", {}},
    {"tilesPerIPU", {}},
    {"planConstraintsOutputFilename", {}},
};

const Option *findOption(std::span<const Option> options,
                         std::string_view name) {
  const auto at =
      std::find_if(options.begin(), options.end(),
                   [&](const Option &option) { return option.name == name; });
  return at == options.end() ? nullptr : &*at;
}

double parseProportion(const std::string &name, const std::string &value) {
  char *end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  requireUser<invalid_option>(
      !value.empty() && *end == '\0',
      "Invalid value '{}' for option '{}': Not a floating point number", value,
      name);
  requireUser<invalid_option>(
      number >= 0,
      "Invalid value '{}' for option '{}': Value must be greater "
      "than or equal to 0",
      value, name);
  return number;
}

// Convolutions write the passes of fully-connected layers FC_TRAINING_FWD, ...
ConvPass passOf(std::string_view value, bool isMatMul) {
  const std::string_view prefix = "FC_";
  if (!isMatMul) {
    if (value.substr(0, prefix.size()) != prefix) {
      return ConvPass::None;
    }
    value.remove_prefix(prefix.size());
  }
  return value == "TRAINING_FWD"   ? ConvPass::Forward
         : value == "TRAINING_BWD" ? ConvPass::Backward
         : value == "TRAINING_WU"  ? ConvPass::WeightUpdate
                                   : ConvPass::None;
}

ConvOptions parse(const poplar::OptionFlags &flags,
                  std::span<const Option> extra) {
  ConvOptions options;
  for (const auto &[name, value] : flags) {
    if (name == "availableMemoryProportion") {
      options.availableMemoryProportion = parseProportion(name, value);
      continue;
    }
    const auto *option = findOption(common, name);
    option = option != nullptr ? option : findOption(extra, name);
    requireUser<invalid_option>(option != nullptr, "Unrecognised option '{}'",
                                name);
    requireUser<invalid_option>(
        option->values.empty() ||
            std::find(option->values.begin(), option->values.end(), value) !=
                option->values.end(),
        "Invalid value '{}' for option '{}': Not one of the values: ['{}']",
        value, name, fmt::join(option->values, "', '"));
    if (name == "partialsType") {
      options.partialsType = value == "half" ? DataType::Half : DataType::Float;
    } else if (name == "use128BitConvUnitLoad") {
      options.use128BitConvUnitLoad = value == "true";
    } else if (name == "enableMultiStageReduce") {
      options.enableMultiStageReduce = value == "true";
    } else if (name == "enableFastReduce") {
      options.enableFastReduce = value == "true";
    } else if (name == "enableSingleInputReduce") {
      options.enableSingleInputReduce = value == "true";
    } else if (name == "planConstraints") {
      options.constraints = parsePlanConstraints(name, value);
    } else if (name == "fullyConnectedPass" || name == "pass") {
      options.pass = passOf(value, name == "fullyConnectedPass");
    }
  }
  return options;
}

} // namespace

ConvOptions parseMatMulOptions(const poplar::OptionFlags &options) {
  return parse(options, onlyMatMul);
}

ConvOptions parseConvOptions(const poplar::OptionFlags &options) {
  return parse(options, onlyConv);
}

PlanLimits planLimits(const poplar::Graph &graph,
                      poputil::internal::TileRange tiles,
                      const ConvOptions &options) {
  const auto &target = *poplar::internal::graphData(graph).target;
  PlanLimits limits;
  limits.tile = poputil::internal::tileSpec(graph);
  if (options.use128BitConvUnitLoad) {
    limits.tile.convUnitCoeffLoadBytes = target.convUnitCoeffLoadBytes;
  }
  // A plan has one level: the tiles of an IPU.
  limits.tiles = std::min(tiles.count, target.tilesPerIPU);
  limits.exchangeBytesPerCycle = target.exchangeBytesPerCycle;
  limits.sharesExchangeBus = target.tilesPerSharedBus > 1;
  limits.bytesPerTile = target.bytesPerTile;
  limits.availableMemoryProportion = options.availableMemoryProportion;
  limits.allowMultiStageReduce = options.enableMultiStageReduce;
  limits.allowSingleInputReduce = options.enableSingleInputReduce;
  limits.useFastReduce = options.enableFastReduce;
  limits.pass = options.pass;
  limits.constraints = options.constraints;
  return limits;
}

DataType partialsType(const ConvOptions &options, DataType outputType) {
  return outputType == DataType::Float ? DataType::Float : options.partialsType;
}

} // namespace poplin::internal
