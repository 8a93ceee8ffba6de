// Elements, declared types and the attributes that name types.
#include <onnx/ConvertTypes.hpp>

#include <onnx/Proto.hpp>
#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace popart {
namespace {

template <typename From, typename F>
auto mapElements(const std::vector<char> &bytes, F &&f) {
  using To = decltype(f(From()));
  std::size_t count = bytes.size() / sizeof(From);
  std::vector<char> result(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    To converted = f(value);
    std::memcpy(result.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return result;
}

template <typename From> std::vector<char> toInt32(const std::vector<char> &b) {
  return mapElements<From>(b, [](From v) { return std::int32_t{v}; });
}

template <typename From> std::vector<char> toHalf(const std::vector<char> &b) {
  return mapElements<From>(b, [](From v) {
    return support::floatToHalfBits(static_cast<float>(v));
  });
}

std::vector<char> narrow(const onnx::TensorProto &tensor,
                         const std::vector<char> &bytes, bool clip) {
  using Limits = std::numeric_limits<std::int32_t>;
  return mapElements<std::int64_t>(bytes, [&](std::int64_t value) {
    std::int64_t clipped =
        std::clamp<std::int64_t>(value, Limits::min(), Limits::max());
    support::requireUser<error>(
        clip || clipped == value,
        "[GraphTransformer] the value {} of tensor '{}' does not fit INT32; "
        "clip=True takes the nearest that does",
        value, tensor.name());
    return static_cast<std::int32_t>(clipped);
  });
}

std::vector<char> convertElements(const onnx::TensorProto &tensor,
                                  DataType from, DataType to, bool clip) {
  std::vector<char> bytes = bytesOf(tensor);
  bool toHalves = to == DataType::FLOAT16;
  switch (from) {
  case DataType::FLOAT:
    return toHalf<float>(bytes);
  case DataType::DOUBLE:
    return toHalves ? toHalf<double>(bytes)
                    : mapElements<double>(bytes, [](double value) {
                        return static_cast<float>(value);
                      });
  case DataType::BFLOAT16: // the upper half of a float
    return mapElements<std::uint16_t>(
        bytes, [](std::uint16_t bits) { return std::uint32_t{bits} << 16; });
  case DataType::UINT8:
    return toInt32<std::uint8_t>(bytes);
  case DataType::UINT16:
    return toInt32<std::uint16_t>(bytes);
  case DataType::INT8:
    return toInt32<std::int8_t>(bytes);
  case DataType::INT16:
    return toInt32<std::int16_t>(bytes);
  case DataType::INT64:
    return narrow(tensor, bytes, clip);
  default:
    throw internal_error("[GraphTransformer] no such conversion");
  }
}

// "to" of Cast, "dtype" of random numbers and the like.
bool namesType(const onnx::AttributeProto &attribute) {
  return attribute.name() == "to" || attribute.name() == "dtype";
}

void convertValues(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> &v,
                   int from, int to) {
  for (onnx::ValueInfoProto &value : v) {
    if (value.type().tensor_type().elem_type() == from) {
      value.mutable_type()->mutable_tensor_type()->set_elem_type(to);
    }
  }
}

void convertDeclarations(onnx::GraphProto &graph, int from, int to) {
  convertValues(*graph.mutable_input(), from, to);
  convertValues(*graph.mutable_output(), from, to);
  convertValues(*graph.mutable_value_info(), from, to);
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (namesType(attribute) && attribute.i() == from) {
        attribute.set_i(to);
      } else if (attribute.has_g()) {
        convertDeclarations(*attribute.mutable_g(), from, to);
      }
    }
  }
}

} // namespace

void convertTypes(onnx::ModelProto &model, DataType from, DataType to,
                  bool clip) {
  int fromNumber = toOnnxType(from);
  forEachTensor(*model.mutable_graph(), [&](onnx::TensorProto &tensor) {
    if (tensor.data_type() == fromNumber) {
      std::vector<char> bytes = convertElements(tensor, from, to, clip);
      clearData(tensor);
      tensor.set_data_type(toOnnxType(to));
      tensor.set_raw_data(bytes.data(), bytes.size());
    }
  });
  convertDeclarations(*model.mutable_graph(), fromNumber, toOnnxType(to));
}

} // namespace popart
