// "attention": the rows of v in the mixture that a softmax of the products of
// queries and keys gives, for each of a group of matrices.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  const bool isScaled = !requireChoice("attention", attributes, "scaling",
                                       {"", "MULTIPLY", "DIVIDE"})
                             .empty();
  const bool hasMask = attributes.getInt("mask") != 0;
  requireInputCount("attention", inputs,
                    3 + std::size_t{isScaled} + std::size_t{hasMask});
  for (const TensorType &input : inputs) {
    requireType("attention", "each operand", input, {DataType::Float});
  }
  const Shape &q = inputs[0].shape;
  const Shape &v = inputs[2].shape;
  const std::size_t rank = q.size();
  require(rank >= 2, "[attention] q has shape {}; its rank must be 2 or more",
          support::toString(q));
  requireRank("attention", "v", inputs[2], rank);
  const std::int64_t keys = v[rank - 2];
  require(keys >= 1, "[attention] v has shape {}; it must have rows",
          support::toString(v));
  Shape wanted = q;
  wanted[rank - 2] = keys;
  requireShape("attention", "k", inputs[1], wanted);
  wanted[rank - 1] = v[rank - 1];
  requireShape("attention", "v", inputs[2], wanted);
  if (isScaled) {
    requireScalar("attention", "scale", inputs[3]);
  }
  if (hasMask) {
    wanted = q;
    wanted[rank - 1] = keys;
    requireShape("attention", "mask", inputs.back(), wanted);
  }
  TensorType result = inputs[0];
  result.shape[rank - 1] = v[rank - 1];
  return {std::move(result)};
}

// The softmax of one row of products; `index` is its first element's.
std::vector<double> weightsOf(const ReferenceCall &call, double scale,
                              Shape index) {
  const std::size_t rank = index.size();
  const View q = inputView(call, 0);
  const View k = inputView(call, 1);
  const bool hasMask = call.signature.attributes.getInt("mask") != 0;
  std::vector<double> weights(static_cast<std::size_t>(k.shape()[rank - 2]));
  Shape key = index;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    key[rank - 2] = static_cast<std::int64_t>(j);
    for (std::int64_t d = 0; d < q.shape().back(); ++d) {
      index[rank - 1] = key[rank - 1] = d;
      weights[j] += q.load(index) * k.load(key);
    }
    weights[j] *= scale;
    if (hasMask) {
      index[rank - 1] = static_cast<std::int64_t>(j);
      weights[j] +=
          inputView(call, call.signature.inputs.size() - 1).load(index);
    }
  }
  const double top = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double &weight : weights) {
    weight = std::exp(weight - top);
    sum += weight;
  }
  for (double &weight : weights) {
    weight /= sum;
  }
  return weights;
}

void reference(const ReferenceCall &call) {
  const std::string &scaling = call.signature.attributes.getString("scaling");
  double scale = scaling.empty() ? 1 : inputView(call, 3).scalar();
  scale = scaling == "DIVIDE" ? 1 / scale : scale;
  const View v = inputView(call, 2);
  const View y = outputView(call, 0);
  Shape rows = y.shape();
  rows.back() = 1;
  forEachIndex(rows, [&](std::span<const std::int64_t> at) {
    Shape index(at.begin(), at.end());
    const std::vector<double> weights = weightsOf(call, scale, index);
    Shape key = index;
    for (std::int64_t d = 0; d < y.shape().back(); ++d) {
      double sum = 0;
      key.back() = index.back() = d;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        key[key.size() - 2] = static_cast<std::int64_t>(j);
        sum += weights[j] * v.load(key);
      }
      y.store(index, sum);
    }
  });
}

} // namespace

const Kind &attentionKind() {
  static const Kind kind{"attention", infer, reference, attentionKernels()};
  return kind;
}

} // namespace kernels
