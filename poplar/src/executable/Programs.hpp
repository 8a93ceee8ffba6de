// The programs of a reading: their nodes in an order in which children come
// first, and how deep they nest.
#pragma once

#include "executable/Limits.hpp"
#include "executable/VisitNodes.hpp"

#include <unordered_map>

namespace poplar::executable {

// Every node that the programs are made of, once, after its children.
std::vector<internal::ProgramPtr>
childrenFirst(const std::vector<internal::ProgramPtr> &programs);

// Follows nodes in that order. Throws poplar_error for programs that nest too
// deep to be walked, or functions that call themselves.
class Nesting {
public:
  // Where the functions' nodes are in the order.
  explicit Nesting(std::vector<std::uint32_t> functions)
      : functions_(std::move(functions)) {}

  void add(const internal::ProgramNode &node);

private:
  struct Size {
    std::uint64_t depth = 1;
    std::uint64_t walk = 1; // nodes that a walk meets
  };

  std::vector<std::uint32_t> functions_;
  std::vector<Size> sizes_;
  std::unordered_map<const internal::ProgramNode *, std::size_t> positions_;
};

template <typename Archive, typename Programs>
void visitPrograms(Archive &archive, Programs &functions, Programs &programs) {
  archive.startNodes();
  std::vector<internal::ProgramPtr> nodes;
  std::vector<std::uint32_t> functionNodes;
  if constexpr (!Archive::isReading) {
    std::vector<internal::ProgramPtr> roots = functions;
    roots.insert(roots.end(), programs.begin(), programs.end());
    nodes = childrenFirst(roots);
    for (const internal::ProgramPtr &node : nodes) {
      archive.define(node);
    }
    for (const internal::ProgramPtr &function : functions) {
      functionNodes.push_back(archive.numberOf(function));
    }
  }
  archive(functionNodes);
  Nesting nesting(functionNodes);
  std::uint64_t count = nodes.size();
  archive.count(count, 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    if constexpr (Archive::isReading) {
      auto node = std::make_shared<internal::ProgramNode>();
      archive(*node);
      nesting.add(*node);
      archive.define(std::move(node));
    } else {
      archive(*nodes[i]);
      nesting.add(*nodes[i]);
    }
  }
  if constexpr (Archive::isReading) {
    for (std::uint32_t number : functionNodes) {
      functions.push_back(archive.node(number));
    }
  }
  archive(programs);
}

} // namespace poplar::executable
