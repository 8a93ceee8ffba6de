#include "compiler/passes/FuseEpilogues.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace poplar::compiler {
namespace {

using kernels::ElementwiseOp;

// The node reads all of a product and writes all of its own result, both in
// order, whatever it calls their rows; the last dimension is the product's.
bool isSameInOtherShape(const ValueProgram &program, const Node &node,
                        const Window &read, const Definition &output) {
  const Definition &result = node.outputs[0];
  return !result.base.isValid() && !read.shape.empty() &&
         read.shape.back() == output.window.shape.back() &&
         isWholeInOrder(read, program[read.value]) &&
         isWholeInOrder(output.window, program[read.value]) &&
         isWholeInOrder(result.window, program[result.window.value]);
}

// The producer of an input that nothing but this input reads, in the same loop
// and with all its own inputs still there.
Node *soleProducer(const ValueProgram &program, const Analysis &analysis,
                   const Node &node, std::size_t input) {
  const Window &read = node.inputs[input];
  Node *producer = analysis.definingNode(read.value);
  if (producer == nullptr || producer->op != NodeOp::Kernel ||
      analysis.isPinned(read.value) || analysis.reads(read.value).size() != 1 ||
      producer->outputs[0].window.value != read.value) {
    return nullptr;
  }
  const Definition &output = producer->outputs[0];
  const Place place = analysis.placeOf(node);
  const bool isSame = output.window.shape == read.shape
                          ? isSameWindow(output.window, read) &&
                                isWholeInAnyOrder(read, program[read.value])
                          : isKind(*producer, "matmul") &&
                                isSameInOtherShape(program, node, read, output);
  const bool isUsable =
      !output.base.isValid() && isSame &&
      analysis.placeOf(*producer).loop == place.loop &&
      std::all_of(
          producer->inputs.begin(), producer->inputs.end(),
          [&](const Window &i) { return analysis.isIntact(i.value, place); });
  return isUsable ? producer : nullptr;
}

// The bias as the kind takes it, [channels], when the window repeats it along
// all dimensions but `channel`.
std::optional<Window> findBias(const Window &window, std::size_t channel) {
  for (std::size_t d = 0; d < window.shape.size(); ++d) {
    if (d != channel && window.shape[d] != 1 && window.strides[d] != 0) {
      return std::nullopt;
    }
  }
  return Window{window.value,
                window.offset,
                {window.shape[channel]},
                {window.strides[channel]}};
}

// Replaces `node` by `producer`, which now gives node's result.
void take(Node &node, Node &producer, NodeEdits &edits) {
  node.kind = producer.kind;
  node.attributes = producer.attributes;
  node.inputs = producer.inputs;
  const support::Shape &shape = producer.outputs[0].window.shape;
  Window &result = node.outputs[0].window;
  if (result.shape != shape) {
    result.shape = shape;
    result.strides = support::rowMajorStrides(shape);
  }
  edits.remove(producer);
}

bool takesEpilogue(const Node *producer) {
  return producer != nullptr &&
         (isKind(*producer, "matmul") || isKind(*producer, "convolution")) &&
         producer->outputs.size() == 1 && !hasActivation(*producer);
}

bool fuseBias(const ValueProgram &program, const Analysis &analysis, Node &node,
              NodeEdits &edits) {
  for (std::size_t i = 0; i < 2; ++i) {
    Node *producer = soleProducer(program, analysis, node, i);
    if (!takesEpilogue(producer) || producer->attributes.getInt("bias") != 0) {
      continue;
    }
    const Window &other = node.inputs[1 - i];
    const std::size_t channel =
        isKind(*producer, "matmul") ? other.shape.size() - 1 : 1;
    const auto bias = findBias(other, channel);
    if (!bias || program[other.value].type !=
                     program[producer->outputs[0].window.value].type) {
      continue;
    }
    take(node, *producer, edits);
    node.inputs.push_back(*bias);
    node.attributes.set("bias", std::int64_t{1});
    return true;
  }
  return false;
}

bool fuseRelu(const ValueProgram &program, const Analysis &analysis, Node &node,
              NodeEdits &edits) {
  Node *producer = soleProducer(program, analysis, node, 0);
  if (!takesEpilogue(producer)) {
    return false;
  }
  take(node, *producer, edits);
  node.attributes.set("activation", std::string("RELU"));
  return true;
}

bool fuseIntoPool(const ValueProgram &program, const Analysis &analysis,
                  Node &pool, NodeEdits &edits) {
  Node *producer = soleProducer(program, analysis, pool, 0);
  if (producer == nullptr || hasActivation(pool) ||
      soleOperator(*producer) != ElementwiseOp::RELU) {
    return false;
  }
  pool.inputs[0] = producer->inputs[0];
  pool.attributes.set("activation", std::string("RELU"));
  edits.remove(*producer);
  return true;
}

bool fuse(const ValueProgram &program, const Analysis &analysis, Node &node,
          NodeEdits &edits) {
  if (isKind(node, "maxPool")) {
    return fuseIntoPool(program, analysis, node, edits);
  }
  const auto op = soleOperator(node);
  if (op == ElementwiseOp::ADD) {
    return fuseBias(program, analysis, node, edits);
  }
  if (op == ElementwiseOp::RELU) {
    return fuseRelu(program, analysis, node, edits);
  }
  return false;
}

} // namespace

void fuseEpilogues(ValueProgram &program) {
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    const Analysis analysis(program);
    NodeEdits edits;
    std::unordered_set<const Node *> fused;
    forEachNode(program.body, [&](Node &node) {
      // A node that took over another's place waits for the next round.
      const bool readsFused = std::any_of(
          node.inputs.begin(), node.inputs.end(), [&](const Window &input) {
            return fused.contains(analysis.definingNode(input.value));
          });
      if (!readsFused && fuse(program, analysis, node, edits)) {
        fused.insert(&node);
        isChanged = true;
      }
    });
    edits.apply(program.body);
  }
}

} // namespace poplar::compiler
