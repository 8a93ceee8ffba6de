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
  const auto shape = convolutionShape("convolution", attributes,
                                      inputs[0].shape, inputs[1].shape);
  if (hasBias) {
    requireType("convolution", "bias", inputs[2], {inputs[0].type});
    requireShape("convolution", "bias", inputs[2], {shape.outChannels});
  }
  return {{inputs[0].type, shape.outputShape()}};
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
  return {{inputs[0].type, shape.inputShape()}};
}

// w's shape follows from dy, x and the attribute.
Shape weightShape(const Attributes &attributes,
                  std::span<const TensorType> inputs) {
  const auto &kernel =
      requireInts("convolutionWeightGrad", attributes, "kernelShape", 2, 1);
  requireRank("convolutionWeightGrad", "dy", inputs[0], 4);
  requireRank("convolutionWeightGrad", "x", inputs[1], 4);
  const auto groups = std::max<std::int64_t>(1, attributes.getInt("groups"));
  return {inputs[0].shape[1], inputs[1].shape[1] / groups, kernel[0],
          kernel[1]};
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
  return {{inputs[0].type, shape.weightShape()}};
}

// Calls visit(n, o, c, i, j, p, q, oy, ox) for every product of the
// convolution: y[n,o,oy,ox] += x[n,c,i,j] * w[o,c in its group,p,q].
template <typename Visit>
void forEachProduct(const ConvolutionShape &s, const Visit &visit) {
  const Shape all{s.batch,     s.outChannels, s.inChannelsPerGroup(),
                  s.kernel[0], s.kernel[1],   s.out[0],
                  s.out[1]};
  forEachIndex(all, [&](std::span<const std::int64_t> at) {
    const auto [n, o, g, p, q, oy, ox] =
        std::array{at[0], at[1], at[2], at[3], at[4], at[5], at[6]};
    const auto i = oy * s.strides[0] + p * s.dilations[0] - s.padLower[0];
    const auto j = ox * s.strides[1] + q * s.dilations[1] - s.padLower[1];
    if (i >= 0 && i < s.in[0] && j >= 0 && j < s.in[1]) {
      const auto group = o / s.outChannelsPerGroup();
      const auto c = group * s.inChannelsPerGroup() + g;
      visit(std::array{n, c, i, j}, std::array{o, g, p, q},
            std::array{n, o, oy, ox});
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
