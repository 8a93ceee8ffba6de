#include "compiler/Rewrite.hpp"

#include "compiler/Windows.hpp"

#include <algorithm>
#include <utility>

namespace poplar::compiler {

ValueId addValue(ValueProgram &program, support::DataType type,
                 support::Shape shape, std::string name) {
  Value value;
  value.type = type;
  value.shape = std::move(shape);
  value.name = std::move(name);
  program.values.push_back(std::move(value));
  return ValueId(program.values.size() - 1);
}

Node makePackingCopy(ValueProgram &program, const Window &source,
                     const std::string &name, Window &packed) {
  Window distinct = source;
  for (std::size_t d = 0; d < distinct.shape.size(); ++d) {
    if (distinct.strides[d] == 0) {
      distinct.shape[d] = 1;
    }
  }
  const ValueId value =
      addValue(program, program[source.value].type, distinct.shape, name);
  Node copy;
  copy.op = NodeOp::Copy;
  copy.name = name;
  copy.inputs.push_back(distinct);
  copy.outputs.push_back({wholeWindow(value, program[value]), {}});
  packed = copy.outputs[0].window;
  packed.shape = source.shape;
  for (std::size_t d = 0; d < packed.shape.size(); ++d) {
    if (source.strides[d] == 0) {
      packed.strides[d] = 0;
    }
  }
  return copy;
}

Node makeDenseCopy(ValueProgram &program, const Window &source,
                   const std::string &name, Window &dense) {
  const ValueId value =
      addValue(program, program[source.value].type, source.shape, name);
  dense = wholeWindow(value, program[value]);
  Node copy;
  copy.op = NodeOp::Copy;
  copy.name = name;
  copy.inputs.push_back(source);
  copy.outputs.push_back({dense, {}});
  return copy;
}

Node makeUnpackingCopy(const Window &packed, Definition target,
                       const std::string &name) {
  Node copy;
  copy.op = NodeOp::Copy;
  copy.name = name;
  copy.inputs.push_back(packed);
  copy.outputs.push_back(std::move(target));
  return copy;
}

bool canOverwrite(const Node &node, std::size_t input, std::size_t output,
                  const Window &window) {
  if (!isSameWindow(node.inputs[input], window)) {
    return false;
  }
  if (node.op != NodeOp::Kernel) {
    return true; // a copy onto itself
  }
  return std::any_of(node.kind->inPlace.begin(), node.kind->inPlace.end(),
                     [&](const kernels::InPlacePair &pair) {
                       return pair.input == input && pair.output == output;
                     });
}

void NodeEdits::insertBefore(const Node &node, Node added) {
  before_[&node].push_back(std::move(added));
}

void NodeEdits::insertAfter(const Node &node, Node added) {
  after_[&node].push_back(std::move(added));
}

void NodeEdits::apply(Region &region) {
  if (isEmpty()) {
    return;
  }
  const auto moveAll = [](auto &from, const Node *key, std::vector<Node> &to) {
    if (const auto found = from.find(key); found != from.end()) {
      for (Node &node : found->second) {
        to.push_back(std::move(node));
      }
    }
  };
  std::vector<Node> nodes;
  nodes.reserve(region.nodes.size());
  for (Node &node : region.nodes) {
    if (node.loop != nullptr) {
      apply(node.loop->body);
    }
    moveAll(before_, &node, nodes);
    const Node *key = &node;
    if (!removed_.contains(key)) {
      nodes.push_back(std::move(node));
    }
    moveAll(after_, key, nodes);
  }
  region.nodes = std::move(nodes);
}

} // namespace poplar::compiler
