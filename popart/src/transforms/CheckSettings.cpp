// Options that contradict each other, whatever the model is.
#include <transforms/Passes.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Text.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace popart {
namespace {

void checkReplicas(const SessionOptions &options) {
  if (!options.enableDistributedReplicatedGraphs) {
    return;
  }
  support::requireUser<error>(options.globalReplicationFactor >= 1,
                              "globalReplicationFactor ({}) must be at least 1",
                              options.globalReplicationFactor);
  support::requireUser<error>(
      0 <= options.globalReplicaOffset &&
          options.globalReplicaOffset <= options.globalReplicationFactor,
      "globalReplicaOffset ({}) must be from 0 to globalReplicationFactor ({})",
      options.globalReplicaOffset, options.globalReplicationFactor);
  support::requireUser<error>(
      options.replicatedGraphCount <= options.globalReplicationFactor,
      "replicatedGraphCount ({}) is more than globalReplicationFactor ({})",
      options.replicatedGraphCount, options.globalReplicationFactor);
  support::requireUser<error>(
      !options.enableReplicatedGraphs || options.replicatedGraphCount > 1,
      "Local replicated graphs enabled but replication factor is 1");
  std::int64_t local = options.getReplicationFactor();
  support::requireUser<error>(
      options.globalReplicationFactor % local == 0 &&
          options.globalReplicaOffset % local == 0,
      "globalReplicationFactor ({}) and globalReplicaOffset ({}) must be "
      "multiples of the replicas of this process ({})",
      options.globalReplicationFactor, options.globalReplicaOffset, local);
}

// A pipeline of explicit loops has everything else explicit, too.
void checkExplicitPipeline(const Ir &ir) {
  const SessionOptions &options = ir.sessionOptions;
  if (!options.enablePipelining || !options.enableExplicitMainLoops) {
    return;
  }
  support::requireUser<error>(options.useHostCopyOps,
                              "SessionOption 'useHostCopyOps' must be true.");
  support::requireUser<error>(
      options.explicitRecomputation,
      "SessionOption 'explicitRecomputation' must be true.");
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    support::requireUser<error>(
        type.id() != AnchorReturnTypeId::EveryN,
        "Anchor '{}' has the return type EveryN, which an explicit pipeline "
        "does not have",
        id);
  }
}

void checkExplicit(const SessionOptions &options) {
  support::requireUser<error>(!options.enableExplicitMainLoops ||
                                  options.useHostCopyOps,
                              "enableExplicitMainLoops requires "
                              "useHostCopyOps.");
  bool isRecomputing = options.autoRecomputation != RecomputationType::None;
  support::requireUser<error>(
      !options.aliasZeroCopy ||
          ((!options.enablePipelining || options.enableExplicitMainLoops) &&
           (!isRecomputing || options.explicitRecomputation)),
      "aliasZeroCopy is not supported with implicit pipelining or implicit "
      "recomputation");
}

void checkIoTiles(const PassContext &context) {
  const SessionOptions &options = context.ir.sessionOptions;
  support::requireUser<error>(
      options.numIOTiles == 0 ||
          (options.numIOTiles >= 32 && options.numIOTiles % 2 == 0),
      "numIOTiles ({}) must be even and at least 32", options.numIOTiles);
  auto check = [&](const TensorId &id, TileSet tiles) {
    support::requireUser<error>(
        tiles != TileSet::IO || options.numIOTiles > 0,
        "'{}' has the tile set IO, but there are no I/O tiles; set numIOTiles",
        id);
  };
  for (const auto &[id, settings] : context.ir.inputSettings) {
    check(id, settings.tileSet());
  }
  for (const auto &[id, type] : context.ir.dataFlow.getAnchorReturnTypeMap()) {
    check(id, type.tileSet());
  }
}

void checkNames(const SessionOptions &options) {
  auto requireOneOf = [](const char *option, const std::string &value,
                         auto allowed) {
    support::requireUser<error>(
        std::find(allowed.begin(), allowed.end(), value) != allowed.end(),
        "SessionOption '{}' has the unknown value '{}'", option, value);
  };
  using Names3 = std::array<std::string_view, 3>;
  constexpr Names3 tieBreakers{"greedy", "fifo", "random"};
  support::requireUser<error>(
      std::find(tieBreakers.begin(), tieBreakers.end(),
                support::lowerCase(options.kahnTieBreaker)) !=
          tieBreakers.end(),
      "Unrecognised KahnTieBreaker, {}. Should be one of {}",
      options.kahnTieBreaker, fmt::join(tieBreakers, ", "));
  requireOneOf("partialsTypeMatMuls", options.partialsTypeMatMuls,
               Names3{"", "float", "half"});
  for (const auto &[name, value] : options.gclOptions) {
    support::requireUser<error>(
        name == "useSynclessCollectives" || name == "maxBytesPerTile",
        "SessionOption 'gclOptions' has the unknown option '{}'; there are "
        "useSynclessCollectives and maxBytesPerTile",
        name);
  }
}

} // namespace

void checkSettings(PassContext &context) {
  const SessionOptions &options = context.ir.sessionOptions;
  checkReplicas(options);
  checkExplicit(options);
  checkExplicitPipeline(context.ir);
  checkNames(options);
  checkIoTiles(context);
  support::requireUser<error>(
      options.executionPhaseSettings.phases <= 1 ||
          options.virtualGraphMode == VirtualGraphMode::ExecutionPhases,
      "{} execution phases need VirtualGraphMode::ExecutionPhases",
      options.executionPhaseSettings.phases);
  const BatchSerializationSettings &batches =
      options.batchSerializationSettings;
  support::requireUser<error>(
      batches.factor <= 0 || batches.method != BatchSerializationMethod::Loop ||
          batches.transformContext == BatchSerializationTransformContext::Bwd,
      "batchSerializationSettings.method Loop needs transformContext Bwd");
}

} // namespace popart
