#include "compiler/passes/FusePoolActivations.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::ElementwiseOp;

class PoolActivations {
public:
  explicit PoolActivations(ValueProgram &program)
      : program_(program), analysis_(program) {}

  // Changes pools that are not near each other: a change may undo what the
  // analysis knows of the nodes about it. False when there is nothing to do.
  bool run() {
    bool isChanged = false;
    forEachNode(program_.body, [&](Node &node) {
      if (!isKind(node, "maxPool") || hasActivation(node)) {
        return;
      }
      const std::vector<const Node *> near = nodesAbout(node);
      const bool mustWait =
          std::any_of(near.begin(), near.end(),
                      [&](const Node *n) { return touched_.contains(n); });
      if (mustWait || fuseBefore(node) || fuseAfter(node)) {
        touched_.insert(near.begin(), near.end());
        isChanged = true;
      }
    });
    edits_.apply(program_.body);
    return isChanged;
  }

private:
  // The only reader of the value, when nothing else holds on to it.
  Node *soleReader(ValueId value) const {
    const std::span<const ReadOf> reads = analysis_.reads(value);
    return reads.size() == 1 && !analysis_.isPinned(value) ? reads[0].node
                                                           : nullptr;
  }

  // All that a change looks at: the nodes before and after the pool, and those
  // before and after its gradient.
  std::vector<const Node *> nodesAbout(const Node &pool) const {
    std::vector<const Node *> nodes{
        &pool, analysis_.definingNode(pool.inputs[0].value),
        soleReader(pool.outputs[0].window.value)};
    if (const Node *gradient = soleReader(pool.outputs[1].window.value)) {
      nodes.push_back(gradient);
      for (const Window &input : gradient->inputs) {
        nodes.push_back(analysis_.definingNode(input.value));
      }
      for (const Definition &output : gradient->outputs) {
        nodes.push_back(soleReader(output.window.value));
      }
    }
    std::erase(nodes, nullptr);
    return nodes;
  }

  bool isWholeRead(const Window &window) const {
    return isWholeInOrder(window, program_[window.value]) &&
           window.shape == program_[window.value].shape;
  }

  bool isWholeResult(const Definition &output) const {
    return !output.base.isValid() && isWholeRead(output.window);
  }

  bool areInputsIntactAt(const Node &node, const Node &at) const {
    return analysis_.placeOf(node).loop == analysis_.placeOf(at).loop &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const Window &input) {
                         return analysis_.isIntact(input.value,
                                                   analysis_.placeOf(at));
                       });
  }

  // The pool's gradient, if its indices go nowhere else.
  Node *gradientOf(const Node &pool) const {
    Node *gradient = soleReader(pool.outputs[1].window.value);
    return gradient != nullptr && isKind(*gradient, "maxPoolGrad") &&
                   !hasActivation(*gradient)
               ? gradient
               : nullptr;
  }

  static void activate(Node &node) {
    node.attributes.set("activation", std::string("RELU"));
  }

  // relu -> pool; poolGrad -> reluGrad.
  bool fuseBefore(Node &pool) {
    const Window &input = pool.inputs[0];
    const Node *relu = analysis_.definingNode(input.value);
    Node *gradient = gradientOf(pool);
    if (relu == nullptr || gradient == nullptr || !isWholeRead(input) ||
        !(hasActivation(*relu) || soleOperator(*relu) == ElementwiseOp::RELU)) {
      return false;
    }
    const Definition &unpooled = gradient->outputs[0];
    Node *reluGrad = soleReader(unpooled.window.value);
    const auto operands =
        reluGrad == nullptr ? std::nullopt : reluGradientOperands(*reluGrad);
    if (!operands || !isWholeResult(unpooled) ||
        !areInputsIntactAt(*gradient, *reluGrad)) {
      return false;
    }
    const Window &passed = reluGrad->inputs[operands->gradient];
    const Window &result = reluGrad->inputs[operands->result];
    if (passed.value != unpooled.window.value || !isWholeRead(passed) ||
        result.value != input.value || !isWholeRead(result)) {
      return false;
    }
    activate(pool);
    reluGrad->kind = gradient->kind;
    reluGrad->attributes = gradient->attributes;
    reluGrad->inputs = gradient->inputs;
    activate(*reluGrad);
    edits_.remove(*gradient);
    return true;
  }

  // pool -> relu; reluGrad -> poolGrad.
  bool fuseAfter(Node &pool) {
    const ValueId indices = pool.outputs[1].window.value;
    Node *relu = soleReader(pool.outputs[0].window.value);
    if (relu == nullptr || soleOperator(*relu) != ElementwiseOp::RELU ||
        !isWholeResult(pool.outputs[0]) || !isWholeRead(relu->inputs[0]) ||
        !areInputsIntactAt(pool, *relu) || analysis_.isPinned(indices)) {
      return false;
    }
    if (!analysis_.reads(indices).empty() && !skipReluGradient(pool, *relu)) {
      return false;
    }
    activate(pool);
    relu->kind = pool.kind;
    relu->attributes = pool.attributes;
    relu->inputs = pool.inputs;
    relu->outputs.push_back(pool.outputs[1]);
    edits_.remove(pool);
    return true;
  }

  // Lets the pool's gradient read what the RELU's gradient reads.
  bool skipReluGradient(const Node &pool, const Node &relu) {
    Node *gradient = gradientOf(pool);
    if (gradient == nullptr || analysis_.placeOf(*gradient).position <
                                   analysis_.placeOf(relu).position) {
      return false;
    }
    const Window &passed = gradient->inputs[0];
    Node *reluGrad = analysis_.definingNode(passed.value);
    const auto operands =
        reluGrad == nullptr || soleReader(passed.value) != gradient
            ? std::nullopt
            : reluGradientOperands(*reluGrad);
    if (!operands || !isWholeRead(passed) ||
        !isWholeResult(reluGrad->outputs[0])) {
      return false;
    }
    const Window &incoming = reluGrad->inputs[operands->gradient];
    const Window &result = reluGrad->inputs[operands->result];
    if (result.value != relu.outputs[0].window.value || !isWholeRead(result) ||
        !analysis_.isIntact(incoming.value, analysis_.placeOf(*gradient))) {
      return false;
    }
    gradient->inputs[0] = incoming;
    activate(*gradient);
    edits_.remove(*reluGrad);
    return true;
  }

  ValueProgram &program_;
  Analysis analysis_;
  NodeEdits edits_;
  std::unordered_set<const Node *> touched_;
};

} // namespace

void fusePoolActivations(ValueProgram &program) {
  while (PoolActivations(program).run()) {
  }
}

} // namespace poplar::compiler
