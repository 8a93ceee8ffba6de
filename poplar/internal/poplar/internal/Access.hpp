// From the public handles to the data behind them, for the libraries above
// Poplar that are part of Aspen. User programs never need this.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>
#include <poplar/internal/TargetData.hpp>

namespace poplar::internal {

// What a Tensor refers to. The graph is shared so that a tensor may outlive the
// Graph object that made it.
struct TensorData {
  TensorView view;
  std::shared_ptr<const GraphData> graph;
  std::shared_ptr<const TensorData> metadata = {}; // of QUARTER elements
};

GraphData &graphData(Graph &graph);
const GraphData &graphData(const Graph &graph);

const TensorView &tensorView(const Tensor &tensor);
Tensor makeTensor(const Graph &graph, TensorView view);

const ProgramPtr &programNode(const program::Program &program);
ComputeSetId computeSetId(ComputeSet computeSet);
StreamId streamId(const DataStream &stream);
RemoteBufferId remoteBufferId(const RemoteBuffer &buffer);

const TargetData &targetData(const Target &target);
Target makeTarget(TargetData data);

// Throws type_error for the types that no device has (LONG, DOUBLE).
support::DataType toDataType(const Type &type);
Type toType(support::DataType type);

// Adds the vertex types of a codelet file. False when the graph has the file
// already. A type name that is known stays what it was.
bool addCodeletFile(Graph &graph, std::shared_ptr<const CodeletFile> file);

// What is left to do before a copy of a graph is compiled: places the constants
// of vertices and asks the performance estimators.
void finishGraph(GraphData &graph);

// Checks the operands of a library operation against its kind's rules.
void checkGroup(const VertexGroup &group);

// Adds a library operation to a compute set, after checking it.
void addGroup(Graph &graph, ComputeSet computeSet, VertexGroup group);

// The same in a compute set of its own, executed at the end of `program`.
void executeGroup(Graph &graph, program::Sequence &program, VertexGroup group);

// The mapping of a variable in the graph's own tile numbers. What lies on tiles
// that a virtual graph does not have is left out. The result is the variable's
// own mapping or, for a virtual graph, `translated`.
const TileMapping &mappingIn(const Graph &graph, VariableId variable,
                             TileMapping &translated);

// Maps a whole row-major variable by one formula piece.
void setLinearMapping(Graph &graph, const Tensor &variable,
                      const MappingPiece &piece);

} // namespace poplar::internal
