// Several convolutions that do not depend on each other in one operation. Each
// is computed by itself: a plan for all of them together is not made.
#include <ops/Conv.hpp>

#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/OpRule.hpp>
#include <ops/PlanOptions.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

#include <map>

namespace popart {
namespace {

struct Convolution {
  InIndex x = 0; // followed by its weights and, if there are any, its biases
  bool hasBias = false;
  std::int64_t groups = 1;
  Window window;
  Attributes::Ints inDilations; // zeros between elements of the input
  Attributes::Ints outLower;    // zeros around the result
  Attributes::Ints outUpper;
  Shape dilated; // of the input, with its zeros
  Shape inner;   // of the result, without its zeros
  Shape result;
};

// Lists for all convolutions, one after another; or none, for defaults.
class Lists {
public:
  explicit Lists(const Op &op) : op_(op) {}

  Attributes::Ints take(const char *name, std::size_t count,
                        std::int64_t fallback) {
    Attributes::Ints all = op_.attributes.getInts(name, {});
    if (all.empty()) {
      return Attributes::Ints(count, fallback);
    }
    std::size_t begin = taken_[name];
    taken_[name] += count;
    requireOp(op_, taken_[name] <= all.size(),
              "{} has {} numbers; a convolution has none left", name,
              all.size());
    auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

private:
  const Op &op_;
  std::map<std::string, std::size_t> taken_;
};

void checkShapes(const Op &op, const Convolution &conv) {
  const Shape &x = op.inShape(conv.x);
  const Shape &w = op.inShape(conv.x + 1);
  requireOp(op,
            x.size() >= 3 && x.size() == w.size() && w[1] > 0 &&
                x[1] % w[1] == 0 && w[0] % (x[1] / w[1]) == 0,
            "input {} and weights {} do not fit", support::toString(x),
            support::toString(w));
  requireOp(op, !conv.hasBias || op.inShape(conv.x + 2) == Shape{w[0]},
            "the bias must have shape {{{}}}", w[0]);
}

Convolution convolutionAt(const Op &op, InIndex x, bool hasBias, Lists &lists) {
  Convolution conv;
  conv.x = x;
  conv.hasBias = hasBias;
  checkShapes(op, conv);
  const Shape &input = op.inShape(x);
  const Shape &weights = op.inShape(x + 1);
  std::size_t rank = input.size() - 2;
  conv.groups = input[1] / weights[1];
  conv.window.kernel = fieldOf(weights);
  conv.window.strides = lists.take("strides", rank, 1);
  conv.window.dilations = lists.take("dilations", rank, 1);
  conv.inDilations = lists.take("inDilations", rank, 1);
  auto pads = lists.take("pads", 2 * rank, 0);
  auto outPads = lists.take("outPads", 2 * rank, 0);
  auto middle = static_cast<std::ptrdiff_t>(rank);
  conv.window.padLower.assign(pads.begin(), pads.begin() + middle);
  conv.window.padUpper.assign(pads.begin() + middle, pads.end());
  conv.outLower.assign(outPads.begin(), outPads.begin() + middle);
  conv.outUpper.assign(outPads.begin() + middle, outPads.end());
  conv.dilated = input;
  for (std::size_t d = 0; d < rank; ++d) {
    requireOp(op,
              conv.window.strides[d] > 0 && conv.window.dilations[d] > 0 &&
                  conv.inDilations[d] > 0 && conv.outLower[d] >= 0 &&
                  conv.outUpper[d] >= 0,
              "strides and dilations must be positive, outPads not negative");
    conv.dilated[d + 2] = (input[d + 2] - 1) * conv.inDilations[d] + 1;
  }
  Shape places = conv.window.places(op, fieldOf(conv.dilated));
  conv.inner = withField({input[0], weights[0]}, places);
  conv.result = conv.inner;
  for (std::size_t d = 0; d < rank; ++d) {
    conv.result[d + 2] += conv.outLower[d] + conv.outUpper[d];
  }
  return conv;
}

// "inputCounts" are 2 or 3 inputs for each.
std::vector<Convolution> convolutionsOf(const Op &op) {
  Lists lists(op);
  std::vector<Convolution> convolutions;
  InIndex next = 0;
  for (std::int64_t count : op.attributes.getInts("inputCounts", {})) {
    requireOp(op, count == 2 || count == 3,
              "a convolution has {} inputs; 2 or 3 are allowed", count);
    for (InIndex i = next; i < next + static_cast<InIndex>(count); ++i) {
      requireOp(op, op.hasInput(i), "needs input {}", i);
      requireFloat(op, i);
    }
    convolutions.push_back(convolutionAt(op, next, count == 3, lists));
    next += static_cast<InIndex>(count);
  }
  requireOp(op, !convolutions.empty(), "there is no convolution");
  return convolutions;
}

// What the lists say of one convolution, as a single one would have it.
Attributes planOf(const Op &op, std::size_t index) {
  auto memory = op.attributes.getFloats("availableMemoryProportions", {});
  auto partials = op.attributes.getStrings("partialsTypes", {});
  auto dithering = op.attributes.getInts("enableConvDithering", {});
  Attributes plan;
  if (!memory.empty()) {
    plan.set("__available_memory", memory[index]);
  }
  if (!partials.empty()) {
    plan.set("__partials_type", partials[index]);
  }
  if (!dithering.empty()) {
    plan.set("__enable_conv_dithering", dithering[index]);
  }
  return plan;
}

std::vector<TensorInfo> inferMultiConv(const Op &op) {
  std::string plan = op.attributes.getString("planType", "parallel");
  requireOp(op, plan == "parallel" || plan == "serial",
            "planType is {}; parallel and serial are allowed", plan);
  std::vector<TensorInfo> infos;
  for (const Convolution &conv : convolutionsOf(op)) {
    infos.emplace_back(op.inInfo(conv.x).dataType(), conv.result);
  }
  auto count = infos.size();
  for (std::size_t given :
       {op.attributes.getFloats("availableMemoryProportions", {}).size(),
        op.attributes.getStrings("partialsTypes", {}).size(),
        op.attributes.getInts("enableConvDithering", {}).size()}) {
    requireOp(op, given == 0 || given == count,
              "{} values of an option were given for {} convolutions", given,
              count);
  }
  for (std::size_t index = 0; index < count; ++index) {
    checkPlan(planOf(op, index));
  }
  return infos;
}

// In all dimensions: 1 for samples and channels.
Attributes::Ints subsampling(const Convolution &conv) {
  Attributes::Ints strides = {1, 1};
  strides.insert(strides.end(), conv.inDilations.begin(),
                 conv.inDilations.end());
  return strides;
}

TensorId addDilated(GradientBuilder &builder, const Convolution &conv,
                    const TensorId &x, const Shape &shape) {
  return conv.dilated == shape
             ? x
             : builder.add("aspen", "SubsampleGrad", {x},
                           Attributes()
                               .set("strides", subsampling(conv))
                               .set("shape", conv.dilated));
}

// The gradient without what belongs to zeros around the result.
TensorId addInner(GradientBuilder &builder, const Convolution &conv,
                  const TensorId &dy) {
  if (conv.inner == conv.result) {
    return dy;
  }
  Attributes::Ints axes;
  Attributes::Ints ends;
  for (std::size_t d = 0; d < conv.outLower.size(); ++d) {
    axes.push_back(static_cast<std::int64_t>(d) + 2);
    ends.push_back(conv.outLower[d] + conv.inner[d + 2]);
  }
  return builder.add("ai.graphcore", "Slice", {dy},
                     Attributes()
                         .set("starts", conv.outLower)
                         .set("ends", ends)
                         .set("axes", axes));
}

void differentiateOne(GradientBuilder &builder, const Op &op,
                      const Convolution &conv, OutIndex output) {
  Attributes attributes =
      withPlanOf(planOf(op, static_cast<std::size_t>(output)),
                 convAttributes(conv.window, conv.groups));
  auto first = static_cast<std::size_t>(conv.x);
  TensorId dy = addInner(builder, conv, builder.outputGradient(output));
  if (builder.isWanted(conv.x)) {
    TensorId dx =
        builder.add("aspen", "ConvDataGrad", {dy, op.inputs[first + 1]},
                    Attributes(attributes).set("inputShape", conv.dilated));
    bool isDilated = conv.dilated != op.inShape(conv.x);
    builder.setGradient(
        conv.x,
        isDilated ? builder.add("ai.graphcore", "Subsample", {dx},
                                Attributes().set("strides", subsampling(conv)))
                  : dx);
  }
  if (builder.isWanted(conv.x + 1)) {
    TensorId x =
        addDilated(builder, conv, op.inputs[first], op.inShape(conv.x));
    builder.setGradient(
        conv.x + 1,
        builder.add("aspen", "ConvWeightGrad", {dy, x},
                    attributes.set("kernelShape", conv.window.kernel)));
  }
  if (conv.hasBias && builder.isWanted(conv.x + 2)) {
    builder.setGradient(conv.x + 2, addBiasGradient(builder, dy));
  }
}

void differentiateMultiConv(GradientBuilder &builder, const Op &op) {
  OutIndex output = 0;
  for (const Convolution &conv : convolutionsOf(op)) {
    if (!builder.outputGradient(output).empty()) {
      differentiateOne(builder, op, conv, output);
    }
    ++output;
  }
}

// A variable of zeros with the tensor in a part of it.
poplar::Tensor amongZeros(LoweringContext &context, const Op &op,
                          const Shape &shape, const poplar::Tensor &tensor,
                          poplar::Tensor (*partOf)(const poplar::Tensor &,
                                                   const Convolution &),
                          const Convolution &conv) {
  poplar::Tensor whole = filledVariable(
      context, op, TensorInfo(op.inInfo(conv.x).dataType(), shape), 0.0);
  context.program().add(poplar::program::Copy(tensor, partOf(whole, conv),
                                              false, context.debugPath()));
  return whole;
}

poplar::Tensor elementsOf(const poplar::Tensor &dilated,
                          const Convolution &conv) {
  poplar::Tensor part = dilated;
  for (std::size_t d = 0; d < conv.inDilations.size(); ++d) {
    part = part.subSample(static_cast<unsigned>(conv.inDilations[d]),
                          static_cast<unsigned>(d + 2));
  }
  return part;
}

poplar::Tensor innerOf(const poplar::Tensor &padded, const Convolution &conv) {
  poplar::Tensor part = padded;
  for (std::size_t d = 0; d < conv.outLower.size(); ++d) {
    auto begin = static_cast<std::size_t>(conv.outLower[d]);
    part =
        part.slice(begin, begin + static_cast<std::size_t>(conv.inner[d + 2]),
                   static_cast<unsigned>(d + 2));
  }
  return part;
}

void lowerMultiConv(LoweringContext &context, const Op &op) {
  OutIndex output = 0;
  for (const Convolution &conv : convolutionsOf(op)) {
    poplar::Tensor x = context.in(conv.x);
    if (conv.dilated != op.inShape(conv.x)) {
      x = amongZeros(context, op, conv.dilated, x, elementsOf, conv);
    }
    auto attributes = conv.window.kindAttributes();
    attributes.set("groups", conv.groups);
    attributes.set("bias", std::int64_t{conv.hasBias});
    attributes.set("activation", std::string());
    std::vector<poplar::Tensor> inputs = {x, context.in(conv.x + 1)};
    if (conv.hasBias) {
      inputs.push_back(context.in(conv.x + 2));
    }
    poplar::Tensor y = context.emit(
        "convolution", attributes, inputs,
        convOptions(context, planOf(op, static_cast<std::size_t>(output))))[0];
    if (conv.inner != conv.result) {
      y = amongZeros(context, op, conv.result, y, innerOf, conv);
    }
    context.setOut(output++, y);
  }
}

} // namespace

OpRule multiConvRule() {
  return {.domain = "ai.graphcore",
          .type = "MultiConv",
          .schema = {.types = types::floats()},
          .infer = inferMultiConv,
          .differentiate = differentiateMultiConv,
          .lower = lowerMultiConv};
}

} // namespace popart
