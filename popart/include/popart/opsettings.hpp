// What is said of an operation besides what it computes: where and when it
// runs, and its name.
#pragma once

#include <popart/attributes.hpp>
#include <popart/dataflow.hpp>
#include <popart/names.hpp>
#include <popart/optional.hpp>
#include <popart/scope.hpp>
#include <popart/tensorlocation.hpp>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace popart {

class Graph;

// Which part of a training step an operation belongs to.
enum class ExecutionContext {
  Normal = 0,              // forward and backward: every micro-batch
  AccumulateOuterFragment, // once per weight update
  WeightsFromHostFragment,
  WeightsToHostFragment,
  OptimizerFromHostFragment,
  Subgraph,
};

// Whether the backward pass keeps an operation's results or computes them
// again, where the model says so itself.
enum class RecomputeType { Undefined = 0, Checkpoint, Recompute, Recomputed };

// Whether replicas round halves alike.
enum class StochasticRoundingMethod { DifferingSeeds = 1, IdenticalSeeds };

// The graph that an operation is in, or is made for; none until it is added.
class GraphReference {
public:
  GraphReference() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as std::reference_wrapper
  GraphReference(Graph &graph) : graph_(&graph) {}

  bool hasGraph() const { return graph_ != nullptr; }
  Graph &get() const { return *graph_; }
  // NOLINTNEXTLINE(google-explicit-constructor): as std::reference_wrapper
  operator Graph &() const { return *graph_; }

private:
  Graph *graph_ = nullptr;
};

struct OpSettings {
  OpSettings() = default;
  OpSettings(Graph &graph, std::string name, Scope scope = {},
             std::uint64_t parentDebugId = 0)
      : graph(graph), name(std::move(name)), scope(std::move(scope)),
        debugInfoId(parentDebugId) {}
  OpSettings(Graph &graph, std::string name, std::uint64_t parentDebugId)
      : OpSettings(graph, std::move(name), Scope(), parentDebugId) {}
  OpSettings(const OpSettings &) = default;
  OpSettings(OpSettings &&) = default;
  OpSettings &operator=(const OpSettings &) = default;
  OpSettings &operator=(OpSettings &&) = default;
  virtual ~OpSettings() = default;

  OpSettings copy(const std::string &newName) const {
    OpSettings settings = *this;
    settings.name = newName;
    return settings;
  }
  // Takes what the Builder's attributes say, such as __ipu_number.
  virtual void setFromAttributes(const Attributes &attributes);

  GraphReference graph;
  std::string name; // debug path, e.g. "model/conv1/Conv"
  Scope scope;
  VGraphId vgraphId = unusedVGraphId;
  PipelineStage pipelineStage = unusedPipelineStage;
  ExecutionPhase executionPhase = unusedExecutionPhase;
  BatchSerializedPhase batchSerializedPhase = unusedBatchSerializedPhase;
  ExecutionContext executionContext = ExecutionContext::Normal;
  RecomputeType recomputeType = RecomputeType::Undefined;
  TileSet tileSet = TileSet::Compute;
  std::set<std::string> excludePatterns;
  bool isBackward = false; // made by autodiff

  // Operations are equal to outlining only if these are, too.
  std::map<std::string, std::string> extraOutlineAttributes;

  // Documented, and without effect: schedules, layouts and what is done in
  // place are the compiler's choice.
  double schedulePriority = 0.0;
  optional<TensorLocation> tensorLocation;
  optional<StochasticRoundingMethod> stochasticRoundingMethod;
  std::vector<std::tuple<std::string, float>> inplacePriorityVeto;
  std::map<InIndex, OutIndex> inferTensorMappingToFrom;
  std::uint64_t debugInfoId = 0;
  bool optimizerOp = false;
  bool gradientClippingOp = false;
};

} // namespace popart
