// Making nodes of program trees, with the graph that their operands belong to.
#pragma once

#include "graph/Handles.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

namespace poplar::program {

// The view of an operand, or poplar_error in the program's name.
inline internal::TensorView viewOf(const Tensor &tensor,
                                   const char *programName) {
  return internal::validData(tensor, programName).view;
}

// The same for operands that would be none if they had no elements.
inline internal::TensorView someViewOf(const Tensor &tensor,
                                       const char *programName) {
  internal::TensorView view = viewOf(tensor, programName);
  support::requireUser<control_program_error>(
      internal::isPresent(view), "[{}] the tensor of shape {} has no elements",
      programName, support::toString(view.shape));
  return view;
}

// The graph of all operands: tensors, streams, compute sets and so on.
template <typename... Operands>
unsigned commonGraph(const DebugContext &debugContext,
                     const Operands &...operands) {
  unsigned common = 0;
  for (unsigned graph : std::initializer_list<unsigned>{
           internal::Access::graphOf(operands)...}) {
    support::requireUser<control_program_error>(
        common == 0 || graph == 0 || graph == common,
        "[poplar::program] '{}' refers to things of two graphs",
        debugContext.getPathName());
    common = graph == 0 ? common : graph;
  }
  return common;
}

template <typename Op, typename... Operands>
internal::ProgramPtr makeNode(Op op, const DebugContext &debugContext,
                              const Operands &...operands) {
  return std::make_shared<internal::ProgramNode>(
      internal::ProgramNode{std::move(op), debugContext.getPathName(),
                            commonGraph(debugContext, operands...)});
}

// What a program may change: itself, if nobody else holds it, or a copy, so
// that others keep it as it was.
inline internal::ProgramNode &makeMutable(internal::ProgramPtr &node) {
  if (node.use_count() > 1) {
    node = std::make_shared<internal::ProgramNode>(*node);
  }
  // Nobody else can see the node, which was made mutable.
  return const_cast<internal::ProgramNode &>(*node);
}

} // namespace poplar::program
