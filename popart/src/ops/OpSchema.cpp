// The groups of element types.
#include <ops/OpSchema.hpp>

#include <array>

namespace popart::types {
namespace {

// Each group is a run of this list.
constexpr std::array list = {
    DataType::FLOAT16, DataType::FLOAT,  DataType::INT32, DataType::INT64,
    DataType::UINT32,  DataType::UINT64, DataType::INT8,  DataType::INT16,
    DataType::UINT8,   DataType::UINT16, DataType::BOOL,
};

constexpr std::array signedList = {DataType::FLOAT16, DataType::FLOAT,
                                   DataType::INT8,    DataType::INT16,
                                   DataType::INT32,   DataType::INT64};

constexpr std::span<const DataType> whole = list;

} // namespace

std::span<const DataType> floats() {
  return whole.first(2);
}
std::span<const DataType> numbers() {
  return whole.first(6);
}
std::span<const DataType> allNumbers() {
  return whole.first(10);
}
std::span<const DataType> all() {
  return whole;
}
std::span<const DataType> booleans() {
  return whole.last(1);
}
std::span<const DataType> signedNumbers() {
  return signedList;
}

} // namespace popart::types
