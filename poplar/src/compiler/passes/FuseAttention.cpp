#include "compiler/passes/FuseAttention.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::ElementwiseOp;

bool isPlainProduct(const Node *node) {
  return node != nullptr && isKind(*node, "matmul") &&
         node->inputs.size() == 2 && !hasActivation(*node);
}

// One number for all elements.
bool isScalar(const Window &window) {
  return std::all_of(window.strides.begin(), window.strides.end(),
                     [](std::int64_t stride) { return stride == 0; });
}

// The operands of a node that will be an "attention", collected from the last
// of its nodes upwards.
class Match {
public:
  Match(const ValueProgram &program, const Analysis &analysis, Node &mix)
      : program_(program), analysis_(analysis), mix_(mix) {}

  // Whether the node is the second product of an attention.
  bool find() {
    if (!isPlainProduct(&mix_)) {
      return false;
    }
    const Node *softmax = takeSource(mix_, 0);
    if (softmax == nullptr || !isKind(*softmax, "softmax") ||
        softmax->inputs[0].shape.back() != scoreShape().back()) {
      return false;
    }
    const Node *scores = takeSource(*softmax, 0);
    if (scores != nullptr && soleOperator(*scores) == ElementwiseOp::ADD) {
      scores = takeMask(*scores);
    }
    if (scores != nullptr && takeScale(*scores)) {
      scores = takeSource(*scores, 0);
    }
    if (!isPlainProduct(scores) ||
        scores->outputs[0].window.shape != scoreShape()) {
      return false;
    }
    q_ = queries(*scores);
    k_ = scores->inputs[1];
    const std::size_t rank = k_.shape.size();
    std::swap(k_.shape[rank - 2], k_.shape[rank - 1]);
    std::swap(k_.strides[rank - 2], k_.strides[rank - 1]);
    return isAvailable();
  }

  void replace(NodeEdits &edits) const {
    mix_.kind = &kernels::findKind("attention");
    mix_.attributes = {{"scaling", scaling_},
                       {"mask", std::int64_t{mask_.has_value()}}};
    mix_.inputs = inputs();
    for (const Node *node : sources_) {
      edits.remove(*node);
    }
  }

private:
  const support::Shape &scoreShape() const { return mix_.inputs[0].shape; }

  // The node whose whole result the input shows in order, if nobody else reads
  // that.
  const Node *soleSource(const Node &node, std::size_t input) const {
    const Window &read = node.inputs[input];
    const Node *source = analysis_.definingNode(read.value);
    const bool isSole =
        source != nullptr && source->op == NodeOp::Kernel &&
        source->outputs.size() == 1 && !source->outputs[0].base.isValid() &&
        !analysis_.isPinned(read.value) &&
        analysis_.reads(read.value).size() == 1 &&
        analysis_.placeOf(*source).loop == analysis_.placeOf(node).loop &&
        isWholeInOrder(read, program_[read.value]) &&
        isWholeInOrder(source->outputs[0].window, program_[read.value]);
    return isSole ? source : nullptr;
  }
  const Node *takeSource(const Node &node, std::size_t input) {
    const Node *source = soleSource(node, input);
    if (source != nullptr) {
      sources_.push_back(source);
    }
    return source;
  }

  // The node that the mask is added to.
  const Node *takeMask(const Node &sum) {
    const std::size_t scores = soleSource(sum, 0) != nullptr ? 0 : 1;
    mask_ = reshaped(sum.inputs[1 - scores], scoreShape());
    return mask_ ? takeSource(sum, scores) : nullptr;
  }

  // Takes over what the node does to its first input, if it only scales it.
  bool takeScale(const Node &node) {
    const auto op = soleOperator(node);
    if (scale_ ||
        (op != ElementwiseOp::MULTIPLY && op != ElementwiseOp::DIVIDE) ||
        !isScalar(node.inputs[1])) {
      return false;
    }
    scaling_ = op == ElementwiseOp::DIVIDE ? "DIVIDE" : "MULTIPLY";
    scale_ = Window{node.inputs[1].value, node.inputs[1].offset, {}, {}};
    return true;
  }

  // The first operand of the first product, as it is before it is scaled.
  Window queries(const Node &product) {
    const Window &read = product.inputs[0];
    const Node *source = soleSource(product, 0);
    if (source == nullptr || !isKind(*source, "elementwise")) {
      return read;
    }
    const auto seen =
        seeThrough(read, source->outputs[0].window, source->inputs[0]);
    if (!seen || !takeScale(*source)) {
      return read;
    }
    sources_.push_back(source);
    return *seen;
  }

  std::vector<Window> inputs() const {
    std::vector<Window> windows = {q_, k_, mix_.inputs[1]};
    for (const auto &more : {scale_, mask_}) {
      if (more) {
        windows.push_back(*more);
      }
    }
    return windows;
  }

  bool isAvailable() const {
    const Place place = analysis_.placeOf(mix_);
    const std::vector<Window> windows = inputs();
    return std::all_of(
        windows.begin(), windows.end(), [&](const Window &window) {
          return program_[window.value].type == support::DataType::Float &&
                 analysis_.isIntact(window.value, place);
        });
  }

  const ValueProgram &program_;
  const Analysis &analysis_;
  Node &mix_;
  std::vector<const Node *> sources_; // that it stands for
  Window q_, k_;
  std::string scaling_;
  std::optional<Window> scale_, mask_;
};

} // namespace

void fuseAttention(ValueProgram &program) {
  const Analysis analysis(program);
  NodeEdits edits;
  forEachNode(program.body, [&](Node &node) {
    Match match(program, analysis, node);
    if (match.find()) {
      match.replace(edits);
    }
  });
  edits.apply(program.body);
}

} // namespace poplar::compiler
