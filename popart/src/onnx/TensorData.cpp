// Element types, shapes and elements of ONNX's tensors.
#include <onnx/TensorData.hpp>

#include <onnx/Proto.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <cstring>

namespace popart {
namespace {

struct TypeRow {
  DataType type;
  onnx::TensorProto::DataType onnxType;
};

constexpr TypeRow typeRows[] = {
    {DataType::UINT8, onnx::TensorProto::UINT8},
    {DataType::INT8, onnx::TensorProto::INT8},
    {DataType::UINT16, onnx::TensorProto::UINT16},
    {DataType::INT16, onnx::TensorProto::INT16},
    {DataType::INT32, onnx::TensorProto::INT32},
    {DataType::INT64, onnx::TensorProto::INT64},
    {DataType::UINT32, onnx::TensorProto::UINT32},
    {DataType::UINT64, onnx::TensorProto::UINT64},
    {DataType::BOOL, onnx::TensorProto::BOOL},
    {DataType::FLOAT, onnx::TensorProto::FLOAT},
    {DataType::FLOAT16, onnx::TensorProto::FLOAT16},
    {DataType::BFLOAT16, onnx::TensorProto::BFLOAT16},
    {DataType::DOUBLE, onnx::TensorProto::DOUBLE},
    {DataType::COMPLEX64, onnx::TensorProto::COMPLEX64},
    {DataType::COMPLEX128, onnx::TensorProto::COMPLEX128},
};

// No device has room for more, and products of dimensions stay in 64 bits.
constexpr std::int64_t mostElements = std::int64_t{1} << 40;

template <typename To, typename Field>
std::vector<char> convert(const Field &values) {
  std::vector<char> bytes(static_cast<std::size_t>(values.size()) * sizeof(To));
  char *next = bytes.data();
  for (auto value : values) {
    auto converted = static_cast<To>(value);
    std::memcpy(next, &converted, sizeof(To));
    next += sizeof(To);
  }
  return bytes;
}

// From the field for the type; ONNX packs small integers into 32 bits.
std::vector<char> typedBytes(const onnx::TensorProto &tensor, DataType type) {
  switch (type) {
  case DataType::FLOAT:
  case DataType::COMPLEX64:
    return convert<float>(tensor.float_data());
  case DataType::DOUBLE:
  case DataType::COMPLEX128:
    return convert<double>(tensor.double_data());
  case DataType::INT64:
    return convert<std::int64_t>(tensor.int64_data());
  case DataType::UINT64:
    return convert<std::uint64_t>(tensor.uint64_data());
  case DataType::UINT32:
    return convert<std::uint32_t>(tensor.uint64_data());
  case DataType::INT32:
    return convert<std::int32_t>(tensor.int32_data());
  case DataType::INT16:
    return convert<std::int16_t>(tensor.int32_data());
  case DataType::UINT16:
  case DataType::FLOAT16: // its bits
  case DataType::BFLOAT16:
    return convert<std::uint16_t>(tensor.int32_data());
  case DataType::INT8:
    return convert<std::int8_t>(tensor.int32_data());
  case DataType::UINT8:
    return convert<std::uint8_t>(tensor.int32_data());
  case DataType::BOOL:
    return convert<bool>(tensor.int32_data());
  default:
    return {};
  }
}

template <typename From, typename Field>
void append(Field &field, const char *data, std::int64_t count) {
  field.Reserve(static_cast<int>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, data + i * static_cast<std::int64_t>(sizeof(From)),
                sizeof(From));
    field.AddAlreadyReserved(value);
  }
}

// Into the field for the type, where programs look for them.
void setElements(onnx::TensorProto &tensor, const TensorInfo &info,
                 const char *data) {
  std::int64_t count = info.nelms();
  switch (info.dataType()) {
  case DataType::FLOAT:
    return append<float>(*tensor.mutable_float_data(), data, count);
  case DataType::DOUBLE:
    return append<double>(*tensor.mutable_double_data(), data, count);
  case DataType::INT64:
    return append<std::int64_t>(*tensor.mutable_int64_data(), data, count);
  case DataType::UINT64:
    return append<std::uint64_t>(*tensor.mutable_uint64_data(), data, count);
  case DataType::UINT32:
    return append<std::uint32_t>(*tensor.mutable_uint64_data(), data, count);
  case DataType::INT32:
    return append<std::int32_t>(*tensor.mutable_int32_data(), data, count);
  case DataType::INT16:
    return append<std::int16_t>(*tensor.mutable_int32_data(), data, count);
  case DataType::UINT16:
  case DataType::FLOAT16: // its bits
  case DataType::BFLOAT16:
    return append<std::uint16_t>(*tensor.mutable_int32_data(), data, count);
  case DataType::INT8:
    return append<std::int8_t>(*tensor.mutable_int32_data(), data, count);
  case DataType::UINT8:
    return append<std::uint8_t>(*tensor.mutable_int32_data(), data, count);
  case DataType::BOOL:
    return append<bool>(*tensor.mutable_int32_data(), data, count);
  default:
    tensor.set_raw_data(data, static_cast<std::size_t>(info.nbytes()));
  }
}

} // namespace

int toOnnxType(DataType type) {
  for (const TypeRow &row : typeRows) {
    if (row.type == type) {
      return row.onnxType;
    }
  }
  return onnx::TensorProto::UNDEFINED;
}

DataType fromOnnxType(int onnxType) {
  for (const TypeRow &row : typeRows) {
    if (row.onnxType == onnxType) {
      return row.type;
    }
  }
  return DataType::UNDEFINED;
}

TensorInfo checkedInfo(DataType type, const Shape &shape,
                       const std::string &what) {
  std::int64_t count = 1;

  for (std::int64_t dim : shape) {
    support::requireUser<error>(dim >= 0,
                                "{} has shape {}: a dimension is "
                                "negative",
                                what, support::toString(shape));

    std::int64_t factor = std::max<std::int64_t>(1, dim);
    support::requireUser<error>(count <= mostElements / factor,
                                "{} has shape {}: more elements than any "
                                "device holds",
                                what, support::toString(shape));
    count *= factor;
  }
  return TensorInfo(type, shape);
}

TensorInfo infoOf(const onnx::TensorProto &tensor) {
  DataType type = fromOnnxType(tensor.data_type());
  std::string what = fmt::format("[ONNX] tensor '{}'", tensor.name());
  support::requireUser<error>(type != DataType::UNDEFINED,
                              "{} has ONNX's element type {}, which PopART "
                              "does not have",
                              what, tensor.data_type());
  return checkedInfo(type, {tensor.dims().begin(), tensor.dims().end()}, what);
}

std::vector<char> bytesOf(const onnx::TensorProto &tensor) {
  TensorInfo info = infoOf(tensor);
  const std::string &raw = tensor.raw_data();
  std::vector<char> bytes = tensor.has_raw_data()
                                ? std::vector<char>(raw.begin(), raw.end())
                                : typedBytes(tensor, info.dataType());
  support::requireUser<error>(
      static_cast<std::int64_t>(bytes.size()) == info.nbytes(),
      "[ONNX] tensor '{}' has {} bytes; {} of shape {} needs {}", tensor.name(),
      bytes.size(), info.data_type(), support::toString(info.shape()),
      info.nbytes());
  return bytes;
}

void setData(onnx::TensorProto &tensor, const TensorInfo &info,
             const void *data) {
  clearData(tensor);
  tensor.set_data_type(toOnnxType(info.dataType()));
  tensor.mutable_dims()->Clear();
  for (std::int64_t dim : info.shape()) {
    tensor.add_dims(dim);
  }
  setElements(tensor, info, static_cast<const char *>(data));
}

void clearData(onnx::TensorProto &tensor) {
  // What is cleared keeps its memory; what is released does not.
  delete tensor.release_raw_data();
  onnx::TensorProto().mutable_float_data()->Swap(tensor.mutable_float_data());
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

void setInfo(onnx::ValueInfoProto &value, const std::string &id,
             const TensorInfo &info) {
  value.set_name(id);
  auto *type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(toOnnxType(info.dataType()));
  type->mutable_shape()->Clear();
  for (std::int64_t dim : info.shape()) {
    type->mutable_shape()->add_dim()->set_dim_value(dim);
  }
}

onnx::TensorProto *findInitializer(onnx::GraphProto &graph,
                                   const std::string &id) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    if (tensor.name() == id) {
      return &tensor;
    }
  }
  return nullptr;
}

} // namespace popart
