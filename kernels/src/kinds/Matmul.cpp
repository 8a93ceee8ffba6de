// "matmul": products of matrices, one or a group of them, with an optional bias
// and activation.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  const bool hasBias = attributes.getInt("bias") != 0;
  requireInputCount("matmul", inputs, hasBias ? 3 : 2);
  requireChoice("matmul", attributes, "activation", {"", "RELU"});
  const auto &a = inputs[0];
  const auto &b = inputs[1];
  requireFloating("matmul", "a", a);
  requireType("matmul", "b", b, {a.type});
  require(a.shape.size() >= 2,
          "[matmul] a has shape {}; its rank must be 2 or more",
          support::toString(a.shape));
  requireRank("matmul", "b", b, a.shape.size());
  const std::size_t rank = a.shape.size();
  require(std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin()),
          "[matmul] a has shape {} and b {}; the groups must be equal",
          support::toString(a.shape), support::toString(b.shape));
  require(a.shape[rank - 1] == b.shape[rank - 2],
          "[matmul] a has shape {} and b {}; a's columns must be b's rows",
          support::toString(a.shape), support::toString(b.shape));
  TensorType result = a;
  result.type = productType("matmul", attributes, a.type);
  if (hasBias) {
    requireType("matmul", "bias", inputs[2], {result.type});
    requireShape("matmul", "bias", inputs[2], {b.shape[rank - 1]});
  }
  result.shape[rank - 1] = b.shape[rank - 1];
  return {std::move(result)};
}

void reference(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const bool hasBias = attributes.getInt("bias") != 0;
  const bool hasRelu = attributes.getString("activation") == "RELU";
  const View a = inputView(call, 0);
  const View b = inputView(call, 1);
  const View y = outputView(call, 0);
  const std::int64_t depth = a.shape().back();
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> index) {
    Shape aIndex(index.begin(), index.end()), bIndex = aIndex;
    double sum = hasBias ? inputView(call, 2)(index.back()) : 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      aIndex.back() = k;
      bIndex[bIndex.size() - 2] = k;
      sum += a.load(aIndex) * b.load(bIndex);
    }
    y.store(index, hasRelu ? std::max(sum, 0.0) : sum);
  });
}

} // namespace

const Kind &matmulKind() {
  static const Kind kind{"matmul", infer, reference, matmulKernels()};
  return kind;
}

} // namespace kernels
