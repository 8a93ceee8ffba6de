// "batchNorm": every channel brought to mean 0 and variance 1 over the batch
// and the field, then scaled and shifted; and its gradient.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

void requireChannels(std::string_view kind, const TensorType &x) {
  requireFloating(kind, "x", x);
  require(x.shape.size() >= 2,
          "[{}] x has shape {}; it must be [batch, channels, field...]", kind,
          support::toString(x.shape));
}

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  requireInputCount("batchNorm", inputs, 3);
  const auto &x = inputs[0];
  requireChannels("batchNorm", x);
  require(attributes.getFloat("epsilon") >= 0,
          "[batchNorm] epsilon is {}; it must not be negative",
          attributes.getFloat("epsilon"));
  const TensorType perChannel{x.type, {x.shape[1]}};
  requireType("batchNorm", "gamma", inputs[1], {x.type});
  requireShape("batchNorm", "gamma", inputs[1], perChannel.shape);
  requireType("batchNorm", "beta", inputs[2], {x.type});
  requireShape("batchNorm", "beta", inputs[2], perChannel.shape);
  return {x, perChannel, perChannel};
}

std::vector<TensorType> inferGrad(const Attributes &,
                                  std::span<const TensorType> inputs) {
  requireInputCount("batchNormGrad", inputs, 5);
  const auto &x = inputs[1];
  requireChannels("batchNormGrad", x);
  requireType("batchNormGrad", "dy", inputs[0], {x.type});
  requireShape("batchNormGrad", "dy", inputs[0], x.shape);
  const TensorType perChannel{x.type, {x.shape[1]}};
  const std::string_view names[] = {"dy", "x", "gamma", "mean", "invStdDev"};
  for (std::size_t i = 2; i < 5; ++i) {
    requireType("batchNormGrad", names[i], inputs[i], {x.type});
    requireShape("batchNormGrad", names[i], inputs[i], perChannel.shape);
  }
  return {x, perChannel, perChannel};
}

// Calls visit(index) for every element of channel c.
template <typename Visit>
void forEachOf(const Shape &shape, std::int64_t c, const Visit &visit) {
  Shape channel = shape;
  channel[1] = 1;
  Shape index(shape.size());
  forEachIndex(channel, [&](std::span<const std::int64_t> at) {
    index.assign(at.begin(), at.end());
    index[1] = c;
    visit(std::span<const std::int64_t>(index));
  });
}

double countOf(const View &x) {
  return static_cast<double>(support::elementCount(x.shape()) / x.extent(1));
}

void referenceForward(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const auto &attributes = call.signature.attributes;
  for (std::int64_t c = 0; c < x.extent(1); ++c) {
    double sum = 0;
    forEachOf(x.shape(), c, [&](auto at) { sum += x.load(at); });
    const double mean = sum / countOf(x);
    double squares = 0;
    forEachOf(x.shape(), c, [&](auto at) {
      squares += (x.load(at) - mean) * (x.load(at) - mean);
    });
    const double scale =
        1 / std::sqrt(squares / countOf(x) + attributes.getFloat("epsilon"));
    forEachOf(x.shape(), c, [&](auto at) {
      y.store(at, (x.load(at) - mean) * scale * inputView(call, 1)(c) +
                      inputView(call, 2)(c));
    });
    outputView(call, 1).set(mean, c);
    outputView(call, 2).set(scale, c);
  }
}

void referenceGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View x = inputView(call, 1);
  for (std::int64_t c = 0; c < x.extent(1); ++c) {
    const double gamma = inputView(call, 2)(c);
    const double mean = inputView(call, 3)(c);
    const double scale = inputView(call, 4)(c);
    double byGamma = 0;
    double byBeta = 0;
    forEachOf(x.shape(), c, [&](auto at) {
      byGamma += dy.load(at) * (x.load(at) - mean) * scale;
      byBeta += dy.load(at);
    });
    forEachOf(x.shape(), c, [&](auto at) {
      const double normal = (x.load(at) - mean) * scale;
      outputView(call, 0).store(at, gamma * scale *
                                        (dy.load(at) - byBeta / countOf(x) -
                                         normal * byGamma / countOf(x)));
    });
    outputView(call, 1).set(byGamma, c);
    outputView(call, 2).set(byBeta, c);
  }
}

} // namespace

const Kind &batchNormKind() {
  static const Kind kind{"batchNorm", inferForward, referenceForward,
                         batchNormKernels()};
  return kind;
}

const Kind &batchNormGradKind() {
  static const Kind kind{"batchNormGrad", inferGrad, referenceGrad,
                         batchNormGradKernels()};
  return kind;
}

} // namespace kernels
