// Activations kept for a later pipeline stage: a stash has one slot for each
// cycle between the stages. The rules only make the tensors; which slot a cycle
// writes and reads is the pipeline's business (lowering/PipelineProgram.cpp).
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferStash(const Op &op) {
  requireInputCount(op, 1, 1);
  Shape shape = op.inShape(0);
  shape.insert(shape.begin(), op.attributes.getInt("slots", 1));
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

std::vector<TensorInfo> inferRestore(const Op &op) {
  requireInputCount(op, 1, 1);
  const Shape &stash = op.inShape(0);
  return {
      TensorInfo(op.inInfo(0).dataType(), {stash.begin() + 1, stash.end()})};
}

void makeOutput(LoweringContext &context, const Op &op) {
  context.setOut(0, context.addVariable(op.outInfo(0), op.settings.vgraphId,
                                        op.outputs[0]));
}

} // namespace

std::vector<OpRule> stashRules() {
  return {{.domain = "aspen",
           .type = "Stash",
           .infer = inferStash,
           .lower = makeOutput},
          {.domain = "aspen",
           .type = "Restore",
           .infer = inferRestore,
           .lower = makeOutput}};
}

} // namespace popart
