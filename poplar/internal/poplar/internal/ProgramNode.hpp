// The program tree behind program::Program: immutable, shared nodes.
#pragma once

#include <poplar/internal/GraphData.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace poplar::internal {

struct ProgramNode;
using ProgramPtr = std::shared_ptr<const ProgramNode>;

struct SequenceNode {
  std::vector<ProgramPtr> children;
};
struct ExecuteNode {
  ComputeSetId computeSet;
};
// Reads all of `source`, then writes `destination`.
struct CopyNode {
  TensorView source;
  TensorView destination;
};
struct StreamInNode {
  StreamId stream;
  TensorView destination;
};
struct StreamOutNode {
  TensorView source;
  StreamId stream;
};
struct RepeatNode {
  std::uint64_t count = 0;
  ProgramPtr body;
};
// Ends the liveness of the elements; values afterwards are arbitrary.
struct WriteUndefNode {
  TensorView view;
};

struct ProgramNode {
  std::variant<SequenceNode, ExecuteNode, CopyNode, StreamInNode, StreamOutNode,
               RepeatNode, WriteUndefNode>
      op;
  std::string debugPath;
};

} // namespace poplar::internal
