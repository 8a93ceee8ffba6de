// "topK": the k first elements of each row in an order, and what goes with
// them. A whole row is a sort.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  const auto &payload = requireChoice("topK", attributes, "payload",
                                      {"none", "permutation", "values"});
  requireInputCount("topK", inputs, payload == "values" ? 2 : 1);
  requireType(
      "topK", "keys", inputs[0],
      {DataType::Float, DataType::Half, DataType::Int, DataType::UnsignedInt});
  requireChoice("topK", attributes, "order", {"ASCENDING", "DESCENDING"});
  attributes.getInt("largest");
  const auto k = attributes.getInt("k");
  require(!inputs[0].shape.empty() && k >= 0 && k <= inputs[0].shape.back(),
          "[topK] k is {}; rows of shape {} have no such part", k,
          support::toString(inputs[0].shape));
  Shape shape = inputs[0].shape;
  shape.back() = k;
  std::vector<TensorType> outputs{{inputs[0].type, shape}};
  if (payload == "permutation") {
    outputs.push_back({DataType::UnsignedInt, shape});
  } else if (payload == "values") {
    requireShape("topK", "values", inputs[1], inputs[0].shape);
    outputs.push_back({inputs[1].type, shape});
  }
  return outputs;
}

// Whether a comes before b in ascending order: not-a-number comes last.
bool isLess(double a, double b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

void reference(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const bool isLargest = attributes.getInt("largest") != 0;
  const bool isDescending = attributes.getString("order") == "DESCENDING";
  const auto &payload = attributes.getString("payload");
  const View keys = inputView(call, 0);
  const View sorted = outputView(call, 0);
  const auto length = static_cast<std::size_t>(keys.shape().back());
  const auto k = attributes.getInt("k");
  Shape rows = keys.shape();
  rows.back() = 1;
  forEachIndex(rows, [&](std::span<const std::int64_t> at) {
    Shape from(at.begin(), at.end());
    const auto keyOf = [&](std::int64_t index) {
      from.back() = index;
      return keys.load(from);
    };
    // Equal keys stay in the order of their positions.
    const auto sortBy = [&](bool isDown) {
      return [&, isDown](std::int64_t a, std::int64_t b) {
        return isDown ? isLess(keyOf(b), keyOf(a)) : isLess(keyOf(a), keyOf(b));
      };
    };
    std::vector<std::int64_t> order(length);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), sortBy(isLargest));
    order.resize(static_cast<std::size_t>(k));
    std::sort(order.begin(), order.end());
    std::stable_sort(order.begin(), order.end(), sortBy(isDescending));
    Shape to(at.begin(), at.end());
    for (std::int64_t i = 0; i < k; ++i) {
      to.back() = i;
      from.back() = order[static_cast<std::size_t>(i)];
      std::memcpy(sorted.at(to), keys.at(from), sizeOf(keys.type()));
      if (payload == "permutation") {
        outputView(call, 1).store(to, static_cast<double>(from.back()));
      } else if (payload == "values") {
        const View values = inputView(call, 1);
        std::memcpy(outputView(call, 1).at(to), values.at(from),
                    sizeOf(values.type()));
      }
    }
  });
}

} // namespace

const Kind &topKKind() {
  static const Kind kind{"topK", infer, reference, topKKernels()};
  return kind;
}

} // namespace kernels
