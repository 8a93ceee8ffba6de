// CustomGradient: values with the gradient that somebody says. The inputs are
// the values, which pass; what they were computed from, which gets the
// gradients; and what the subgraph "gradient" captures. It takes the gradients
// of the outputs, zeros where none arrive, and returns one for each input of
// the second kind. The values' own history gets nothing. Where there is no
// subgraph, the attribute "failure" says why, to who needs the gradient.
#include <ops/Bodies.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

InIndex valueCount(const Op &op) {
  return static_cast<InIndex>(op.attributes.getInt("values", 1));
}

bool hasFailed(const Op &op) {
  return op.attributes.hasAttribute("failure");
}

void checkGradient(const Op &op) {
  std::vector<TensorInfo> gradients = outputInfos(bodyOf(op, "gradient"));
  auto given = ownInputs(op) - valueCount(op);
  requireOp(op, static_cast<int>(gradients.size()) == given,
            "the gradient of {} inputs has {} outputs", given,
            gradients.size());
  for (InIndex i = 0; i < given; ++i) {
    requireOp(op,
              gradients[static_cast<std::size_t>(i)] ==
                  op.inInfo(valueCount(op) + i),
              "gradient {} is not like the input that it belongs to", i);
  }
}

std::vector<TensorInfo> infer(const Op &op) {
  if (!hasFailed(op)) {
    checkGradient(op);
  }
  std::vector<TensorInfo> values;
  for (InIndex i = 0; i < valueCount(op); ++i) {
    values.push_back(op.inInfo(i));
  }
  return values;
}

void differentiate(GradientBuilder &builder, const Op &op) {
  support::requireUser<error>(!hasFailed(op), "{}",
                              op.attributes.getString("failure", ""));
  std::vector<TensorId> inputs;
  for (OutIndex i = 0; i < valueCount(op); ++i) {
    const TensorId &gradient = builder.outputGradient(i);
    inputs.push_back(gradient.empty() ? builder.addFill(op.outInfo(i), 0)
                                      : gradient);
  }
  inputs.insert(inputs.end(), op.inputs.begin() + ownInputs(op),
                op.inputs.end());
  auto gradients = builder.addCopyOf(bodyOf(op, "gradient"), inputs);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    builder.setGradient(valueCount(op) + static_cast<InIndex>(i), gradients[i]);
  }
}

void lower(LoweringContext &context, const Op &op) {
  for (InIndex i = 0; i < valueCount(op); ++i) {
    context.setOut(i, context.in(i));
  }
}

} // namespace

std::vector<OpRule> customGradientRules() {
  return {{.domain = "aspen",
           .type = "CustomGradient",
           .infer = infer,
           .differentiate = differentiate,
           .lower = lower}};
}

} // namespace popart
