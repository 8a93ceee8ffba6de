#include "compiler/passes/ReadDropped.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <optional>

namespace poplar::compiler {
namespace {

bool isEqual(const Window &a, const Window &b) {
  return a.value == b.value && a.offset == b.offset && a.shape == b.shape &&
         a.strides == b.strides;
}

// The same value, or two that equal copies have put together from the same
// parts, as each dropout does with its seed.
bool isSameValue(const Analysis &analysis, ValueId a, ValueId b) {
  if (a == b) {
    return true;
  }
  const Node *first = analysis.definingNode(a);
  const Node *second = analysis.definingNode(b);
  if (first == nullptr || second == nullptr || first->op != NodeOp::Copy ||
      second->op != NodeOp::Copy ||
      !isEqual(first->inputs[0], second->inputs[0])) {
    return false;
  }
  const Definition &one = first->outputs[0];
  Definition other = second->outputs[0];
  other.window.value = a;
  const bool hasBases = one.base.isValid() && other.base.isValid();
  return isEqual(one.window, other.window) &&
         (hasBases ? isSameValue(analysis, one.base, other.base)
                   : !one.base.isValid() && !other.base.isValid());
}

// Both keep the same elements, and none becomes zero by its scale.
bool dropsAlike(const Analysis &analysis, const Node &a, const Node &b) {
  Window seed = b.inputs[1];
  seed.value = a.inputs[1].value;
  return a.attributes == b.attributes && a.attributes.getFloat("scale") >= 1 &&
         isEqual(a.inputs[1], seed) &&
         isSameValue(analysis, a.inputs[1].value, b.inputs[1].value);
}

// What `dropout` made of the elements of `read`, if it numbers them as
// `gradient`, a dropout whose result `taken` shows, numbers its own.
std::optional<Window> findDropped(const Analysis &analysis, const Node &dropout,
                                  const Window &read, const Node &gradient,
                                  const Window &taken) {
  const Window &dropped = dropout.outputs[0].window;
  const auto seen = seeThrough(read, dropout.inputs[0], dropped);
  if (!seen || dropout.outputs[0].base.isValid() ||
      dropped.shape != gradient.outputs[0].window.shape ||
      !dropsAlike(analysis, dropout, gradient)) {
    return std::nullopt;
  }
  // Element i of one dropout meets element i of the other.
  const auto met = seeThrough(taken, gradient.outputs[0].window, dropped);
  return met && isSameWindow(*met, *seen) ? seen : std::nullopt;
}

void readDroppedIn(const Analysis &analysis, Node &node) {
  const auto operands = reluGradientOperands(node);
  if (!operands) {
    return;
  }
  const Window &taken = node.inputs[operands->gradient];
  Window &result = node.inputs[operands->result];
  const Node *gradient = analysis.definingNode(taken.value);
  if (gradient == nullptr || !isKind(*gradient, "dropout")) {
    return;
  }
  const Place place = analysis.placeOf(node);
  for (const ReadOf &read : analysis.reads(result.value)) {
    if (read.input != 0 || !isKind(*read.node, "dropout") ||
        read.node == gradient) {
      continue;
    }
    const auto dropped =
        findDropped(analysis, *read.node, result, *gradient, taken);
    if (dropped && analysis.isIntact(dropped->value, place)) {
      result = *dropped;
      return;
    }
  }
}

} // namespace

void readDropped(ValueProgram &program) {
  const Analysis analysis(program);
  forEachNode(program.body, [&](Node &node) { readDroppedIn(analysis, node); });
}

} // namespace poplar::compiler
