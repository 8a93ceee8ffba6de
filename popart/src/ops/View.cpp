// Operations that only look at their input differently: they cost nothing and
// lower to a view of the same elements.
#include <ops/View.hpp>

#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <algorithm>
#include <numeric>

namespace popart {
namespace {

std::vector<TensorInfo> inferIdentity(const Op &op) {
  requireInputCount(op, 1, 1);
  return {op.inInfo(0)};
}

void differentiateIdentity(GradientBuilder &builder, const Op &) {
  builder.setGradient(0, builder.outputGradient(0));
}

void lowerIdentity(LoweringContext &context, const Op &) {
  context.setOut(0, context.in(0));
}

// "shape" as ONNX reads it: 0 keeps a dimension, one -1 is worked out. ONNX's
// own Reshape takes it from a constant second input.
Shape wantedShape(const Op &op) {
  Shape shape = op.attributes.getInts("shape", {});
  if (op.hasInput(1)) {
    shape = constantInts(op, 1);
  }
  return shape;
}

std::vector<TensorInfo> inferReshape(const Op &op) {
  requireInputCount(op, 1, 2);
  const Shape &from = op.inShape(0);
  Shape shape = wantedShape(op);
  std::int64_t known = 1;
  std::int64_t *unknown = nullptr;
  bool keepsZeros =
      op.opid.domain == "aspen" || op.attributes.getInt("allowzero", 0) != 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !keepsZeros && d < from.size()) {
      shape[d] = from[d];
    }
    if (shape[d] == -1) {
      requireOp(op, unknown == nullptr, "shape {} has -1 twice",
                support::toString(shape));
      unknown = &shape[d];
    } else {
      known *= shape[d];
    }
  }
  if (unknown) {
    *unknown = known == 0 ? 0 : op.inInfo(0).nelms() / known;
  }
  requireOp(op, support::elementCount(shape) == op.inInfo(0).nelms(),
            "shape {} does not become {}: {} elements, not {}",
            support::toString(from), support::toString(shape),
            op.inInfo(0).nelms(), support::elementCount(shape));
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

std::vector<TensorInfo> inferFlatten(const Op &op) {
  requireInputCount(op, 1, 1);
  const Shape &from = op.inShape(0);
  auto rank = static_cast<std::int64_t>(from.size());
  auto axis = op.attributes.getInt("axis", 1);
  axis = axis < 0 ? axis + rank : axis;
  requireOp(op, 0 <= axis && axis <= rank,
            "axis {} is outside a tensor of rank {}", axis, rank);
  std::int64_t rows = support::elementCount(
      std::span(from).first(static_cast<std::size_t>(axis)));
  std::int64_t columns = support::elementCount(
      std::span(from).subspan(static_cast<std::size_t>(axis)));
  return {TensorInfo(op.inInfo(0).dataType(), {rows, columns})};
}

// Dimensions of size 1 go: those named, or all.
std::vector<TensorInfo> inferSqueeze(const Op &op) {
  requireInputCount(op, 1, 2);
  const Shape &from = op.inShape(0);
  Attributes::Ints axes = givenAxes(op, 1);
  bool isGiven = op.hasInput(1) || op.attributes.hasAttribute("axes");
  for (std::size_t d = 0; d < from.size() && !isGiven; ++d) {
    if (from[d] == 1) {
      axes.push_back(static_cast<std::int64_t>(d));
    }
  }
  for (std::int64_t axis : axes) {
    requireOp(op, from[static_cast<std::size_t>(axis)] == 1,
              "dimension {} of {} is not of size 1", axis,
              support::toString(from));
  }
  return {TensorInfo(op.inInfo(0).dataType(), withoutAxes(from, axes))};
}

// The axes are those of the result.
std::vector<TensorInfo> inferUnsqueeze(const Op &op) {
  requireInputCount(op, 1, 2);
  std::size_t count = op.hasInput(1) ? constantInts(op, 1).size()
                                     : op.attributes.getInts("axes", {}).size();
  Rank rank = op.inInfo(0).rank() + static_cast<Rank>(count);
  Attributes::Ints axes = givenAxes(op, 1, rank);
  requireOp(op, axes.size() == count, "an axis is given twice");
  Shape shape = op.inShape(0);
  for (std::int64_t axis : axes) {
    shape.insert(shape.begin() + axis, 1);
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

void differentiateReshape(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.addReshape(builder.outputGradient(0), op.inShape(0)));
}

void lowerReshape(LoweringContext &context, const Op &op) {
  context.setOut(0, context.in(0).reshape(poplarShape(op.outShape(0))));
}

// The permutation, the dimensions reversed when none is given.
Attributes::Ints permutationOf(const Op &op) {
  Attributes::Ints reversed(op.inShape(0).size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return op.attributes.getInts("perm", reversed);
}

std::vector<TensorInfo> inferTranspose(const Op &op) {
  requireInputCount(op, 1, 1);
  const Shape &from = op.inShape(0);
  auto perm = permutationOf(op);
  Attributes::Ints seen(from.size(), 0);
  Shape shape;
  bool isGood = perm.size() == from.size();
  for (std::int64_t d : perm) {
    isGood = isGood && 0 <= d && d < static_cast<std::int64_t>(from.size()) &&
             seen[static_cast<std::size_t>(d)]++ == 0;
    if (isGood) {
      shape.push_back(from[static_cast<std::size_t>(d)]);
    }
  }
  requireOp(op, isGood, "perm {} does not permute the dimensions of {}",
            support::toString(perm), support::toString(from));
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

Attributes::Ints inversePermutationOf(const Op &op) {
  auto perm = permutationOf(op);
  Attributes::Ints inverse(perm.size());
  for (std::size_t d = 0; d < perm.size(); ++d) {
    inverse[static_cast<std::size_t>(perm[d])] = static_cast<std::int64_t>(d);
  }
  return inverse;
}

void differentiateTranspose(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.add("ai.onnx", "Transpose", {builder.outputGradient(0)},
                     Attributes().set("perm", inversePermutationOf(op))));
}

void lowerTranspose(LoweringContext &context, const Op &op) {
  auto perm = permutationOf(op);
  context.setOut(0, context.in(0).dimShuffle(
                        std::vector<unsigned>(perm.begin(), perm.end())));
}

Attributes::Ints reversedDimensions(const Op &op) {
  Attributes::Ints dimensions;
  for (std::int64_t d : op.attributes.getInts("dimensions", {})) {
    d = normaliseAxis(op, d, op.inInfo(0).rank());
    requireOp(op,
              std::find(dimensions.begin(), dimensions.end(), d) ==
                  dimensions.end(),
              "dimension {} is given twice", d);
    dimensions.push_back(d);
  }
  return dimensions;
}

std::vector<TensorInfo> inferReverse(const Op &op) {
  reversedDimensions(op);
  return inferIdentity(op);
}

void differentiateReverse(GradientBuilder &builder, const Op &op) {
  builder.setGradient(0,
                      builder.add("ai.graphcore", "Reverse",
                                  {builder.outputGradient(0)}, op.attributes));
}

void lowerReverse(LoweringContext &context, const Op &op) {
  poplar::Tensor result = context.in(0);
  for (std::int64_t d : reversedDimensions(op)) {
    result = result.reverse(static_cast<unsigned>(d));
  }
  context.setOut(0, result);
}

OpRule reshapeRule(const char *type, std::vector<int> versions,
                   std::vector<TensorInfo> (*infer)(const Op &)) {
  return {.domain = "ai.onnx",
          .type = type,
          .schema = {std::move(versions), types::all()},
          .infer = infer,
          .differentiate = differentiateReshape,
          .lower = lowerReshape};
}

} // namespace

bool isUnwindableView(const Op &op) {
  auto lower = op.rule().lower;
  return lower == lowerIdentity || lower == lowerReshape ||
         lower == lowerTranspose;
}

poplar::Tensor unwindView(const Op &op, const poplar::Tensor &output) {
  if (op.rule().lower == lowerTranspose) {
    auto inverse = inversePermutationOf(op);
    return output.dimShuffle(
        std::vector<unsigned>(inverse.begin(), inverse.end()));
  }
  return output.reshape(poplarShape(op.inShape(0)));
}

std::vector<OpRule> viewRules() {
  return {{.domain = "ai.onnx",
           .type = "Identity",
           .schema = {{1, 13, 14, 16}, types::all()},
           .infer = inferIdentity,
           .differentiate = differentiateIdentity,
           .lower = lowerIdentity},
          // The gradient stops here.
          {.domain = "ai.graphcore",
           .type = "Detach",
           .infer = inferIdentity,
           .lower = lowerIdentity},
          {.domain = "ai.graphcore",
           .type = "Nop",
           .infer = inferIdentity,
           .differentiate = differentiateIdentity,
           .lower = lowerIdentity},
          reshapeRule("Reshape", {5, 13, 14}, inferReshape),
          {.domain = "ai.graphcore",
           .type = "Reshape",
           .schema = {.types = types::all(),
                      .attributes = {{"shape", Attributes::Ints{}, true}},
                      .inputs = BuilderInputs::One},
           .infer = inferReshape,
           .differentiate = differentiateReshape,
           .lower = lowerReshape},
          {.domain = "ai.graphcore",
           .type = "Reverse",
           .schema = {.types = types::all(),
                      .attributes = {{"dimensions", Attributes::Ints{}, true}}},
           .infer = inferReverse,
           .differentiate = differentiateReverse,
           .lower = lowerReverse},
          {.domain = "aspen",
           .type = "Reshape",
           .infer = inferReshape,
           .differentiate = differentiateReshape,
           .lower = lowerReshape},
          reshapeRule("Flatten", {1, 9, 11, 13}, inferFlatten),
          reshapeRule("Squeeze", {1, 11, 13}, inferSqueeze),
          reshapeRule("Unsqueeze", {1, 11, 13}, inferUnsqueeze),
          {.domain = "ai.onnx",
           .type = "Transpose",
           .schema = {{1, 13}, types::all()},
           .infer = inferTranspose,
           .differentiate = differentiateTranspose,
           .lower = lowerTranspose}};
}

} // namespace popart
