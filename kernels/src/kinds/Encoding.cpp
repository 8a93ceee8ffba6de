// "oneHot" and "iota": tensors made from indices.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cstring>

namespace kernels {

namespace {

std::vector<TensorType> inferOneHot(const Attributes &attributes,
                                    std::span<const TensorType> inputs) {
  requireInputCount("oneHot", inputs, 3);
  requireType("oneHot", "indices", inputs[0],
              {DataType::UnsignedInt, DataType::Int});
  requireRank("oneHot", "indices", inputs[0], 1);
  requireType(
      "oneHot", "on", inputs[1],
      {DataType::Float, DataType::Half, DataType::Int, DataType::UnsignedInt});
  requireType("oneHot", "off", inputs[2], {inputs[1].type});
  for (std::size_t i = 1; i < 3; ++i) {
    require(support::elementCount(inputs[i].shape) == 1,
            "[oneHot] {} has shape {}; it must have one element",
            i == 1 ? "on" : "off", support::toString(inputs[i].shape));
  }
  const auto classes = attributes.getInt("classes");
  require(classes >= 0, "[oneHot] classes is {}; it must not be negative",
          classes);
  return {{inputs[1].type, {inputs[0].shape[0], classes}}};
}

void referenceOneHot(const ReferenceCall &call) {
  const View indices = inputView(call, 0);
  const View encoded = outputView(call, 0);
  const double on = inputView(call, 1).scalar();
  const double off = inputView(call, 2).scalar();
  for (std::int64_t row = 0; row < encoded.extent(0); ++row) {
    for (std::int64_t c = 0; c < encoded.extent(1); ++c) {
      encoded.set(indices(row) == static_cast<double>(c) ? on : off, row, c);
    }
  }
}

std::vector<TensorType> inferIota(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  requireInputCount("iota", inputs, 0);
  const TensorType output{static_cast<DataType>(attributes.getInt("type")),
                          {attributes.getInt("count")}};
  requireType("iota", "output", output, {DataType::UnsignedInt, DataType::Int});
  attributes.getInt("start");
  return {output};
}

// Counts wrap, as 32 bits do.
void referenceIota(const ReferenceCall &call) {
  const View output = outputView(call, 0);
  const auto start =
      static_cast<std::uint32_t>(call.signature.attributes.getInt("start"));
  for (std::int64_t i = 0; i < output.extent(0); ++i) {
    const std::uint32_t value = start + static_cast<std::uint32_t>(i);
    std::memcpy(output.at({{i}}), &value, sizeof value);
  }
}

} // namespace

const Kind &oneHotKind() {
  static const Kind kind{"oneHot", inferOneHot, referenceOneHot,
                         oneHotKernels()};
  return kind;
}

const Kind &iotaKind() {
  static const Kind kind{"iota", inferIota, referenceIota, iotaKernels()};
  return kind;
}

} // namespace kernels
