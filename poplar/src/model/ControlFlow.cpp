// How often a node of the program tree runs each of its parts.
#include "model/ControlFlow.hpp"

#include "program/VisitPrograms.hpp"
#include <support/Error.hpp>

#include <algorithm>
#include <numeric>

namespace poplar::model {

namespace {

using internal::ProgramNode;
using internal::ProgramPtr;

std::vector<ProgramPtr> branchesOf(const ProgramNode &node) {
  if (const auto *branch = std::get_if<internal::IfNode>(&node.op)) {
    return {branch->thenBody, branch->elseBody};
  }
  std::vector<ProgramPtr> branches;
  if (const auto *branch = std::get_if<internal::SwitchNode>(&node.op)) {
    for (const auto &[value, body] : branch->cases) {
      branches.push_back(body);
    }
    branches.push_back(branch->defaultBody);
  }
  return branches;
}

std::vector<Part> branchParts(StepTable &steps, const ProgramNode &node,
                              const std::vector<ProgramPtr> &branches) {
  std::vector<Part> parts;
  const PartCounts *counts = steps.countsOf(node);
  if (counts == nullptr) {
    if (const ProgramPtr longest = steps.longestOf(node, branches)) {
      parts.push_back({longest, {}});
    }
    return parts;
  }
  support::requireInternal(counts->parts.size() == branches.size(),
                           "{} counts for {} branches", counts->parts.size(),
                           branches.size());
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (branches[i] && counts->parts[i] != 0) {
      parts.push_back({branches[i], {counts->parts[i], counts->runs}});
    }
  }
  return parts;
}

} // namespace

Frequency iterationsOf(const StepTable &steps, const ProgramNode &loop) {
  const auto *repeat = std::get_if<internal::RepeatNode>(&loop.op);
  if (repeat != nullptr && repeat->count != internal::RepeatNode::forever) {
    return {repeat->count, 1};
  }
  const PartCounts *counts = steps.countsOf(loop);
  if (counts == nullptr) {
    return {};
  }
  support::requireInternal(counts->parts.size() == 1, "{} counts for a loop",
                           counts->parts.size());
  return {counts->parts[0], counts->runs};
}

std::vector<Part> partsOf(StepTable &steps, const ProgramNode &node) {
  if (const auto branches = branchesOf(node); !branches.empty()) {
    return branchParts(steps, node, branches);
  }
  std::vector<Part> parts;
  forEachChild(steps.graph(), node, [&](const ProgramPtr &child) {
    parts.push_back({child, {}});
  });
  if (const auto *loop = std::get_if<internal::WhileNode>(&node.op)) {
    const Frequency iterations = iterationsOf(steps, node);
    for (Part &part : parts) {
      part.frequency = iterations;
      if (part.program == loop->condition) {
        part.frequency.times += iterations.of; // once more than the body
      }
    }
  } else if (std::holds_alternative<internal::RepeatNode>(node.op)) {
    for (Part &part : parts) {
      part.frequency = iterationsOf(steps, node);
    }
  }
  return parts;
}

} // namespace poplar::model
