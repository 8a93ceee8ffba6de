#include "compiler/passes/ForwardCopies.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace poplar::compiler {
namespace {

bool isPlainCopy(const ValueProgram &program, const Node &node) {
  if (node.op != NodeOp::Copy) {
    return false;
  }
  const Value &from = program[node.inputs[0].value];
  const Value &to = program[node.outputs[0].window.value];
  return from.type == to.type && from.layout == kernels::Layout::Plain &&
         to.layout == kernels::Layout::Plain;
}

// Streams move bytes as they lie; a loop would pay for a scattered read in
// every iteration.
bool takesWindow(const Analysis &analysis, const Node &reader, const Node &copy,
                 const Window &window) {
  if (reader.op == NodeOp::Vertices) {
    return false; // wants the variable itself
  }
  if (isContiguous(window)) {
    return true;
  }
  return reader.op != NodeOp::StreamOut && reader.op != NodeOp::Host &&
         analysis.placeOf(reader).loop == analysis.placeOf(copy).loop;
}

bool forwardReads(const Analysis &analysis, const Node &copy) {
  const Window &source = copy.inputs[0];
  const Window &target = copy.outputs[0].window;
  bool isChanged = false;
  for (const ReadOf &read : analysis.reads(target.value)) {
    Window &input = read.node->inputs[read.input];
    if (input.value != target.value) {
      continue; // forwarded already
    }
    const auto seen = seeThrough(input, target, source);
    if (seen && takesWindow(analysis, *read.node, copy, *seen) &&
        analysis.isIntact(source.value, analysis.placeOf(*read.node))) {
      input = *seen;
      isChanged = true;
    }
  }
  return isChanged;
}

// Nothing else uses the storage that `copy` fills between the producer and the
// copy.
bool isFreeBetween(const Analysis &analysis, const Node &producer,
                   const Node &copy) {
  const Definition &target = copy.outputs[0];
  const Place from = analysis.placeOf(producer);
  const Place to = analysis.placeOf(copy);
  return from.loop == to.loop && from.position < to.position &&
         !analysis.isClassTouchedBetween(target.window.value, from, to) &&
         (!target.base.isValid() ||
          analysis.definition(target.base).position < from.position);
}

// What the producer reads of that storage it may overwrite in place.
bool mayOverwriteInputs(const Analysis &analysis, const Node &producer,
                        std::size_t output, const Window &window,
                        ValueId target) {
  for (std::uint32_t i = 0; i < producer.inputs.size(); ++i) {
    const Window &input = producer.inputs[i];
    if (analysis.isSameClass(input.value, target) &&
        !canOverwrite(producer, i, output, window)) {
      return false;
    }
  }
  return true;
}

// Returns the producer that gives the copy's result now, or null.
Node *forwardResult(const ValueProgram &program, const Analysis &analysis,
                    const Node &copy) {
  const Window &read = copy.inputs[0];
  const Definition &target = copy.outputs[0];
  Node *producer = analysis.definingNode(read.value);
  if (producer == nullptr || producer->op == NodeOp::Loop ||
      analysis.isPinned(read.value) || analysis.reads(read.value).size() != 1 ||
      !isWholeInAnyOrder(read, program[read.value]) ||
      !isFreeBetween(analysis, *producer, copy)) {
    return nullptr;
  }
  const auto output = std::find_if(
      producer->outputs.begin(), producer->outputs.end(),
      [&](const Definition &o) { return o.window.value == read.value; });
  const auto window = seeThrough(output->window, read, target.window);
  if (output->base.isValid() || !window || producer->op == NodeOp::Vertices ||
      ((producer->op == NodeOp::StreamIn || producer->op == NodeOp::Host) &&
       !isContiguous(*window)) ||
      !mayOverwriteInputs(
          analysis, *producer,
          static_cast<std::size_t>(output - producer->outputs.begin()), *window,
          target.window.value)) {
    return nullptr;
  }
  *output = {*window, target.base};
  return producer;
}

} // namespace

void forwardCopies(ValueProgram &program) {
  // Copies of copies: each round shortens every chain by one.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    const Analysis analysis(program);
    forEachNode(program.body, [&](Node &node) {
      if (isPlainCopy(program, node) && !node.outputs[0].base.isValid() &&
          isWholeInAnyOrder(node.outputs[0].window,
                            program[node.outputs[0].window.value])) {
        isChanged = forwardReads(analysis, node) || isChanged;
      }
    });
  }
}

// In order, and from the producer on again where that is a copy itself: what a
// definition that moves forward makes possible comes after it.
void forwardResults(ValueProgram &program) {
  Analysis analysis(program);
  std::vector<Node *> nodes(analysis.positions());
  forEachNode(program.body, [&](Node &node) {
    nodes[analysis.placeOf(node).position] = &node;
  });
  NodeEdits edits;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const Node *copy = nodes[at];
    if (copy == nullptr || !isPlainCopy(program, *copy)) {
      continue;
    }
    Node *producer = forwardResult(program, analysis, *copy);
    if (producer == nullptr) {
      continue;
    }
    analysis.defineInPlaceOf(copy->inputs[0].value,
                             copy->outputs[0].window.value, *producer);
    edits.remove(*copy);
    nodes[at] = nullptr;
    if (producer->op == NodeOp::Copy) {
      at = analysis.placeOf(*producer).position - 1;
    }
  }
  edits.apply(program.body);
}

} // namespace poplar::compiler
