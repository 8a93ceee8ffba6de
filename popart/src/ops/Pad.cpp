// Elements before and after those of each dimension: a value, the nearest
// element, or a reflection. Negative numbers take elements away.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <popops/Pad.hpp>

#include <algorithm>

namespace popart {
namespace {

struct Padding {
  std::vector<std::ptrdiff_t> lower;
  std::vector<std::ptrdiff_t> upper;
};

// All begins, then all ends: an attribute, since 11 a constant input.
Padding paddingOf(const Op &op, std::size_t rank) {
  Attributes::Ints pads =
      op.hasInput(1) ? constantInts(op, 1) : op.attributes.getInts("pads", {});
  requireOp(op, pads.size() == 2 * rank, "{} pads were given; rank {} needs {}",
            pads.size(), rank, 2 * rank);
  auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  return {{pads.begin(), middle}, {middle, pads.end()}};
}

std::string modeOf(const Op &op) {
  return op.attributes.getString("mode", "constant");
}

std::vector<TensorInfo> inferPad(const Op &op) {
  requireInputCount(op, 1, 3);
  std::string mode = modeOf(op);
  requireOp(op, mode == "constant" || mode == "reflect" || mode == "edge",
            "mode {} is not constant, reflect or edge", mode);
  Shape shape = op.inShape(0);
  Padding padding = paddingOf(op, shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t most = std::max(padding.lower[d], padding.upper[d]);
    requireOp(op,
              most <= 0 || mode == "constant" ||
                  (mode == "edge" ? shape[d] > 0 : most < shape[d]),
              "dimension {} of {} has too few elements for {} of mode {}", d,
              support::toString(shape), most, mode);
    shape[d] += padding.lower[d] + padding.upper[d];
    requireOp(op, shape[d] >= 0,
              "dimension {} of {} has fewer elements than "
              "are taken away",
              d, support::toString(op.inShape(0)));
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

void differentiatePad(GradientBuilder &builder, const Op &op) {
  Padding padding = paddingOf(op, op.inShape(0).size());
  Attributes::Ints pads(padding.lower.begin(), padding.lower.end());
  pads.insert(pads.end(), padding.upper.begin(), padding.upper.end());
  if (modeOf(op) == "constant") {
    for (std::int64_t &pad : pads) {
      pad = -pad;
    }
    builder.setGradient(0, builder.add("ai.onnx", "Pad",
                                       {builder.outputGradient(0)},
                                       Attributes().set("pads", pads)));
    return;
  }
  builder.setGradient(0, builder.add("aspen", "PadGrad",
                                     {builder.outputGradient(0)},
                                     Attributes()
                                         .set("pads", pads)
                                         .set("mode", modeOf(op))
                                         .set("shape", op.inShape(0))));
}

double valueOf(const Op &op) {
  return op.hasInput(2) ? constantScalar(op, 2)
                        : double{op.attributes.getFloat("value", 0)};
}

void lowerPad(LoweringContext &context, const Op &op) {
  Padding padding = paddingOf(op, op.inShape(0).size());
  std::string mode = modeOf(op);
  if (mode == "constant") {
    poplar::Tensor value = context.addConstant(
        TensorInfo(op.inInfo(0).dataType(), {}), valueOf(op));
    context.setOut(0, popops::pad(context.graph(), context.in(0), padding.lower,
                                  padding.upper, value));
    return;
  }
  // Elements are taken away last: they may be among those that are copied.
  Padding added = padding;
  for (std::size_t d = 0; d < added.lower.size(); ++d) {
    added.lower[d] = std::max<std::ptrdiff_t>(0, padding.lower[d]);
    added.upper[d] = std::max<std::ptrdiff_t>(0, padding.upper[d]);
    padding.lower[d] -= added.lower[d];
    padding.upper[d] -= added.upper[d];
  }
  poplar::Tensor whole =
      popops::pad(context.in(0), added.lower, added.upper,
                  mode == "edge" ? popops::padding::Type::EDGE
                                 : popops::padding::Type::REFLECT);
  context.setOut(
      0, popops::pad(context.graph(), whole, padding.lower, padding.upper));
}

std::vector<TensorInfo> inferPadGrad(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

// `tensor` plus what `part` holds, from element `first` of a dimension on.
poplar::Tensor addPart(LoweringContext &context, const Op &op,
                       const poplar::Tensor &tensor, const poplar::Tensor &part,
                       std::size_t first, unsigned d) {
  auto after = tensor.dim(d) - first - part.dim(d);
  poplar::Tensor zero =
      context.addConstant(TensorInfo(op.inInfo(0).dataType(), {}), 0.0);
  poplar::Tensor whole =
      popops::pad(context.graph(), part, static_cast<std::ptrdiff_t>(first),
                  static_cast<std::ptrdiff_t>(after), d, zero);
  const std::string_view names[] = {"a", "b"};
  return context.emit(kernels::Expression::parse("a+b", names),
                      {tensor, whole});
}

// The gradients of `padding`, the elements beside the tensor at one end, as
// those of the elements that they are copies of.
poplar::Tensor folded(LoweringContext &context, const Op &op,
                      const poplar::Tensor &padding, unsigned d) {
  if (modeOf(op) == "reflect") {
    return padding.reverse(d);
  }
  return context
      .emit("reduce",
            {{"op", std::string("ADD")},
             {"dims", Shape{static_cast<std::int64_t>(d)}},
             {"scale", 1.0}},
            {padding})[0]
      .expand({d});
}

void lowerPadGrad(LoweringContext &context, const Op &op) {
  Padding padding = paddingOf(op, op.outShape(0).size());
  poplar::Tensor g = context.in(0);
  bool isReflect = modeOf(op) == "reflect";
  for (unsigned d = 0; d < g.rank(); ++d) {
    std::ptrdiff_t lower = padding.lower[d];
    std::ptrdiff_t upper = padding.upper[d];
    poplar::Tensor inner = popops::pad(context.graph(), g, -lower, -upper, d);
    std::size_t size = inner.dim(d);
    if (lower > 0) {
      poplar::Tensor part = folded(
          context, op, g.slice(0, static_cast<std::size_t>(lower), d), d);
      inner = addPart(context, op, inner, part, isReflect ? 1 : 0, d);
    }
    if (upper > 0) {
      auto from = g.dim(d) - static_cast<std::size_t>(upper);
      poplar::Tensor part = folded(context, op, g.slice(from, g.dim(d), d), d);
      inner = addPart(context, op, inner, part,
                      size - part.dim(d) - (isReflect ? 1 : 0), d);
    }
    g = inner;
  }
  context.setOut(0, g);
}

} // namespace

std::vector<OpRule> padRules() {
  return {{.domain = "ai.onnx",
           .type = "Pad",
           .schema = {{2, 11, 13}, types::all()},
           .infer = inferPad,
           .differentiate = differentiatePad,
           .lower = lowerPad},
          {.domain = "aspen",
           .type = "PadGrad",
           .infer = inferPadGrad,
           .lower = lowerPadGrad}};
}

} // namespace popart
