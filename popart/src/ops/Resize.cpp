// Resampling of a grid: each place of the result is a weighted sum of a few
// elements along each dimension, worked out when the graph is built.
#include <ops/Resampling.hpp>

#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <cmath>

namespace popart {
namespace {

// The result's sizes and the scales that were meant: from `sizes`, or from
// `scales`, which an attribute had before ONNX 9.
struct Target {
  Shape shape;
  std::vector<double> scales;
};

Target targetOf(const Op &op) {
  const Shape &x = op.inShape(0);
  Target target;
  if (op.hasInput(3)) {
    target.shape = constantInts(op, 3);
    for (std::size_t d = 0; d < target.shape.size() && d < x.size(); ++d) {
      target.scales.push_back(static_cast<double>(target.shape[d]) /
                              static_cast<double>(x[d]));
    }
  } else {
    InIndex input = meaningOf(op) == "Resize" && op.opid.version >= 11 ? 2 : 1;
    if (op.hasInput(input)) {
      target.scales = constantNumbers(op, input);
    } else {
      Attributes::Floats scales = op.attributes.getFloats("scales", {});
      target.scales.assign(scales.begin(), scales.end());
    }
    for (std::size_t d = 0; d < target.scales.size() && d < x.size(); ++d) {
      target.shape.push_back(static_cast<std::int64_t>(
          std::floor(static_cast<double>(x[d]) * target.scales[d])));
    }
  }
  requireOp(op, target.shape.size() == x.size(),
            "{} sizes or scales were given; rank {} needs as many",
            target.shape.size(), x.size());
  for (std::int64_t size : target.shape) {
    requireOp(op, size >= 0, "a size is {}", size);
  }
  return target;
}

std::vector<TensorInfo> inferResize(const Op &op) {
  requireInputCount(op, 1, 4);
  resamplingOf(op); // checks the attributes
  return {TensorInfo(op.inInfo(0).dataType(), targetOf(op).shape)};
}

// Weighted sums leave elements that are not real where they are.
bool isSum(const std::vector<Tap> &taps) {
  return taps.size() > 1;
}

// The attributes of the gradient: for dimension d, "indices<d>" and
// "weights<d>", tap after tap. Dimensions that stay as they are have none.
void differentiateResize(GradientBuilder &builder, const Op &op) {
  Target target = targetOf(op);
  Attributes attributes;
  attributes.set("shape", op.inShape(0));
  for (std::size_t d = 0; d < target.shape.size(); ++d) {
    if (target.shape[d] == op.inShape(0)[d] && target.scales[d] == 1) {
      continue;
    }
    Attributes::Ints indices;
    Attributes::Floats weights;
    for (const Tap &tap : tapsOf(resamplingOf(op), op.inShape(0)[d],
                                 target.shape[d], target.scales[d])) {
      indices.insert(indices.end(), tap.indices.begin(), tap.indices.end());
      weights.insert(weights.end(), tap.weights.begin(), tap.weights.end());
    }
    attributes.set(fmt::format("indices{}", d), indices)
        .set(fmt::format("weights{}", d), weights);
  }
  builder.setGradient(0, builder.add("aspen", "ResizeGrad",
                                     {builder.outputGradient(0)}, attributes));
}

// Dimension d first, the others as one: what the kinds see as entries.
poplar::Tensor asEntries(const poplar::Tensor &tensor, unsigned d) {
  poplar::Tensor rolled = tensor.dimRoll(d, 0);
  std::size_t entries = rolled.dim(0);
  std::size_t size = 1;
  for (unsigned i = 1; i < rolled.rank(); ++i) {
    size *= rolled.dim(i);
  }
  return rolled.reshape({1, entries, size});
}

// The way back; the dimension has another size now.
poplar::Tensor fromEntries(const poplar::Tensor &entries,
                           const poplar::Tensor &like, unsigned d) {
  std::vector<std::size_t> shape = like.dimRoll(d, 0).shape();
  shape[0] = entries.dim(1);
  return entries.reshape(shape).dimRoll(0, d);
}

poplar::Tensor offsetsOf(LoweringContext &context, const Tap &tap) {
  return context
      .addConstant(std::vector<int>(tap.indices.begin(), tap.indices.end()))
      .reshape({1, tap.indices.size(), 1});
}

poplar::Tensor weightsOf(LoweringContext &context, const poplar::Type &type,
                         const Tap &tap) {
  return context.addConstant(type, tap.weights)
      .reshape({1, tap.weights.size(), 1});
}

poplar::Tensor resample(LoweringContext &context, const poplar::Tensor &x,
                        const std::vector<Tap> &taps, unsigned d) {
  poplar::Tensor entries = asEntries(x, d);
  std::vector<std::string> names;
  std::vector<poplar::Tensor> operands;
  std::string text;
  for (const Tap &tap : taps) {
    poplar::Tensor slices = context
                                .emit("dynamicSlice", sliceAttributes(),
                                      {entries, offsetsOf(context, tap)})[0]
                                .squeeze({2});
    if (!isSum(taps)) {
      return fromEntries(slices, x, d);
    }
    auto i = names.size() / 2;
    text += fmt::format("{}a{}*b{}", i == 0 ? "" : "+", i, i);
    names.push_back(fmt::format("a{}", i));
    names.push_back(fmt::format("b{}", i));
    operands.push_back(slices);
    operands.push_back(weightsOf(context, x.elementType(), tap));
  }
  auto sum = kernels::Expression::parse(
      text, std::vector<std::string_view>(names.begin(), names.end()));
  return fromEntries(context.emit(sum, operands), x, d);
}

void lowerResize(LoweringContext &context, const Op &op) {
  Target target = targetOf(op);
  poplar::Tensor x = context.in(0);
  for (unsigned d = 0; d < x.rank(); ++d) {
    if (target.shape[d] != op.inShape(0)[d] || target.scales[d] != 1) {
      x = resample(context, x,
                   tapsOf(resamplingOf(op), op.inShape(0)[d], target.shape[d],
                          target.scales[d]),
                   d);
    }
  }
  context.setOut(0, x);
}

std::vector<TensorInfo> inferResizeGrad(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

std::vector<Tap> savedTaps(const Op &op, unsigned d, std::size_t places) {
  auto indices = op.attributes.getInts(fmt::format("indices{}", d), {});
  auto weights = op.attributes.getFloats(fmt::format("weights{}", d), {});
  std::vector<Tap> taps;
  for (std::size_t i = 0; places > 0 && i < indices.size(); i += places) {
    auto begin = static_cast<std::ptrdiff_t>(i);
    auto end = static_cast<std::ptrdiff_t>(i + places);
    taps.push_back({{indices.begin() + begin, indices.begin() + end},
                    {weights.begin() + begin, weights.begin() + end}});
  }
  return taps;
}

// Each tap adds its share where it came from, the last dimension first.
void lowerResizeGrad(LoweringContext &context, const Op &op) {
  poplar::Tensor g = context.in(0);
  for (unsigned d = g.rank(); d-- > 0;) {
    std::vector<Tap> taps = savedTaps(op, d, g.dim(d));
    if (taps.empty()) {
      continue;
    }
    poplar::Tensor entries = asEntries(g, d);
    TensorInfo info(
        op.outInfo(0).dataType(),
        {1, op.outShape(0)[d], static_cast<std::int64_t>(entries.dim(2))});
    poplar::Tensor sum = filledVariable(context, op, info, 0.0);
    for (const Tap &tap : taps) {
      const std::string_view names[] = {"g", "w"};
      poplar::Tensor shares =
          isSum(taps) ? context.emit(
                            kernels::Expression::parse("g*w", names),
                            {entries, weightsOf(context, g.elementType(), tap)})
                      : entries;
      context.emit("dynamicUpdate", updateAttributes("ADD"),
                   {sum, shares.expand({2}), offsetsOf(context, tap)});
    }
    g = fromEntries(sum, g, d);
  }
  context.setOut(0, g);
}

} // namespace

std::vector<OpRule> resizeRules() {
  return {{.domain = "ai.onnx",
           .type = "Resize",
           .schema = {{10, 11, 13}, types::all()},
           .infer = inferResize,
           .differentiate = differentiateResize,
           .lower = lowerResize},
          {.domain = "ai.onnx",
           .type = "Upsample",
           .schema = {{7, 9}, types::all()},
           .infer = inferResize,
           .differentiate = differentiateResize,
           .lower = lowerResize},
          {.domain = "aspen",
           .type = "ResizeGrad",
           .infer = inferResizeGrad,
           .lower = lowerResizeGrad}};
}

} // namespace popart
