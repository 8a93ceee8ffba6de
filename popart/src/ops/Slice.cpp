// Parts of a tensor, forwards or backwards, in steps; and its gradient, which
// puts them back among zeros.
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <algorithm>

namespace popart {
namespace {

// Elements first, first + step, ... of one dimension, `count` of them.
struct Range {
  std::int64_t axis;
  std::int64_t first;
  std::int64_t step;
  std::int64_t count;
};

// From constant inputs 1 to 4 (since 10) or attributes.
Attributes::Ints listOf(const Op &op, InIndex input, const char *name) {
  return op.hasInput(input) ? constantInts(op, input)
                            : op.attributes.getInts(name, {});
}

// ONNX counts starts and ends from the end where they are negative, and moves
// them inside where they are not.
Range rangeOf(const Op &op, std::int64_t axis, std::int64_t size,
              std::int64_t start, std::int64_t end, std::int64_t step) {
  requireOp(op, step != 0, "a step is 0");
  start = start < 0 ? start + size : start;
  // Far below, as "to the very front" is written with negative steps.
  end = end < 0 ? std::max<std::int64_t>(end, -size - 1) + size : end;
  Range range{axis, 0, step, 0};
  if (step > 0) {
    range.first = std::clamp<std::int64_t>(start, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    range.count = (end - range.first + step - 1) / step;
  } else {
    range.first = std::clamp<std::int64_t>(start, -1, size - 1);
    end = std::clamp<std::int64_t>(end, -1, size - 1);
    range.count = (range.first - end - step - 1) / -step;
  }
  range.count = std::max<std::int64_t>(0, range.count);
  return range;
}

std::vector<Range> rangesOf(const Op &op, const Shape &shape) {
  auto starts = listOf(op, 1, "starts");
  auto ends = listOf(op, 2, "ends");
  auto axes = listOf(op, 3, "axes");
  auto steps = listOf(op, 4, "steps");
  for (std::size_t i = axes.size(); i < starts.size(); ++i) {
    axes.push_back(static_cast<std::int64_t>(i));
  }
  steps.resize(std::max(steps.size(), starts.size()), 1);
  requireOp(op,
            ends.size() == starts.size() && axes.size() == starts.size() &&
                steps.size() == starts.size(),
            "{} starts, {} ends, {} axes and {} steps were given",
            starts.size(), ends.size(), axes.size(), steps.size());
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::int64_t axis =
        normaliseAxis(op, axes[i], static_cast<Rank>(shape.size()));
    ranges.push_back(rangeOf(op, axis, shape[static_cast<std::size_t>(axis)],
                             starts[i], ends[i], steps[i]));
  }
  return ranges;
}

std::vector<TensorInfo> inferSlice(const Op &op) {
  requireInputCount(op, 1, 5);
  Shape shape = op.inShape(0);
  for (const Range &range : rangesOf(op, op.inShape(0))) {
    shape[static_cast<std::size_t>(range.axis)] = range.count;
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

poplar::Tensor view(poplar::Tensor tensor, const std::vector<Range> &ranges) {
  for (const Range &range : ranges) {
    auto axis = static_cast<unsigned>(range.axis);
    if (range.count == 0) {
      tensor = tensor.slice(0, 0, axis);
      continue;
    }
    std::int64_t last = range.first + (range.count - 1) * range.step;
    tensor = tensor.slice(
        static_cast<std::size_t>(std::min(range.first, last)),
        static_cast<std::size_t>(std::max(range.first, last) + 1), axis);
    if (range.step < 0) {
      tensor = tensor.reverse(axis);
    }
    tensor =
        tensor.subSample(static_cast<unsigned>(std::abs(range.step)), axis);
  }
  return tensor;
}

void differentiateSlice(GradientBuilder &builder, const Op &op) {
  Attributes attributes;
  attributes.set("starts", listOf(op, 1, "starts"))
      .set("ends", listOf(op, 2, "ends"))
      .set("axes", listOf(op, 3, "axes"))
      .set("steps", listOf(op, 4, "steps"))
      .set("shape", op.inShape(0));
  builder.setGradient(0, builder.add("aspen", "SliceGrad",
                                     {builder.outputGradient(0)}, attributes));
}

void lowerSlice(LoweringContext &context, const Op &op) {
  context.setOut(0, view(context.in(0), rangesOf(op, op.inShape(0))));
}

std::vector<TensorInfo> inferSliceGrad(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

void lowerSliceGrad(LoweringContext &context, const Op &op) {
  poplar::Tensor whole = filledVariable(context, op, op.outInfo(0), 0.0);
  context.program().add(poplar::program::Copy(
      context.in(0), view(whole, rangesOf(op, op.outShape(0))), false,
      context.debugPath()));
  context.setOut(0, whole);
}

} // namespace

std::vector<OpRule> sliceRules() {
  return {{.domain = "ai.onnx",
           .type = "Slice",
           .schema = {{1, 10, 11, 13}, types::all()},
           .infer = inferSlice,
           .differentiate = differentiateSlice,
           .lower = lowerSlice},
          {.domain = "ai.graphcore",
           .type = "Slice",
           .schema = {.types = types::all(),
                      .attributes = {{"ends", Attributes::Ints{}, true},
                                     {"starts", Attributes::Ints{}, true},
                                     {"axes", Attributes::Ints{}}}},
           .infer = inferSlice,
           .differentiate = differentiateSlice,
           .lower = lowerSlice},
          {.domain = "aspen",
           .type = "SliceGrad",
           .infer = inferSliceGrad,
           .lower = lowerSliceGrad}};
}

} // namespace popart
