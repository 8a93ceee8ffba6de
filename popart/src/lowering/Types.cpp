// Conversions of types and shapes on the way down.
#include <lowering/Types.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <cstring>
#include <limits>
#include <utility>

namespace popart {
namespace {

struct TypeRow {
  DataType type;
  support::DataType deviceType;
  poplar::Type poplarType;
};

const TypeRow &rowOf(DataType type) {
  using Device = support::DataType;
  static const TypeRow rows[] = {
      {DataType::FLOAT, Device::Float, poplar::FLOAT},
      {DataType::FLOAT16, Device::Half, poplar::HALF},
      {DataType::INT32, Device::Int, poplar::INT},
      {DataType::INT64, Device::Int, poplar::INT},
      {DataType::UINT32, Device::UnsignedInt, poplar::UNSIGNED_INT},
      {DataType::UINT64, Device::UnsignedInt, poplar::UNSIGNED_INT},
      {DataType::INT16, Device::Short, poplar::SHORT},
      {DataType::UINT16, Device::UnsignedShort, poplar::UNSIGNED_SHORT},
      {DataType::INT8, Device::SignedChar, poplar::SIGNED_CHAR},
      {DataType::UINT8, Device::UnsignedChar, poplar::UNSIGNED_CHAR},
      {DataType::BOOL, Device::Bool, poplar::BOOL},
  };
  for (const TypeRow &row : rows) {
    if (row.type == type) {
      return row;
    }
  }
  throw error(fmt::format("[lowering] the device has no type {}",
                          TensorInfo(type, {}).data_type()));
}

// Numbers that do not fit become the nearest that does: "to the end" is often
// written as the greatest number of 64 bits.
template <typename From, typename To>
std::vector<char> convert(const std::vector<char> &bytes) {
  using Limits = std::numeric_limits<To>;
  std::size_t count = bytes.size() / sizeof(From);
  std::vector<char> result(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    To converted = std::cmp_less(value, Limits::min()) ? Limits::min()
                   : std::cmp_greater(value, Limits::max())
                       ? Limits::max()
                       : static_cast<To>(value);
    std::memcpy(result.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return result;
}

} // namespace

std::vector<char> toDeviceBytes(const TensorInfo &info,
                                const std::vector<char> &host) {
  switch (info.dataType()) {
  case DataType::INT64:
    return convert<std::int64_t, std::int32_t>(host);
  case DataType::UINT64:
    return convert<std::uint64_t, std::uint32_t>(host);
  default:
    return host;
  }
}

std::vector<char> toHostBytes(const TensorInfo &info,
                              const std::vector<char> &device) {
  switch (info.dataType()) {
  case DataType::INT64:
    return convert<std::int32_t, std::int64_t>(device);
  case DataType::UINT64:
    return convert<std::uint32_t, std::uint64_t>(device);
  default:
    return device;
  }
}

std::size_t deviceBytes(const TensorInfo &info) {
  return static_cast<std::size_t>(info.nelms()) *
         support::sizeOf(deviceType(info.dataType()));
}

poplar::Type poplarType(DataType type) {
  return rowOf(type).poplarType;
}

support::DataType deviceType(DataType type) {
  return rowOf(type).deviceType;
}

std::vector<std::size_t> poplarShape(const Shape &shape) {
  return {shape.begin(), shape.end()};
}

poplar::Tensor broadcastTo(poplar::Tensor tensor, const Shape &shape) {
  while (tensor.rank() < shape.size()) {
    tensor = tensor.expand({0});
  }
  for (unsigned d = 0; d < shape.size(); ++d) {
    auto wanted = static_cast<unsigned>(shape[d]);
    if (tensor.dim(d) != wanted) {
      support::requireInternal(
          tensor.dim(d) == 1, "{} does not broadcast to {}",
          tensor.shapeToString(), support::toString(shape));
      tensor = tensor.broadcast(wanted, d);
    }
  }
  return tensor;
}

} // namespace popart
