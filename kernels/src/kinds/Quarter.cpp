// "toQuarter" and "fromQuarter": casts to and from 8-bit floats, whose meaning
// is in an operand.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"
#include "rounding/QuarterCodes.hpp"

#include <algorithm>
#include <cmath>

namespace kernels {

namespace {

void requireMetadata(std::string_view kind,
                     std::span<const TensorType> inputs) {
  requireInputCount(kind, inputs, 2);
  requireType(kind, "metadata", inputs[1], {DataType::UnsignedChar});
  require(support::elementCount(inputs[1].shape) == 1,
          "[{}] metadata has shape {}; it must have one element", kind,
          support::toString(inputs[1].shape));
}

std::vector<TensorType> inferToQuarter(const Attributes &,
                                       std::span<const TensorType> inputs) {
  requireMetadata("toQuarter", inputs);
  requireFloating("toQuarter", "x", inputs[0]);
  return {{DataType::Quarter, inputs[0].shape}};
}

std::vector<TensorType> inferFromQuarter(const Attributes &attributes,
                                         std::span<const TensorType> inputs) {
  requireMetadata("fromQuarter", inputs);
  requireType("fromQuarter", "x", inputs[0], {DataType::Quarter});
  return {{productType("fromQuarter", attributes, DataType::Half),
           inputs[0].shape}};
}

rounding::QuarterFormat formatOf(const ReferenceCall &call) {
  return rounding::quarterFormat(
      static_cast<std::uint8_t>(inputView(call, 1).scalar()));
}

// The code whose value is nearest; of two, the even one.
std::uint8_t nearestCode(double x, const rounding::QuarterFormat &format) {
  if (std::isnan(x)) {
    return rounding::quarterNan;
  }
  constexpr std::uint8_t largest = 0x7f;
  const double magnitude =
      std::min(std::abs(x), double{rounding::quarterValue(largest, format)});
  const auto distance = [&](int code) {
    return std::abs(magnitude - rounding::quarterValue(
                                    static_cast<std::uint8_t>(code), format));
  };
  int best = largest;
  for (int code = best - 1; code >= 0; --code) {
    const bool isNearer = distance(code) < distance(best);
    const bool isEven = distance(code) == distance(best) && code % 2 == 0;
    best = isNearer || isEven ? code : best;
  }
  return static_cast<std::uint8_t>(best | (x < 0 && best != 0 ? 0x80 : 0));
}

void referenceToQuarter(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const rounding::QuarterFormat format = formatOf(call);
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> index) {
    *y.at(index) = std::byte{nearestCode(x.load(index), format)};
  });
}

void referenceFromQuarter(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const rounding::QuarterFormat format = formatOf(call);
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> index) {
    const auto code = static_cast<std::uint8_t>(*x.at(index));
    y.store(index, rounding::quarterValue(code, format));
  });
}

} // namespace

const Kind &toQuarterKind() {
  static const Kind kind{"toQuarter", inferToQuarter, referenceToQuarter,
                         toQuarterKernels()};
  return kind;
}

const Kind &fromQuarterKind() {
  static const Kind kind{"fromQuarter", inferFromQuarter, referenceFromQuarter,
                         fromQuarterKernels()};
  return kind;
}

} // namespace kernels
