// "convolution" and its gradients by data and by weights.
#include "Kinds.hpp"

#include "ConvolutionShape.hpp"
#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>

namespace kernels {

namespace {

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  const bool hasBias = attributes.getInt("bias") != 0;
  requireInputCount("convolution", inputs, hasBias ? 3 : 2);
  requireFloating("convolution", "x", inputs[0]);
  requireType("convolution", "w", inputs[1], {inputs[0].type});
  requireChoice("convolution", attributes, "activation", {"", "RELU"});
  const auto type = productType("convolution", attributes, inputs[0].type);
  const auto shape = convolutionShape("convolution", attributes,
                                      inputs[0].shape, inputs[1].shape);
  if (hasBias) {
    requireType("convolution", "bias", inputs[2], {type});
    requireShape("convolution", "bias", inputs[2], {shape.outChannels});
  }
  return {{type, shape.outputShape()}};
}

std::vector<TensorType> inferDataGrad(const Attributes &attributes,
                                      std::span<const TensorType> inputs) {
  requireInputCount("convolutionDataGrad", inputs, 2);
  requireFloating("convolutionDataGrad", "dy", inputs[0]);
  requireType("convolutionDataGrad", "w", inputs[1], {inputs[0].type});
  const auto shape =
      convolutionShape("convolutionDataGrad", attributes,
                       attributes.getInts("inputShape"), inputs[1].shape);
  requireShape("convolutionDataGrad", "dy", inputs[0], shape.outputShape());
  return {{productType("convolutionDataGrad", attributes, inputs[0].type),
           shape.inputShape()}};
}

// w's shape follows from dy, x and the attribute.
Shape weightShape(const Attributes &attributes,
                  std::span<const TensorType> inputs) {
  constexpr auto kind = "convolutionWeightGrad";
  require(inputs[0].shape.size() >= 3,
          "[{}] dy has shape {}; its rank must be at least 3", kind,
          support::toString(inputs[0].shape));
  requireRank(kind, "x", inputs[1], inputs[0].shape.size());
  const auto &kernel = requireInts(kind, attributes, "kernelShape",
                                   inputs[0].shape.size() - 2, 1);
  const auto groups = std::max<std::int64_t>(1, attributes.getInt("groups"));
  Shape shape{inputs[0].shape[1], inputs[1].shape[1] / groups};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  return shape;
}

std::vector<TensorType> inferWeightGrad(const Attributes &attributes,
                                        std::span<const TensorType> inputs) {
  requireInputCount("convolutionWeightGrad", inputs, 2);
  requireFloating("convolutionWeightGrad", "dy", inputs[0]);
  requireType("convolutionWeightGrad", "x", inputs[1], {inputs[0].type});
  const auto shape =
      convolutionShape("convolutionWeightGrad", attributes, inputs[1].shape,
                       weightShape(attributes, inputs));
  requireShape("convolutionWeightGrad", "dy", inputs[0], shape.outputShape());
  return {{productType("convolutionWeightGrad", attributes, inputs[0].type),
           shape.weightShape()}};
}

// Calls visit(index of x, index of w, index of y) for every product of the
// convolution: y[n,o,out...] += x[n,c,in...] * w[o,c in its group,kernel...].
template <typename Visit>
void forEachProduct(const ConvolutionShape &s, const Visit &visit) {
  const std::size_t dims = s.in.size();
  Shape atX(dims + 2), atW(dims + 2), atY(dims + 2);
  Shape all{s.batch, s.outChannels, s.inChannelsPerGroup()};
  all.insert(all.end(), s.kernel.begin(), s.kernel.end());
  all.insert(all.end(), s.out.begin(), s.out.end());
  forEachIndex(all, [&](std::span<const std::int64_t> at) {
    const auto [n, o, c] = std::array{at[0], at[1], at[2]};
    const auto group = o / s.outChannelsPerGroup();
    atX[0] = atY[0] = n;
    atW[0] = atY[1] = o;
    atW[1] = c;
    atX[1] = group * s.inChannelsPerGroup() + c;
    bool isInside = true;
    for (std::size_t d = 0; d < dims; ++d) {
      atW[d + 2] = at[3 + d];
      atY[d + 2] = at[3 + dims + d];
      atX[d + 2] = atY[d + 2] * s.strides[d] + atW[d + 2] * s.dilations[d] -
                   s.padLower[d];
      isInside = isInside && atX[d + 2] >= 0 && atX[d + 2] < s.in[d];
    }
    if (isInside) {
      visit(atX, atW, atY);
    }
  });
}

// Sums in double, row-major over a shape, before they are rounded and stored.
class Sums {
public:
  explicit Sums(const View &result)
      : result_(result), strides_(support::rowMajorStrides(result.shape())),
        values_(
            static_cast<std::size_t>(support::elementCount(result.shape()))) {}

  double &operator[](std::span<const std::int64_t> index) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      offset += index[d] * strides_[d];
    }
    return values_[static_cast<std::size_t>(offset)];
  }
  template <typename Finish> void store(const Finish &finish) {
    forEachIndex(result_.shape(), [&](std::span<const std::int64_t> index) {
      result_.store(index, finish(index, (*this)[index]));
    });
  }

private:
  View result_;
  Strides strides_;
  std::vector<double> values_;
};

double unchanged(std::span<const std::int64_t>, double sum) {
  return sum;
}

void referenceForward(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const bool hasBias = attributes.getInt("bias") != 0;
  const bool hasRelu = attributes.getString("activation") == "RELU";
  const View x = inputView(call, 0);
  const View w = inputView(call, 1);
  const auto shape =
      convolutionShape("convolution", attributes, x.shape(), w.shape());
  Sums sums(outputView(call, 0));
  forEachProduct(shape, [&](const auto &atX, const auto &atW, const auto &atY) {
    sums[atY] += x.load(atX) * w.load(atW);
  });
  sums.store([&](std::span<const std::int64_t> index, double sum) {
    sum += hasBias ? inputView(call, 2)(index[1]) : 0;
    return hasRelu ? std::max(sum, 0.0) : sum;
  });
}

void referenceDataGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View w = inputView(call, 1);
  const View dx = outputView(call, 0);
  const auto shape = convolutionShape(
      "convolutionDataGrad", call.signature.attributes, dx.shape(), w.shape());
  Sums sums(dx);
  forEachProduct(shape, [&](const auto &atX, const auto &atW, const auto &atY) {
    sums[atX] += dy.load(atY) * w.load(atW);
  });
  sums.store(unchanged);
}

void referenceWeightGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View x = inputView(call, 1);
  const View dw = outputView(call, 0);
  const auto shape =
      convolutionShape("convolutionWeightGrad", call.signature.attributes,
                       x.shape(), dw.shape());
  Sums sums(dw);
  forEachProduct(shape, [&](const auto &atX, const auto &atW, const auto &atY) {
    sums[atW] += dy.load(atY) * x.load(atX);
  });
  sums.store(unchanged);
}

} // namespace

const Kind &convolutionKind() {
  static const Kind kind{"convolution", inferForward, referenceForward,
                         convolutionKernels()};
  return kind;
}

const Kind &convolutionDataGradKind() {
  static const Kind kind{"convolutionDataGrad", inferDataGrad,
                         referenceDataGrad, convolutionDataGradKernels()};
  return kind;
}

const Kind &convolutionWeightGradKind() {
  static const Kind kind{"convolutionWeightGrad", inferWeightGrad,
                         referenceWeightGrad, convolutionWeightGradKernels()};
  return kind;
}

} // namespace kernels
