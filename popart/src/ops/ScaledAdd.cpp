// The sum of two tensors, each times a number or a scalar tensor.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

// The factor of operand i: an input, named s<i>, or a number.
std::string factorOf(const Op &op, InIndex i) {
  return op.hasInput(i + 2)
             ? fmt::format("s{}", i)
             : fmt::format("({:.9g})", op.attributes.getFloat(
                                           fmt::format("scale{}", i), 1.0f));
}

std::vector<TensorInfo> inferScaledAdd(const Op &op) {
  requireInputCount(op, 2, 4);
  requireFloat(op, 0);
  requireOp(op, op.inShape(0) == op.inShape(1),
            "shapes {} and {} must be the same",
            support::toString(op.inShape(0)), support::toString(op.inShape(1)));
  requireOp(op, op.inInfo(0).dataType() == op.inInfo(1).dataType(),
            "inputs are {} and {}; they must have one type",
            op.inInfo(0).data_type(), op.inInfo(1).data_type());
  for (InIndex i : {2, 3}) {
    if (op.hasInput(i)) {
      requireFloat(op, i);
      requireOp(op, op.inInfo(i).nelms() == 1,
                "scale {} has shape {}; it must have one element", i - 2,
                support::toString(op.inShape(i)));
    }
  }
  return {op.inInfo(0)};
}

void differentiateScaledAdd(GradientBuilder &builder, const Op &op) {
  for (InIndex i : {0, 1}) {
    if (!builder.isWanted(i)) {
      continue;
    }
    std::string names = "g";
    std::vector<TensorId> inputs = {builder.outputGradient(0)};
    if (op.hasInput(i + 2)) {
      names += ",s" + std::to_string(i);
      inputs.push_back(
          builder.addReshape(op.inputs[static_cast<std::size_t>(i) + 2], {}));
    }
    builder.setGradient(i, builder.addElementwise("g*" + factorOf(op, i), names,
                                                  inputs, op.inShape(0)));
  }
}

void lowerScaledAdd(LoweringContext &context, const Op &op) {
  std::vector<std::string_view> names = {"a", "b"};
  std::vector<poplar::Tensor> inputs = {context.in(0), context.in(1)};
  for (InIndex i : {0, 1}) {
    if (op.hasInput(i + 2)) {
      names.push_back(i == 0 ? "s0" : "s1");
      inputs.push_back(context.in(i + 2).reshape({}));
    }
  }
  std::string text = fmt::format("a*{}+b*{}", factorOf(op, 0), factorOf(op, 1));
  context.setOut(0,
                 context.emit(kernels::Expression::parse(text, names), inputs));
}

} // namespace

std::vector<OpRule> scaledAddRules() {
  return {{.domain = "ai.graphcore",
           .type = "ScaledAdd",
           .schema = {.types = types::floats(),
                      .attributes = {{"scale0", 1.0f}, {"scale1", 1.0f}}},
           .infer = inferScaledAdd,
           .differentiate = differentiateScaledAdd,
           .lower = lowerScaledAdd}};
}

} // namespace popart
