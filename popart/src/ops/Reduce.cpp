// Sums and means over dimensions, and the loss that marks any tensor as one.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <numeric>
#include <set>

namespace popart {
namespace {

// The dimensions reduced over, ascending; all when no axes are given.
Attributes::Ints axesOf(const Op &op) {
  const Shape &shape = op.inShape(0);
  if (!op.attributes.hasAttribute("axes")) {
    Attributes::Ints all(shape.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::set<std::int64_t> axes;
  for (std::int64_t axis : op.attributes.getInts("axes", {})) {
    axes.insert(normaliseAxis(op, axis, op.inInfo(0).rank()));
  }
  return {axes.begin(), axes.end()};
}

// The input's shape with the reduced dimensions of size 1.
Shape keptShape(const Op &op) {
  Shape shape = op.inShape(0);
  for (std::int64_t axis : axesOf(op)) {
    shape[static_cast<std::size_t>(axis)] = 1;
  }
  return shape;
}

double scaleOf(const Op &op, bool isMean) {
  auto count = std::max<std::int64_t>(
      1, op.inInfo(0).nelms() /
             std::max<std::int64_t>(1, support::elementCount(keptShape(op))));
  return isMean ? 1.0 / static_cast<double>(count) : 1.0;
}

bool isMean(const Op &op) {
  return op.opid.type == "ReduceMean";
}

std::vector<TensorInfo> inferReduce(const Op &op) {
  requireInputCount(op, 1, 1);
  Shape shape = keptShape(op);
  if (op.attributes.getInt("keepdims", 1) == 0) {
    auto axes = axesOf(op);
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      shape.erase(shape.begin() + *axis);
    }
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

// Every reduced element has the same share in the result.
void spreadGradient(GradientBuilder &builder, const Op &op, double scale) {
  TensorId gradient =
      builder.addReshape(builder.outputGradient(0), keptShape(op));
  builder.setGradient(
      0, builder.addElementwise(scale == 1.0 ? "g" : fmt::format("g*{}", scale),
                                "g", {gradient}, op.inShape(0)));
}

void differentiateReduce(GradientBuilder &builder, const Op &op) {
  spreadGradient(builder, op, scaleOf(op, isMean(op)));
}

void emitReduce(LoweringContext &context, const Op &op, double scale) {
  kernels::Attributes attributes{
      {"op", std::string("ADD")}, {"dims", axesOf(op)}, {"scale", scale}};
  context.setOut(0,
                 context.emit("reduce", attributes, {context.in(0)})[0].reshape(
                     poplarShape(op.outShape(0))));
}

void lowerReduce(LoweringContext &context, const Op &op) {
  emitReduce(context, op, scaleOf(op, isMean(op)));
}

std::vector<TensorInfo> inferIdentityLoss(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  return {reductionOf(op) == ReductionType::NoReduction
              ? op.inInfo(0)
              : TensorInfo(op.inInfo(0).dataType(), {})};
}

void differentiateIdentityLoss(GradientBuilder &builder, const Op &op) {
  if (reductionOf(op) == ReductionType::NoReduction) {
    builder.setGradient(0, builder.outputGradient(0));
  } else {
    spreadGradient(builder, op,
                   scaleOf(op, reductionOf(op) == ReductionType::Mean));
  }
}

void lowerIdentityLoss(LoweringContext &context, const Op &op) {
  if (reductionOf(op) == ReductionType::NoReduction) {
    context.setOut(0, context.in(0));
  } else {
    emitReduce(context, op,
               scaleOf(op, reductionOf(op) == ReductionType::Mean));
  }
}

} // namespace

std::vector<OpRule> reduceRules() {
  return {{.domain = "ai.onnx",
           .type = "ReduceSum",
           .infer = inferReduce,
           .differentiate = differentiateReduce,
           .lower = lowerReduce},
          {.domain = "ai.onnx",
           .type = "ReduceMean",
           .infer = inferReduce,
           .differentiate = differentiateReduce,
           .lower = lowerReduce},
          {.domain = "ai.graphcore",
           .type = "IdentityLoss",
           .infer = inferIdentityLoss,
           .differentiate = differentiateIdentityLoss,
           .lower = lowerIdentityLoss}};
}

} // namespace popart
