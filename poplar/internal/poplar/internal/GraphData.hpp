// Everything a Graph owns, in vectors indexed by typed ids. The public handles
// hold ids; the compiler, the executors and the model read this.
#pragma once

#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/internal/TensorView.hpp>
#include <poplar/internal/TileMapping.hpp>
#include <poplar/internal/VertexGroup.hpp>
#include <poplar/internal/VertexTable.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace poplar::internal {

struct TargetData;  // poplar/internal/TargetData.hpp
struct ProgramNode; // poplar/internal/ProgramNode.hpp

using StreamId = support::Id<struct StreamTag>;
using FunctionId = support::Id<struct FunctionTag>;
using RemoteBufferId = support::Id<struct RemoteBufferTag>;

struct Variable {
  support::DataType type = support::DataType::Float;
  support::Shape shape; // as created; elements are row-major over it
  std::string debugPath;
  TileMapping mapping;
  bool isConstant = false;
  // A constant whose value is the number of the replica.
  bool isReplicaIndex = false;
  // Constants: the value. Variables: the initial value at load, or empty.
  std::vector<std::byte> initialData;

  std::int64_t elements() const { return support::elementCount(shape); }
};

struct ComputeSetData {
  std::string debugPath;
  std::vector<VertexGroup> groups;
  std::vector<VertexId> vertices;
};

struct StreamData {
  std::string handle;
  support::DataType type = support::DataType::Float;
  std::int64_t elements = 0; // per transfer
  bool isHostToDevice = true;
  // Host to device in a replicated graph: one transfer serves all replicas.
  bool isBroadcast = false;
  // Transfers that may be prefetched; at least one.
  unsigned bufferingDepth = 1;
  // Larger transfers use several buffers; 0 never splits.
  std::uint64_t splitLimitBytes = 50 << 20;
};

// Rows of host memory that programs read and write by row number.
struct RemoteBufferData {
  std::string handle;
  support::DataType type = support::DataType::Float;
  std::int64_t elements = 0; // of a row
  std::int64_t repeats = 1;  // rows
};

struct HostAccess {
  TensorView view;
};

// A constant that was given to a field as a value: it lies on the vertex's
// tile.
struct FieldConstant {
  VertexId vertex;
  VariableId variable;
};

struct GraphData {
  // What handles know their graph by: unique in a process, kept by copies.
  unsigned id = 0;
  std::shared_ptr<const TargetData> target;
  unsigned replicationFactor = 1;
  std::vector<Variable> variables;
  std::vector<ComputeSetData> computeSets;
  VertexTable vertices;
  std::vector<FieldConstant> fieldConstants;
  std::map<std::string, PerfEstimateFunc> perfEstimators; // by vertex type
  std::vector<StreamData> streams;
  std::vector<RemoteBufferData> remoteBuffers;
  std::vector<std::shared_ptr<const ProgramNode>> functions;
  std::map<std::string, HostAccess> hostWrites; // by handle
  std::map<std::string, HostAccess> hostReads;
  // What a library above keeps with a graph (its plans, the codelets that it
  // added), by the library's name.
  std::map<std::string, std::shared_ptr<void>> libraryData;

  Variable &operator[](VariableId id) { return variables[id.index()]; }
  const Variable &operator[](VariableId id) const {
    return variables[id.index()];
  }
};

} // namespace poplar::internal
