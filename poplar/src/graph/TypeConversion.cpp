#include <poplar/TypeConversion.hpp>

#include "HostValues.hpp"
#include "QuarterBits.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace poplar {
namespace {

const QuarterMetadata &metadataOf(const QuarterMetadata *metadata) {
  support::requireUser<type_error>(
      metadata != nullptr,
      "[poplar] QUARTER values are converted with their QuarterMetadata, and "
      "none is given");
  return *metadata;
}

} // namespace

// Quarters go through floats, which hold every quarter exactly.
void internal::convertToDevice(const Type &dstType,
                               const QuarterMetadata *metadata,
                               const Type &hostType, const void *src, void *dst,
                               std::size_t count) {
  const bool isQuarter = dstType == QUARTER;
  const auto bytes = convertValues(toDataType(isQuarter ? FLOAT : dstType),
                                   hostType, src, count);
  if (!isQuarter) {
    std::copy(bytes.begin(), bytes.end(), static_cast<std::byte *>(dst));
    return;
  }
  const QuarterMetadata &format = metadataOf(metadata);
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    static_cast<std::uint8_t *>(dst)[i] = floatToQuarterBits(value, format);
  }
}

void internal::convertFromDevice(const Type &srcType,
                                 const QuarterMetadata *metadata,
                                 const Type &hostType, const void *src,
                                 void *dst, std::size_t count) {
  if (srcType != QUARTER) {
    restoreValues(toDataType(srcType), src, hostType, dst, count);
    return;
  }
  const QuarterMetadata &format = metadataOf(metadata);
  std::vector<float> floats(count);
  for (std::size_t i = 0; i < count; ++i) {
    floats[i] =
        quarterBitsToFloat(static_cast<const std::uint8_t *>(src)[i], format);
  }
  restoreValues(support::DataType::Float, floats.data(), hostType, dst, count);
}

// Halves have two bytes on every target.
void copyFloatToDeviceHalf(const Target &, const float *src, void *dst,
                           std::size_t numElements) {
  convertToDeviceType(HALF, gccs::ArrayRef<float>(src, numElements), dst);
}
void copyDeviceHalfToFloat(const Target &, const void *src, float *dst,
                           std::size_t numElements) {
  convertFromDeviceType(HALF, src, gccs::ArrayRef<float>(dst, numElements));
}
void copyDoubleToDeviceHalf(const Target &, const double *src, void *dst,
                            std::size_t numElements) {
  convertToDeviceType(HALF, gccs::ArrayRef<double>(src, numElements), dst);
}
void copyDeviceHalfToDouble(const Target &, const void *src, double *dst,
                            std::size_t numElements) {
  convertFromDeviceType(HALF, src, gccs::ArrayRef<double>(dst, numElements));
}

} // namespace poplar
