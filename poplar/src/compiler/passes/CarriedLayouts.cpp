#include "compiler/passes/CarriedLayouts.hpp"

#include "compiler/Windows.hpp"

#include <algorithm>
#include <array>

namespace poplar::compiler {

using kernels::Layout;

bool isElementwise(const kernels::Kind &kind) {
  constexpr std::array<std::string_view, 4> names = {
      "elementwise", "sgdUpdate", "adamUpdate", "rmspropUpdate"};
  return std::find(names.begin(), names.end(), kind.name) != names.end();
}

void CarriedLayouts::collect(const Region &region, Body &body) const {
  for (const Node &node : region.nodes) {
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const Window &window = node.outputs[o].window;
      if (node.op == NodeOp::Kernel &&
          isWholeInOrder(window, program_[window.value])) {
        body.makers[window.value] = {&node, o};
      }
    }
  }
}

// Finds what the readers of the arguments want; `plain` are those that somebody
// wants as they are.
void CarriedLayouts::addReads(const Region &region, Body &body,
                              std::unordered_set<ValueId> &plain) const {
  for (const Node &node : region.nodes) {
    for (const Definition &output : node.outputs) {
      plain.insert(output.base);
    }
    if (node.loop != nullptr) {
      for (const Carried &carried : node.loop->carried) {
        plain.insert(carried.initial);
      }
      addReads(node.loop->body, body, plain);
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Window &input = node.inputs[i];
      const auto argument = body.arguments.find(input.value);
      if (argument == body.arguments.end()) {
        continue;
      }
      if (node.op != NodeOp::Kernel ||
          !isWholeInOrder(input, program_[input.value])) {
        plain.insert(input.value);
      } else if (!isElementwise(*node.kind)) {
        const Layout wanted = wanted_(node, i);
        if (wanted == Layout::Plain) {
          plain.insert(input.value);
        } else if (argument->second == Layout::Plain) {
          argument->second = wanted;
        }
      }
    }
  }
}

// In which layout the body makes a value; Plain where it is not known.
Layout CarriedLayouts::layoutOf(const Body &body, ValueId value) const {
  if (const auto found = body.arguments.find(value);
      found != body.arguments.end()) {
    return found->second;
  }
  const auto found = body.makers.find(value);
  if (found == body.makers.end()) {
    return Layout::Plain;
  }
  const auto &[node, output] = found->second;
  if (!isElementwise(*node->kind)) {
    return wanted_(*node, node->inputs.size() + output);
  }
  Layout layout = Layout::Plain;
  for (const Window &input : node->inputs) {
    const support::Shape &shape = program_[input.value].shape;
    if (support::elementCount(shape) == 1) {
      continue;
    }
    if (shape != program_[value].shape) { // the step that Adam counts
      return Layout::Plain;
    }
    if (body.adaptable.contains(input.value)) {
      continue;
    }
    const Layout made = layoutOf(body, input.value);
    if (made == Layout::Plain || (layout != Layout::Plain && made != layout)) {
      return Layout::Plain;
    }
    layout = made;
  }
  return layout;
}

std::vector<Layout> CarriedLayouts::of(const Node &loop) {
  const std::vector<Carried> &carried = loop.loop->carried;
  Body body;
  collect(loop.loop->body, body);
  for (const Carried &c : carried) {
    if (c.argument.isValid() && c.initial.isValid()) {
      body.arguments[c.argument] = Layout::Plain;
    }
  }
  std::unordered_set<ValueId> plain;
  addReads(loop.loop->body, body, plain);
  for (const auto &[argument, layout] : body.arguments) {
    if (layout == Layout::Plain && !plain.contains(argument)) {
      body.adaptable.insert(argument);
    }
  }
  for (const ValueId argument : plain) {
    body.arguments.erase(argument);
  }
  std::vector<Layout> layouts(carried.size(), Layout::Plain);
  // What one carried value turns out not to have, another may have relied on.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const auto argument = body.arguments.find(carried[i].argument);
      if (argument == body.arguments.end()) {
        continue;
      }
      layouts[i] = layoutOf(body, carried[i].next);
      if (layouts[i] == Layout::Plain ||
          (!body.adaptable.contains(carried[i].argument) &&
           layouts[i] != argument->second)) {
        layouts[i] = Layout::Plain;
        body.adaptable.erase(carried[i].argument);
        body.arguments.erase(argument);
        isChanged = true;
      }
    }
  }
  return layouts;
}

} // namespace poplar::compiler
