// If: one of two subgraphs, which both take all captured tensors. Its gradient
// is an If of the subgraphs' gradients.
#include <ops/Bodies.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/BodyGradient.hpp>
#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <support/Shape.hpp>

namespace popart {
namespace {

using poplar::program::Sequence;

std::vector<TensorInfo> infer(const Op &op) {
  requireOp(op,
            op.hasInput(0) && op.inInfo(0).nelms() == 1 &&
                op.inInfo(0).dataType() == DataType::BOOL,
            "the condition must be one BOOL");
  std::vector<TensorInfo> taken = outputInfos(bodyOf(op, "then_branch"));
  std::vector<TensorInfo> other = outputInfos(bodyOf(op, "else_branch"));
  requireOp(op, taken.size() == other.size(),
            "the branches have {} and {} outputs", taken.size(), other.size());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    requireOp(op, taken[i] == other[i],
              "output {} is {}{} in one branch and {}{} in the other", i,
              taken[i].data_type(), support::toString(taken[i].shape()),
              other[i].data_type(), support::toString(other[i].shape()));
  }
  return taken;
}

void differentiate(GradientBuilder &builder, const Op &op) {
  std::vector<bool> wanted;
  std::vector<TensorId> inputs = op.inputs;
  for (InIndex i = 1; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    wanted.push_back(builder.isWanted(i));
  }
  std::vector<bool> arrives;
  for (OutIndex i = 0; i < static_cast<OutIndex>(op.outputs.size()); ++i) {
    arrives.push_back(!builder.outputGradient(i).empty());
    if (arrives.back()) {
      inputs.push_back(builder.outputGradient(i));
    }
  }
  Attributes attributes;
  attributes.set("captured", static_cast<Attributes::Int>(inputs.size() - 1));
  for (const char *branch : {"then_branch", "else_branch"}) {
    const Graph &gradient =
        differentiateBody(bodyOf(op, branch), arrives, wanted);
    attributes.set(branch, Attributes::Graph{gradient.id});
  }
  std::vector<TensorId> gradients =
      builder.addAll("ai.onnx", "If", inputs, attributes);
  std::size_t next = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) {
      builder.setGradient(static_cast<InIndex>(i) + 1, gradients[next++]);
    }
  }
}

void lower(LoweringContext &context, const Op &op) {
  std::vector<poplar::Tensor> inputs;
  for (InIndex i = 1; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    inputs.push_back(context.in(i));
  }
  for (OutIndex i = 0; i < static_cast<OutIndex>(op.outputs.size()); ++i) {
    context.setOut(i, context.addVariable(op.outInfo(i), op.settings.vgraphId,
                                          op.outputs[i]));
  }
  auto branch = [&](const char *name) {
    Sequence program;
    auto results = context.lowerGraph(bodyOf(op, name), inputs, program);
    for (std::size_t i = 0; i < results.size(); ++i) {
      program.add(
          poplar::program::Copy(results[i], context.tensor(op.outputs[i])));
    }
    return program;
  };
  context.program().add(poplar::program::If(
      context.in(0).reshape({}), branch("then_branch"), branch("else_branch")));
}

} // namespace

std::vector<OpRule> ifRules() {
  return {{.domain = "ai.onnx",
           .type = "If",
           .schema = {.versions = {1, 11, 13, 16}},
           .infer = infer,
           .differentiate = differentiate,
           .lower = lower}};
}

} // namespace popart
