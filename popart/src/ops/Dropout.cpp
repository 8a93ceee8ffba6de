// Dropout with a decision for each element, or for each of a smaller shape that
// is broadcast. Without a seed, as in inference, nothing is dropped.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>

#include <utility>

namespace popart {
namespace {

// ONNX's inputs since 12: x, ratio?, training_mode?. The gradient and the
// operator of ai.graphcore have the same, the latter two left out.
constexpr InIndex ratioInput = 1;
constexpr InIndex trainingInput = 2;
constexpr InIndex seedIndex = 3;

bool isShaped(const Op &op) {
  return meaningOf(op) == "ShapedDropout";
}

double ratioOf(const Op &op) {
  return op.hasInput(ratioInput)
             ? constantScalar(op, ratioInput)
             : double{op.attributes.getFloat("ratio", 0.5f)};
}

// Whether the model wants anything dropped when it is trained.
bool isOn(const Op &op) {
  if (op.opid.domain == "ai.onnx" && op.opid.version >= 12) {
    return op.hasInput(trainingInput) && constantScalar(op, trainingInput) != 0;
  }
  return op.attributes.getInt("is_test", 0) == 0;
}

InIndex seedOfDropout(const Op &op, bool isTraining) {
  return isTraining && isOn(op) && ratioOf(op) > 0 ? seedIndex : -1;
}

std::vector<TensorInfo> inferDropout(const Op &op) {
  requireInputCount(op, 1, seedIndex + 1);
  requireFloat(op, 0);
  double ratio = ratioOf(op);
  requireOp(op, 0 <= ratio && ratio < 1,
            "ratio {} is given; it must be at least 0 and less than 1", ratio);
  isOn(op); // its input is a constant
  std::vector<TensorInfo> infos = {op.inInfo(0)};
  if (isShaped(op)) {
    Shape shape = op.attributes.getInts("shape", {});
    requireOp(op, broadcastShapes(op, shape, op.inShape(0)) == op.inShape(0),
              "shape {} does not broadcast to {}", support::toString(shape),
              support::toString(op.inShape(0)));
  } else if (op.outputs.size() > 1) {
    infos.emplace_back(op.opid.version >= 10 ? DataType::BOOL
                                             : op.inInfo(0).dataType(),
                       op.inShape(0));
  }
  return infos;
}

// The same decisions for the gradient as for the value.
void differentiateDropout(GradientBuilder &builder, const Op &op) {
  TensorId gradient = builder.outputGradient(0);
  if (gradient.empty()) {
    return; // only the mask is used
  }
  if (op.hasInput(seedIndex)) {
    Attributes attributes = op.attributes;
    attributes.set("ratio", static_cast<float>(ratioOf(op)));
    gradient =
        builder.add("aspen", isShaped(op) ? "ShapedDropout" : "Dropout",
                    {gradient, "", "", op.inputs[seedIndex]}, attributes);
  }
  builder.setGradient(0, gradient);
}

poplar::Tensor drop(LoweringContext &context, const Op &op,
                    const poplar::Tensor &x, double scale) {
  poprand::addCodelets(context.graph());
  poplar::Tensor seed = context.in(seedIndex);
  auto modifier =
      static_cast<std::uint32_t>(op.attributes.getInt("seedModifier", 0));
  double kept = 1 - ratioOf(op);
  if (!isShaped(op)) {
    return poprand::dropout(context.graph(), &seed, modifier, x, x, kept, scale,
                            context.program(), context.debugPath());
  }
  poplar::Tensor like = context.addVariable(
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {})),
      op.settings.vgraphId, op.outputs[0] + "/mask");
  return poprand::shapedDropout(context.graph(), &seed, modifier, x, like, kept,
                                scale, context.program(), context.debugPath());
}

// What was kept, as 1 or true.
poplar::Tensor maskOf(LoweringContext &context, const Op &op) {
  bool isBool = op.outInfo(1).dataType() == DataType::BOOL;
  if (!op.hasInput(seedIndex)) {
    return context.addConstant(op.outInfo(1), 1);
  }
  poplar::Tensor ones = context.addConstant(op.inInfo(0), 1);
  poplar::Tensor kept = drop(context, op, ones, 1);
  const std::string_view names[] = {"kept"};
  return isBool ? context.emit(kernels::Expression::parse("kept!=0", names),
                               {kept})
                : kept;
}

void lowerDropout(LoweringContext &context, const Op &op) {
  context.setOut(0, op.hasInput(seedIndex) ? drop(context, op, context.in(0),
                                                  1 / (1 - ratioOf(op)))
                                           : context.in(0));
  if (op.outputs.size() > 1) {
    context.setOut(1, maskOf(context, op));
  }
}

OpRule dropoutRule(const char *domain, const char *type, OpSchema schema) {
  return {.domain = domain,
          .type = type,
          .schema = std::move(schema),
          .infer = inferDropout,
          .differentiate = differentiateDropout,
          .lower = lowerDropout,
          .seedInput = seedOfDropout};
}

// It has its seed from the operator that it belongs to.
OpRule gradientRule(const char *type) {
  OpRule rule = dropoutRule("aspen", type, {});
  rule.seedInput = nullptr;
  return rule;
}

} // namespace

std::vector<OpRule> dropoutRules() {
  return {
      dropoutRule("ai.onnx", "Dropout", {{6, 7, 10, 12, 13}, types::floats()}),
      dropoutRule("ai.graphcore", "ShapedDropout",
                  {.attributes = {{"shape", Attributes::Ints{}, true},
                                  {"ratio", 0.5f}}}),
      gradientRule("Dropout"), gradientRule("ShapedDropout")};
}

} // namespace popart
