#include "compiler/passes/SplitGroups.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace poplar::compiler {
namespace {

// Where a dimension is cut: into extent / inner and inner.
struct Cut {
  std::size_t dim = 0;
  std::int64_t inner = 1;

  Window of(Window window) const {
    const auto at = static_cast<std::ptrdiff_t>(dim);
    const std::int64_t extent = window.shape[dim];
    const std::int64_t stride = window.strides[dim];
    window.shape[dim] = inner;
    window.shape.insert(window.shape.begin() + at, extent / inner);
    window.strides.insert(window.strides.begin() + at, stride * inner);
    return window;
  }
};

// How many dimensions of the node's operands, from the first on, may be cut.
std::size_t cuttableDims(const Node &node) {
  const bool isGrouped =
      isKind(node, "matmul") && node.outputs[0].window.shape.size() == 3;
  return isGrouped                     ? 1
         : isKind(node, "elementwise") ? node.outputs[0].window.shape.size()
                                       : 0;
}

// The cut after which `window`, onto the value of `target`, is seen through a
// flow from `target` to `source` as one window. It is where the window's steps
// come to the end of a dimension of the target.
std::optional<Cut> findCut(const Window &window, std::size_t dims,
                           const Window &target, const Window &source) {
  if (seeThrough(window, target, source)) {
    return std::nullopt;
  }
  for (std::size_t d = 0; d < dims; ++d) {
    for (std::size_t t = 0; t < target.shape.size(); ++t) {
      const std::int64_t reach = target.shape[t] * target.strides[t];
      const std::int64_t step = window.strides[d];
      if (step <= 0 || reach % step != 0) {
        continue;
      }
      const Cut cut{d, reach / step};
      const std::int64_t extent = window.shape[d];
      if (cut.inner > 1 && cut.inner < extent && extent % cut.inner == 0 &&
          seeThrough(cut.of(window), target, source)) {
        return cut;
      }
    }
  }
  return std::nullopt;
}

void apply(const Cut &cut, Node &node) {
  Window &result = node.outputs[0].window;
  const std::size_t rank = result.shape.size();
  for (Window &input : node.inputs) {
    if (input.shape.size() == rank) { // all but a bias
      input = cut.of(input);
    }
  }
  result = cut.of(result);
}

void splitReaders(const Analysis &analysis, const Node &copy) {
  const Window &target = copy.outputs[0].window;
  for (const ReadOf &read : analysis.reads(target.value)) {
    const auto cut = findCut(read.node->inputs[read.input],
                             cuttableDims(*read.node), target, copy.inputs[0]);
    if (cut) {
      apply(*cut, *read.node);
    }
  }
}

void splitProducer(const Analysis &analysis, const Node &copy) {
  const Window &source = copy.inputs[0];
  Node *producer = analysis.definingNode(source.value);
  if (producer == nullptr || cuttableDims(*producer) == 0 ||
      analysis.reads(source.value).size() != 1) {
    return;
  }
  const auto cut = findCut(producer->outputs[0].window, cuttableDims(*producer),
                           source, copy.outputs[0].window);
  if (cut) {
    apply(*cut, *producer);
  }
}

} // namespace

void splitGroups(ValueProgram &program) {
  const Analysis analysis(program);
  forEachNode(program.body, [&](const Node &node) {
    if (node.op == NodeOp::Copy) {
      splitReaders(analysis, node);
      splitProducer(analysis, node);
    }
  });
}

} // namespace poplar::compiler
