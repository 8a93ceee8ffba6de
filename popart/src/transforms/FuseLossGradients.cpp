// The gradient of a softmax and of the negative log-likelihood behind it as
// one: probabilities less one at the label. Taken one after the other, they
// divide by a probability and multiply by it again, which nothing survives
// where it is tiny: a network that is wrong and sure of it would stop learning.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

namespace popart {
namespace {

constexpr const char *pattern = "SoftmaxGradDirect";

bool isAspens(const Op *op, const char *type) {
  return op && op->opid.domain == "aspen" && op->opid.type == type;
}

// The gradient of the loss that alone is what comes to this softmax, null if
// something else does or if somebody wants to see it.
Op *lossGradientBefore(const PassContext &context, const Op &softmax) {
  const Tensor &arriving = context.graph.getTensor(softmax.inputs[0]);
  Op *loss = arriving.producer;
  // It has three inputs if it is one of probabilities.
  bool isAlone = isAspens(loss, "NlllossGrad") && loss->inputs.size() == 3 &&
                 loss->inputs[2] == softmax.inputs[1] &&
                 arriving.consumers.size() == 1 &&
                 !context.ir.dataFlow.isAnchored(arriving.id);
  // The loss is about the last dimension; softmax may be about another.
  bool isSameAxis =
      softmax.attributes.getInt("axis", 0) == softmax.inInfo(1).rank() - 1;
  return isAlone && isSameAxis &&
                 loss->settings.vgraphId == softmax.settings.vgraphId
             ? loss
             : nullptr;
}

} // namespace

void fuseLossGradients(PassContext &context) {
  if (!context.ir.patterns.isPatternEnabled(pattern)) {
    return;
  }
  GraphEditor editor(context.graph);
  std::vector<Op *> ops;
  for (const auto &op : context.graph.getOps()) {
    if (isAspens(op.get(), "SoftmaxGrad") &&
        op->settings.excludePatterns.count(pattern) == 0) {
      ops.push_back(op.get());
    }
  }
  for (Op *softmax : ops) {
    Op *loss = lossGradientBefore(context, *softmax);
    if (!loss) {
      continue;
    }
    TensorId name = softmax->outputs[0];
    TensorId fused =
        editor
            .insertBefore(softmax, {"aspen", "SoftmaxNlllossGrad"},
                          loss->inputs, {}, loss->attributes, softmax->settings)
            .outputs[0];
    editor.replaceReads(name, fused);
    editor.erase(*softmax);
    editor.erase(*loss);
    editor.renameTensor(fused, name);
  }
}

} // namespace popart
