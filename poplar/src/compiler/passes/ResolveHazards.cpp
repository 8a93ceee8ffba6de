#include "compiler/passes/ResolveHazards.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

namespace poplar::compiler {
namespace {

// Some output is written over what the input reads before it may be.
bool isHazard(const Analysis &analysis, const Node &node, std::size_t input) {
  if (node.op == NodeOp::Vertices) {
    return false; // no vertex reads what another writes: checked before
  }
  const Window &read = node.inputs[input];
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const Window &written = node.outputs[o].window;
    if (analysis.isSameClass(read.value, written.value) &&
        elementRange(read).overlaps(elementRange(written)) &&
        !canOverwrite(node, input, o, written)) {
      return true;
    }
  }
  return false;
}

} // namespace

void resolveHazards(ValueProgram &program) {
  const Analysis analysis(program);
  NodeEdits edits;
  forEachNode(program.body, [&](Node &node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (isHazard(analysis, node, i)) {
        Window packed;
        edits.insertBefore(
            node, makePackingCopy(program, node.inputs[i], node.name, packed));
        node.inputs[i] = packed;
      }
    }
  });
  edits.apply(program.body);
}

} // namespace poplar::compiler
