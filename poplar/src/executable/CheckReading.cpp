#include "executable/CheckReading.hpp"

#include "compiler/CheckPrograms.hpp"
#include "compiler/CheckVertices.hpp"
#include "executable/CheckSlots.hpp"
#include "executable/Programs.hpp"

#include <poplar/internal/Access.hpp>

#include <cmath>
#include <set>

namespace poplar::executable {
namespace {

using internal::GraphData;
using internal::ProgramNode;
using internal::TensorView;

void checkTarget(const internal::TargetData &target) {
  for (double value :
       {target.clockHz, target.exchangeBytesPerCycle,
        target.memcpyBytesPerCycle, target.hostToDeviceBytesPerSecond,
        target.deviceToHostBytesPerSecond, target.hostLatencySeconds,
        target.streamingBytesPerSecond, target.streamingLatencySeconds,
        target.gatewayBytesPerSecond, target.gatewayHopSeconds,
        target.linkBytesPerSecond, target.linkHopSeconds}) {
    requireIntact(std::isfinite(value) && value > 0,
                  "the target has a speed of {}", value);
  }
  for (unsigned value :
       {target.numIPUs, target.tilesPerIPU, target.workerContexts,
        target.tilesPerSharedBus, target.linksToPairPartner,
        target.linksPerRail, target.ipusPerMachine}) {
    requireIntact(value > 0, "a part of the target is not there");
  }
  requireIntact(std::uint64_t(target.numIPUs) * target.tilesPerIPU <= maxTiles,
                "the target has {} IPUs of {} tiles", target.numIPUs,
                target.tilesPerIPU);
}

void checkGroup(const internal::VertexGroup &group,
                const CheckedVariables &variables, std::uint64_t tiles) {
  for (const auto *views : {&group.inputs, &group.outputs}) {
    for (const TensorView &view : *views) {
      variables.checkView(view);
    }
  }
  internal::checkGroup(group);
  for (const internal::GroupPhase &phase : group.phases) {
    for (const internal::TileRun &run : phase.runs) {
      requireIntact(std::uint64_t(run.firstTile) + run.tileCount <= tiles,
                    "'{}' runs on tile {} of {}", group.debugPath,
                    std::uint64_t(run.firstTile) + run.tileCount - 1, tiles);
    }
  }
}

// Streams and remote buffers: what the host finds by handle.
template <typename Items> void checkHandles(const Items &items) {
  std::set<std::string_view> handles;
  for (const auto &item : items) {
    requireIntact(handles.insert(item.handle).second,
                  "handle '{}' is there twice", item.handle);
    requireIntact(item.elements >= 0 && item.elements <= maxElements,
                  "'{}' has {} elements", item.handle, item.elements);
  }
}

void checkHost(const GraphData &graph, const CheckedVariables &variables) {
  checkHandles(graph.streams);
  for (const internal::StreamData &stream : graph.streams) {
    requireIntact(stream.bufferingDepth > 0, "stream '{}' has no buffer",
                  stream.handle);
  }
  checkHandles(graph.remoteBuffers);
  for (const internal::RemoteBufferData &buffer : graph.remoteBuffers) {
    requireIntact(buffer.repeats > 0 &&
                      buffer.repeats <= maxElements / std::max<std::int64_t>(
                                                          buffer.elements, 1),
                  "remote buffer '{}' has {} rows of {} elements",
                  buffer.handle, buffer.repeats, buffer.elements);
  }
  for (const auto *accesses : {&graph.hostReads, &graph.hostWrites}) {
    for (const auto &[handle, access] : *accesses) {
      variables.checkView(access.view);
    }
  }
}

// An archive that checks the views and numbers that a node holds.
class NodeCheck {
public:
  static constexpr bool isReading = false;

  NodeCheck(const GraphData &graph, const CheckedVariables &variables)
      : graph_(graph), variables_(variables) {}

  void check(const ProgramNode &node) {
    std::visit([&](const auto &op) { visit(*this, op); }, node.op);
    // What a program's constructor sees to, not the compiler.
    if (const auto *in = std::get_if<internal::StreamInNode>(&node.op)) {
      requireDirection(in->stream, true);
    } else if (const auto *out =
                   std::get_if<internal::StreamOutNode>(&node.op)) {
      requireDirection(out->stream, false);
    } else if (const auto *count =
                   std::get_if<internal::CycleCountNode>(&node.op)) {
      requireIntact(count->result.type == support::DataType::UnsignedInt &&
                        count->result.elements() == 2,
                    "'{}' has no place for a cycle count", node.debugPath);
    }
  }

  template <typename... Fields> void operator()(const Fields &...fields) {
    (take(fields), ...);
  }

private:
  void take(const TensorView &view) { variables_.checkView(view); }
  void take(const internal::ComputeSetId &id) {
    requireKnown("compute set", id.index(), graph_.computeSets.size());
  }
  void take(const internal::StreamId &id) {
    requireKnown("stream", id.index(), graph_.streams.size());
  }
  void take(const internal::RemoteBufferId &id) {
    requireKnown("remote buffer", id.index(), graph_.remoteBuffers.size());
  }
  void take(const unsigned &replica) {
    requireKnown("replica", replica, graph_.replicationFactor);
  }
  template <typename Field> void take(const Field &) {}

  void requireDirection(internal::StreamId id, bool isHostToDevice) const {
    const internal::StreamData &stream = graph_.streams[id.index()];
    requireIntact(stream.isHostToDevice == isHostToDevice,
                  "a program uses stream '{}' in the wrong direction",
                  stream.handle);
  }

  static void requireKnown(const char *what, std::size_t index,
                           std::size_t count) {
    requireIntact(index < count, "a program uses {} {} of {}", what, index,
                  count);
  }

  const GraphData &graph_;
  const CheckedVariables &variables_;
};

} // namespace

void checkReading(const ExecutableImpl::Reading &reading) {
  const GraphData &graph = reading.graph;
  checkTarget(*graph.target);
  const std::uint64_t tiles = graph.target->numTiles();
  requireIntact(graph.replicationFactor > 0 &&
                    graph.replicationFactor <= maxTiles / tiles,
                "it has {} replicas", graph.replicationFactor);
  const CheckedVariables variables(graph.variables, tiles);
  checkSlots(graph, variables, tiles);
  for (const internal::ComputeSetData &computeSet : graph.computeSets) {
    for (const internal::VertexGroup &group : computeSet.groups) {
      checkGroup(group, variables, tiles);
    }
  }
  checkHost(graph, variables);
  NodeCheck nodes(graph, variables);
  std::vector<internal::ProgramPtr> roots = graph.functions;
  roots.insert(roots.end(), reading.programs.begin(), reading.programs.end());
  for (const internal::ProgramPtr &node : childrenFirst(roots)) {
    nodes.check(*node);
  }
  compiler::checkPrograms(graph, reading.programs);
  compiler::checkVertices(graph, reading.programs);
}

} // namespace poplar::executable
