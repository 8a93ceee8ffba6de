#include "compiler/passes/StoreTransposed.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>

namespace poplar::compiler {
namespace {

// The window that every reader uses, when it shows the whole value in another
// order than it is stored in.
const Window *findTransposedRead(const ValueProgram &program,
                                 const Analysis &analysis, ValueId value) {
  const std::span<const ReadOf> reads = analysis.reads(value);
  if (analysis.isPinned(value) || reads.empty()) {
    return nullptr;
  }
  const Window &first = reads[0].node->inputs[reads[0].input];
  const bool isShared =
      std::all_of(reads.begin(), reads.end(), [&](const ReadOf &read) {
        return isSameWindow(read.node->inputs[read.input], first);
      });
  return isShared && isWholeInAnyOrder(first, program[value]) &&
                 !isWholeInOrder(first, program[value])
             ? &first
             : nullptr;
}

} // namespace

void storeTransposed(ValueProgram &program) {
  const Analysis analysis(program);
  forEachNode(program.body, [&](Node &node) {
    if (node.op != NodeOp::Kernel || node.kind->name != "matmul") {
      return;
    }
    Definition &output = node.outputs[0];
    const ValueId value = output.window.value;
    const Window *read = findTransposedRead(program, analysis, value);
    if (read == nullptr || output.base.isValid()) {
      return;
    }
    const Window inReadOrder = {value, 0, read->shape,
                                support::rowMajorStrides(read->shape)};
    const auto window = seeThrough(output.window, *read, inReadOrder);
    if (!window) {
      return;
    }
    output.window = *window;
    program[value].shape = inReadOrder.shape;
    for (const ReadOf &reader : analysis.reads(value)) {
      Window &input = reader.node->inputs[reader.input];
      input.strides = support::rowMajorStrides(input.shape);
    }
  });
}

} // namespace poplar::compiler
