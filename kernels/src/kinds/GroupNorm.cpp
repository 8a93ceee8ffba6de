// "groupNorm": each sample's groups of channels brought to mean 0 and variance
// 1, then scaled and shifted per channel; and its gradient.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

std::int64_t requireGroups(std::string_view kind, const Attributes &attributes,
                           const TensorType &x) {
  require(x.shape.size() >= 2,
          "[{}] x has shape {}; its rank must be 2 or more", kind,
          support::toString(x.shape));
  const auto groups = attributes.getInt("groups");
  require(groups >= 1 && x.shape[1] % groups == 0,
          "[{}] groups is {}; it must divide the {} channels", kind, groups,
          x.shape[1]);
  return groups;
}

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  requireInputCount("groupNorm", inputs, 3);
  const auto &x = inputs[0];
  requireFloating("groupNorm", "x", x);
  const auto groups = requireGroups("groupNorm", attributes, x);
  require(attributes.getFloat("epsilon") >= 0,
          "[groupNorm] epsilon is {}; it must not be negative",
          attributes.getFloat("epsilon"));
  requireType("groupNorm", "gamma", inputs[1], {x.type});
  requireType("groupNorm", "beta", inputs[2], {x.type});
  requireShape("groupNorm", "gamma", inputs[1], {x.shape[1]});
  requireShape("groupNorm", "beta", inputs[2], {x.shape[1]});
  const TensorType statistics{x.type, {x.shape[0], groups}};
  return {x, statistics, statistics};
}

std::vector<TensorType> inferGrad(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  requireInputCount("groupNormGrad", inputs, 5);
  const auto &x = inputs[1];
  requireFloating("groupNormGrad", "x", x);
  const auto groups = requireGroups("groupNormGrad", attributes, x);
  const std::string_view names[] = {"dy", "x", "gamma", "mean", "invStdDev"};
  const Shape statistics{x.shape[0], groups};
  const Shape shapes[] = {
      x.shape, x.shape, {x.shape[1]}, statistics, statistics};
  for (std::size_t i = 0; i < 5; ++i) {
    requireType("groupNormGrad", names[i], inputs[i], {x.type});
    requireShape("groupNormGrad", names[i], inputs[i], shapes[i]);
  }
  return {x, inputs[2], inputs[2]};
}

// Calls visit(index) for the elements of sample n in channels [begin, end).
template <typename Visit>
void forEachIn(const Shape &shape, std::int64_t n, std::int64_t begin,
               std::int64_t end, const Visit &visit) {
  Shape part = shape;
  part[0] = 1;
  part[1] = end - begin;
  Shape index(shape.size());
  forEachIndex(part, [&](std::span<const std::int64_t> at) {
    index.assign(at.begin(), at.end());
    index[0] = n;
    index[1] += begin;
    visit(std::span<const std::int64_t>(index));
  });
}

void referenceForward(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View gamma = inputView(call, 1);
  const View beta = inputView(call, 2);
  const View y = outputView(call, 0);
  const auto groups = call.signature.attributes.getInt("groups");
  const double epsilon = call.signature.attributes.getFloat("epsilon");
  const auto channels = x.extent(1) / groups;
  for (std::int64_t n = 0; n < x.extent(0); ++n) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto begin = g * channels;
      const auto end = begin + channels;
      double sum = 0;
      double squares = 0;
      std::int64_t count = 0;
      forEachIn(x.shape(), n, begin, end, [&](auto index) {
        sum += x.load(index);
        ++count;
      });
      const double mean = sum / static_cast<double>(count);
      forEachIn(x.shape(), n, begin, end, [&](auto index) {
        squares += (x.load(index) - mean) * (x.load(index) - mean);
      });
      const double scale =
          1 / std::sqrt(squares / static_cast<double>(count) + epsilon);
      forEachIn(x.shape(), n, begin, end, [&](auto index) {
        y.store(index, (x.load(index) - mean) * scale * gamma(index[1]) +
                           beta(index[1]));
      });
      outputView(call, 1).set(mean, n, g);
      outputView(call, 2).set(scale, n, g);
    }
  }
}

// With u = gamma * dy and n = (x - mean) * invStdDev:
// dx = invStdDev * (u - mean(u) - n * mean(u * n)) over each group.
void gradByInput(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View x = inputView(call, 1);
  const View gamma = inputView(call, 2);
  const View dx = outputView(call, 0);
  const auto groups = call.signature.attributes.getInt("groups");
  const auto channels = x.extent(1) / groups;
  for (std::int64_t n = 0; n < x.extent(0); ++n) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const double mean = inputView(call, 3)(n, g);
      const double scale = inputView(call, 4)(n, g);
      const auto begin = g * channels;
      const auto end = begin + channels;
      double sum = 0;
      double product = 0;
      double count = 0;
      forEachIn(x.shape(), n, begin, end, [&](auto index) {
        const double u = dy.load(index) * gamma(index[1]);
        sum += u;
        product += u * (x.load(index) - mean) * scale;
        ++count;
      });
      forEachIn(x.shape(), n, begin, end, [&](auto index) {
        const double u = dy.load(index) * gamma(index[1]);
        const double normal = (x.load(index) - mean) * scale;
        dx.store(index, scale * (u - sum / count - normal * product / count));
      });
    }
  }
}

void referenceGrad(const ReferenceCall &call) {
  gradByInput(call);
  const View dy = inputView(call, 0);
  const View x = inputView(call, 1);
  const auto groups = call.signature.attributes.getInt("groups");
  for (std::int64_t c = 0; c < x.extent(1); ++c) {
    const auto g = c / (x.extent(1) / groups);
    double byGamma = 0;
    double byBeta = 0;
    for (std::int64_t n = 0; n < x.extent(0); ++n) {
      const double mean = inputView(call, 3)(n, g);
      const double scale = inputView(call, 4)(n, g);
      forEachIn(x.shape(), n, c, c + 1, [&](auto index) {
        byGamma += dy.load(index) * (x.load(index) - mean) * scale;
        byBeta += dy.load(index);
      });
    }
    outputView(call, 1).set(byGamma, c);
    outputView(call, 2).set(byBeta, c);
  }
}

} // namespace

const Kind &groupNormKind() {
  static const Kind kind{"groupNorm", inferForward, referenceForward,
                         groupNormKernels()};
  return kind;
}

const Kind &groupNormGradKind() {
  static const Kind kind{"groupNormGrad", inferGrad, referenceGrad,
                         groupNormGradKernels()};
  return kind;
}

} // namespace kernels
