// ONNX's RoiAlign by averages: regions of images, sampled between pixels on a
// grid of fixed size, or with about a sample for each pixel.
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <array>
#include <utility>

namespace popart {
namespace {

using kernels::Expression;

// One side of the result, of an image with so many pixels there.
struct Side {
  Side(const Op &op, const char *attribute, std::int64_t pixels)
      : elements(op.attributes.getInt(attribute, 1)), pixels(pixels),
        isAdaptive(op.attributes.getInt("sampling_ratio", 0) == 0),
        // A region as large as the image has the most.
        samples(isAdaptive ? (pixels + elements - 1) / elements
                           : op.attributes.getInt("sampling_ratio", 0)) {}

  std::int64_t elements;
  std::int64_t pixels;
  bool isAdaptive;      // regions have samples by their size
  std::int64_t samples; // of an element, at most
};

struct Grid {
  Grid(const Op &op, const Shape &image)
      : y(op, "output_height", image[2]), x(op, "output_width", image[3]),
        scale(op.attributes.getFloat("spatial_scale", 1.0f)) {}

  Side y, x;
  float scale; // from regions to pixels
};

// Inputs: x [n, c, h, w], regions [r, 4], images [r].
std::vector<TensorInfo> inferRoiAlign(const Op &op) {
  requireInputCount(op, 3, 3);
  requireFloat(op, 0);
  requireRank(op, 0, 4);
  requireIndices(op, 2);
  requireOp(op, op.attributes.getString("mode", "avg") == "avg",
            "mode {} is not supported; avg is",
            op.attributes.getString("mode", ""));
  std::int64_t height = op.attributes.getInt("output_height", 1);
  std::int64_t width = op.attributes.getInt("output_width", 1);
  requireOp(op, height > 0 && width > 0,
            "an output of {} by {} has no elements", height, width);
  requireOp(op, op.attributes.getInt("sampling_ratio", 0) >= 0,
            "sampling_ratio {} must be 0 or more",
            op.attributes.getInt("sampling_ratio", 0));
  requireOp(op,
            op.inInfo(1).rank() == 2 && op.inShape(1)[1] == 4 &&
                op.inShape(2) == Shape{op.inShape(1)[0]},
            "regions of shape {} and images of shape {} must be {{n,4}} and "
            "{{n}}",
            support::toString(op.inShape(1)), support::toString(op.inShape(2)));
  return {TensorInfo(op.inInfo(0).dataType(),
                     {op.inShape(1)[0], op.inShape(0)[1], height, width})};
}

void differentiateRoiAlign(GradientBuilder &builder, const Op &op) {
  Attributes attributes = op.attributes;
  attributes.set("shape", op.inShape(0));
  builder.setGradient(
      0, builder.add("aspen", "RoiAlignGrad",
                     {builder.outputGradient(0), op.inputs[1], op.inputs[2]},
                     attributes));
}

poplar::Tensor compute(LoweringContext &context, const std::string &text,
                       const std::vector<std::string_view> &names,
                       const std::vector<poplar::Tensor> &inputs) {
  return context.emit(Expression::parse(text, names), inputs);
}

// Where samples lie along one side of the image: the pixels before and behind,
// and how much of the one behind they have; all [regions, places], in FLOAT.
struct Places {
  poplar::Tensor before;
  poplar::Tensor behind;
  poplar::Tensor share;
  poplar::Tensor weight; // in the mean of an element
};

// How many samples an element of each region has along a side: [regions, 1],
// or the same for all.
poplar::Tensor sampleCounts(LoweringContext &context, const Side &side,
                            const poplar::Tensor &sizes) {
  return side.isAdaptive ? compute(context,
                                   fmt::format("min(ceil(s/{}),{})",
                                               side.elements, side.samples),
                                   {"s"}, {sizes})
                         : context
                               .addConstant(poplar::FLOAT,
                                            {static_cast<float>(side.samples)})
                               .expand({0});
}

// `regions` in pixels; their sides begin in `column`.
Places placesAlong(LoweringContext &context, const Side &side,
                   const poplar::Tensor &regions, std::size_t column) {
  std::vector<float> elements;
  std::vector<float> samples;
  for (std::int64_t i = 0; i < side.elements * side.samples; ++i) {
    elements.push_back(static_cast<float>(i / side.samples));
    samples.push_back(static_cast<float>(i % side.samples));
  }
  poplar::Tensor element =
      context.addConstant(poplar::FLOAT, elements).expand({0});
  poplar::Tensor sample =
      context.addConstant(poplar::FLOAT, samples).expand({0});
  poplar::Tensor from = regions.slice(column, column + 1, 1);
  poplar::Tensor to = regions.slice(column + 2, column + 3, 1);
  // A region is at least a pixel.
  poplar::Tensor size = compute(context, "max(t-f,1)", {"f", "t"}, {from, to});
  poplar::Tensor counts = sampleCounts(context, side, size);
  poplar::Tensor place =
      compute(context, fmt::format("f+(e+(s+0.5)/n)*z/{}", side.elements),
              {"e", "s", "f", "n", "z"}, {element, sample, from, counts, size});
  std::string last = std::to_string(side.pixels - 1);
  poplar::Tensor clamped =
      compute(context, fmt::format("clamp(p,0,{})", last), {"p"}, {place});
  Places result;
  result.before = compute(context, "floor(p)", {"p"}, {clamped});
  result.behind = compute(context, fmt::format("min(b+1,{})", last), {"b"},
                          {result.before});
  result.share = compute(context, "p-b", {"p", "b"}, {clamped, result.before});
  // Samples outside count, with nothing; those beyond the count do not.
  result.weight = compute(
      context,
      fmt::format("select(1/n,0,logical_and(logical_and(p>=-1,p<={}),s<n))",
                  side.pixels),
      {"p", "s", "n"}, {place, sample, counts});
  return result;
}

// One of the four pixels around each sample: its row of [n * h * w, c] and its
// weight, both flat and in the order of samples [r, height, samples, width,
// samples].
struct Corner {
  poplar::Tensor rows;    // [1, samples, 1]
  poplar::Tensor weights; // [samples, 1], FLOAT
};

std::array<Corner, 4> cornersOf(LoweringContext &context, const Op &op,
                                const Shape &image) {
  Grid grid(op, image);
  poplar::Tensor regions =
      compute(context, fmt::format("r*({:.9g})", grid.scale), {"r"},
              {context.emit(Expression::cast(support::DataType::Float,
                                             Expression::input(0)),
                            {context.in(1)})});
  Places y = placesAlong(context, grid.y, regions, 1);
  Places x = placesAlong(context, grid.x, regions, 0);
  poplar::Tensor images =
      positiveIndices(context, context.in(2), image[0]).expand({1, 1});
  std::array<Corner, 4> corners;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    bool isLow = i / 2 != 0;
    bool isRight = i % 2 != 0;
    auto index = Expression::parse(fmt::format("y*{0}+x", image[3]),
                                   std::array<std::string_view, 2>{"y", "x"});
    poplar::Tensor inImage =
        context.emit(Expression::cast(support::DataType::Int, index),
                     {(isLow ? y.behind : y.before).expand({2}),
                      (isRight ? x.behind : x.before).expand({1})});
    corners[i].rows =
        compute(context, fmt::format("p+n*{}", image[2] * image[3]), {"p", "n"},
                {inImage, images.reinterpret(poplar::INT)})
            .flatten()
            .expand({0, 1});
    corners[i].weights =
        compute(context,
                fmt::format("i*j*({})*({})", isLow ? "y" : "1-y",
                            isRight ? "x" : "1-x"),
                {"i", "j", "y", "x"},
                {y.weight.expand({2}), x.weight.expand({1}),
                 y.share.expand({2}), x.share.expand({1})})
            .flatten()
            .expand({1});
  }
  return corners;
}

poplar::Tensor toRows(const poplar::Tensor &image) {
  std::size_t channels = image.dim(1);
  return image.dimShuffle({0, 2, 3, 1})
      .reshape({1, image.numElements() / channels, channels});
}

void lowerRoiAlign(LoweringContext &context, const Op &op) {
  Grid grid(op, op.inShape(0));
  poplar::Tensor rows = toRows(context.in(0));
  std::size_t channels = rows.dim(2);
  std::vector<poplar::Tensor> terms;
  for (const Corner &corner : cornersOf(context, op, op.inShape(0))) {
    poplar::Tensor pixels =
        context.emit("dynamicSlice", sliceAttributes(), {rows, corner.rows})[0];
    terms.push_back(pixels.reshape({corner.weights.dim(0), channels}));
    terms.push_back(corner.weights);
  }
  // Weights are FLOAT: so is the sum, until it is rounded to the result.
  poplar::Tensor sums =
      compute(context, "a*u+b*v+c*w+d*z",
              {"a", "u", "b", "v", "c", "w", "d", "z"}, terms);
  poplar::Tensor means = context.emit(
      "reduce",
      {{"op", std::string("ADD")}, {"dims", Shape{2, 4}}, {"scale", 1.0}},
      {sums.reshape(poplarShape(
          {op.inShape(1)[0], grid.y.elements, grid.y.samples, grid.x.elements,
           grid.x.samples, static_cast<std::int64_t>(channels)}))})[0];
  context.setOut(0, means.dimShuffle({0, 3, 1, 2}));
}

std::vector<TensorInfo> inferGrad(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  Grid grid(op, op.outShape(0));
  poplar::Tensor sum = filledVariable(context, op, op.outInfo(0), 0.0);
  poplar::Tensor rows = toRows(sum);
  poplar::Tensor gradient =
      context.in(0).dimShuffle({0, 2, 3, 1}).expand({2, 3});
  gradient = gradient.broadcast(static_cast<unsigned>(grid.y.samples), 2)
                 .broadcast(static_cast<unsigned>(grid.x.samples), 4);
  gradient =
      gradient.reshape({gradient.numElements() / rows.dim(2), rows.dim(2)});
  for (const Corner &corner : cornersOf(context, op, op.outShape(0))) {
    poplar::Tensor shares =
        compute(context, "g*w", {"g", "w"}, {gradient, corner.weights});
    context.emit("dynamicUpdate", updateAttributes("ADD"),
                 {rows, shares.expand({0, 1}), corner.rows});
  }
  context.setOut(0, sum);
}

} // namespace

std::vector<OpRule> roiAlignRules() {
  return {{.domain = "ai.onnx",
           .type = "RoiAlign",
           .schema = {{10}, types::floats()},
           .infer = inferRoiAlign,
           .differentiate = differentiateRoiAlign,
           .lower = lowerRoiAlign},
          {.domain = "aspen",
           .type = "RoiAlignGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
