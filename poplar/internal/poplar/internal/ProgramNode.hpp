// The program tree behind program::Program: immutable, shared nodes.
#pragma once

#include <poplar/PrintTensor.hpp>
#include <poplar/SyncType.hpp>
#include <poplar/internal/Collective.hpp>
#include <poplar/internal/GraphData.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace poplar::internal {

struct ProgramNode;
using ProgramPtr = std::shared_ptr<const ProgramNode>;

// Views that a program may do without have no pieces and no elements.
inline bool isPresent(const TensorView &view) {
  return !view.pieces.empty();
}

struct SequenceNode {
  std::vector<ProgramPtr> children;
};
struct ExecuteNode {
  ComputeSetId computeSet;
  // BOOL scalar, optional: whether every compute() returned true.
  TensorView exitStatus = {support::DataType::Bool, {0}, {}};
};
// Reads all of `source`, then writes `destination`.
struct CopyNode {
  TensorView source;
  TensorView destination;
};
struct StreamInNode {
  StreamId stream;
  TensorView destination;
  unsigned replica = 0;
};
struct StreamOutNode {
  TensorView source;
  StreamId stream;
  unsigned replica = 0;
};
// Rows of a remote buffer to [rows, elements], or from it. Without offsets the
// row is 0.
struct RemoteReadNode {
  RemoteBufferId buffer;
  TensorView destination;
  TensorView offsets; // UNSIGNED_INT, optional
  unsigned replica = 0;
};
struct RemoteWriteNode {
  TensorView source;
  RemoteBufferId buffer;
  TensorView offsets; // UNSIGNED_INT, optional
  unsigned replica = 0;
};
struct RepeatNode {
  static constexpr std::uint64_t forever =
      std::numeric_limits<std::uint64_t>::max();
  std::uint64_t count = 0;
  ProgramPtr body;
};
// Runs `condition`, ends unless the predicate is `continuesOn`, runs `body`,
// and begins again.
struct WhileNode {
  ProgramPtr condition;
  TensorView predicate; // one element: BOOL, INT or UNSIGNED_INT
  ProgramPtr body;
  bool continuesOn = true;
};
struct IfNode {
  TensorView predicate; // one element: BOOL, INT or UNSIGNED_INT
  ProgramPtr thenBody;
  ProgramPtr elseBody;
};
struct SwitchNode {
  TensorView control; // one element: INT or UNSIGNED_INT
  std::vector<std::pair<std::int32_t, ProgramPtr>> cases;
  ProgramPtr defaultBody;
};
struct CallNode {
  FunctionId function;
};
struct PrintTensorNode {
  std::string title;
  TensorView view;
  PrintTensorFmt format;
  unsigned replica = 0;
};
// Ends the liveness of the elements; values afterwards are arbitrary.
struct WriteUndefNode {
  TensorView view;
};
struct SyncNode {
  SyncType type = SyncType::INTERNAL;
};
// The destination on replica replicas[r] takes the source of replica r.
struct CrossReplicaCopyNode {
  TensorView source;
  TensorView destination;
  std::map<unsigned, unsigned> replicas;
};
// The source of every replica, combined and shared out to the destinations.
struct CollectiveNode {
  CollectivePlan plan;
  TensorView source;
  TensorView destination;
};
// A named stretch for profiles.
struct BlockNode {
  ProgramPtr body;
};
// Throws application_runtime_error, if there is no condition or it is not zero.
struct AbortNode {
  std::string message;
  TensorView condition; // one element, optional
};
// Prints the tensor, then throws application_runtime_error.
struct ErrorNode {
  std::string message;
  TensorView view;
};
// Runs the body; the result is what the model says that it costs, in cycles.
struct CycleCountNode {
  ProgramPtr body;
  TensorView result;        // UNSIGNED_INT, two elements: low and high word
  std::uint64_t cycles = 0; // filled in when the graph is compiled
};

struct ProgramNode {
  std::variant<SequenceNode, ExecuteNode, CopyNode, StreamInNode, StreamOutNode,
               RemoteReadNode, RemoteWriteNode, RepeatNode, WhileNode, IfNode,
               SwitchNode, CallNode, PrintTensorNode, WriteUndefNode, SyncNode,
               CrossReplicaCopyNode, CollectiveNode, BlockNode, AbortNode,
               ErrorNode, CycleCountNode>
      op;
  std::string debugPath;
  unsigned graph = 0; // GraphData::id of the operands; 0 if there are none
};

} // namespace poplar::internal
