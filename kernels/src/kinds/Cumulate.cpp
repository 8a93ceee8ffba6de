// "cumulate": running sums or products along a dimension.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cstring>

namespace kernels {

namespace {

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("cumulate", inputs, 1);
  requireType(
      "cumulate", "x", inputs[0],
      {DataType::Float, DataType::Half, DataType::Int, DataType::UnsignedInt});
  const auto dim = attributes.getInt("dim");
  require(dim >= 0 && dim < static_cast<std::int64_t>(inputs[0].shape.size()),
          "[cumulate] dim is {}; x has shape {}", dim,
          support::toString(inputs[0].shape));
  requireChoice("cumulate", attributes, "op", {"ADD", "MUL"});
  attributes.getInt("exclusive");
  attributes.getInt("reverse");
  return {inputs[0]};
}

void reference(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const auto dim = static_cast<std::size_t>(attributes.getInt("dim"));
  const bool isProduct = attributes.getString("op") == "MUL";
  const bool isExclusive = attributes.getInt("exclusive") != 0;
  const bool isReverse = attributes.getInt("reverse") != 0;
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const bool isWhole = !support::isFloatingPoint(x.type());
  const auto length = x.extent(dim);
  Shape lines = x.shape();
  lines[dim] = std::min<std::int64_t>(length, 1);
  forEachIndex(lines, [&](std::span<const std::int64_t> first) {
    Shape at(first.begin(), first.end());
    double total = isProduct ? 1 : 0;
    std::uint32_t wholeTotal = isProduct ? 1 : 0; // whole numbers wrap
    const auto store = [&] {
      if (isWhole) {
        std::memcpy(y.at(at), &wholeTotal, sizeof wholeTotal);
      } else {
        y.store(at, total);
      }
    };
    for (std::int64_t i = 0; i < length; ++i) {
      at[dim] = isReverse ? length - 1 - i : i;
      const double value = x.load(at);
      const auto whole =
          isWhole ? static_cast<std::uint32_t>(static_cast<std::int64_t>(value))
                  : 0;
      if (isExclusive) {
        store();
      }
      total = isProduct ? total * value : total + value;
      wholeTotal = isProduct ? wholeTotal * whole : wholeTotal + whole;
      if (!isExclusive) {
        store();
      }
    }
  });
}

} // namespace

const Kind &cumulateKind() {
  static const Kind kind{"cumulate", infer, reference, cumulateKernels()};
  return kind;
}

} // namespace kernels
