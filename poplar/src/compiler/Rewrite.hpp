// Small edits that several passes make.
#pragma once

#include "compiler/ValueIr.hpp"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace poplar::compiler {

ValueId addValue(ValueProgram &program, support::DataType type,
                 support::Shape shape, std::string name);

// A Copy of `source` into a new row-major value; dimensions that broadcast stay
// broadcast. `packed` becomes the window onto the new value that shows what
// `source` shows.
Node makePackingCopy(ValueProgram &program, const Window &source,
                     const std::string &name, Window &packed);

// The same with every element of `source` written out.
Node makeDenseCopy(ValueProgram &program, const Window &source,
                   const std::string &name, Window &dense);

// A Copy of the new value `packed` (whole, in order) to `target`.
Node makeUnpackingCopy(const Window &packed, Definition target,
                       const std::string &name);

// Input `input` of the node may lie where output `output` is written, to
// `window`: element for element, as the kind allows.
bool canOverwrite(const Node &node, std::size_t input, std::size_t output,
                  const Window &window);

// Edits of node lists that are collected while nodes must not move and made all
// at once afterwards.
class NodeEdits {
public:
  void insertBefore(const Node &node, Node added);
  void insertAfter(const Node &node, Node added);
  void remove(const Node &node) { removed_.insert(&node); }
  bool isRemoved(const Node &node) const { return removed_.contains(&node); }
  bool isEmpty() const {
    return before_.empty() && after_.empty() && removed_.empty();
  }
  // Applies the edits to the region and the loops in it.
  void apply(Region &region);

private:
  std::unordered_map<const Node *, std::vector<Node>> before_;
  std::unordered_map<const Node *, std::vector<Node>> after_;
  std::unordered_set<const Node *> removed_;
};

// Calls f(node) for the nodes of the region, in order, loops before what is in
// them.
template <typename F> void forEachNode(Region &region, F &&f) {
  for (Node &node : region.nodes) {
    f(node);
    if (node.loop != nullptr) {
      forEachNode(node.loop->body, f);
    }
  }
}

} // namespace poplar::compiler
