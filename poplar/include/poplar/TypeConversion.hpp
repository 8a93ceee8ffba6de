// Values between the types of hosts and those of devices, where 16-bit floats
// have no C++ type. Rounds to nearest, ties to even.
#pragma once

#include <gccs/ArrayRef.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <type_traits>

namespace poplar {

class Target;

void copyFloatToDeviceHalf(const Target &target, const float *src, void *dst,
                           std::size_t numElements);
void copyDeviceHalfToFloat(const Target &target, const void *src, float *dst,
                           std::size_t numElements);
void copyDoubleToDeviceHalf(const Target &target, const double *src, void *dst,
                            std::size_t numElements);
void copyDeviceHalfToDouble(const Target &target, const void *src, double *dst,
                            std::size_t numElements);

namespace internal {
void convertToDevice(const Type &dstType, const QuarterMetadata *metadata,
                     const Type &hostType, const void *src, void *dst,
                     std::size_t count);
void convertFromDevice(const Type &srcType, const QuarterMetadata *metadata,
                       const Type &hostType, const void *src, void *dst,
                       std::size_t count);
} // namespace internal

// Writes all of `src` as elements of `dstType`. QUARTER needs metadata.
template <typename T>
void convertToDeviceType(const Type &dstType, gccs::ArrayRef<T> src,
                         void *dst) {
  using Host = typename std::remove_const<T>::type;
  internal::convertToDevice(dstType, nullptr,
                            equivalent_device_type<Host>().value, src.data(),
                            dst, src.size());
}
template <typename T>
void convertToDeviceType(const Type &dstType, const QuarterMetadata &metadata,
                         gccs::ArrayRef<T> src, void *dst) {
  using Host = typename std::remove_const<T>::type;
  internal::convertToDevice(dstType, &metadata,
                            equivalent_device_type<Host>().value, src.data(),
                            dst, src.size());
}

// Fills `dst`, whose elements must not be constants, from as many elements of
// `srcType`.
template <typename T>
void convertFromDeviceType(const Type &srcType, const void *src,
                           gccs::ArrayRef<T> dst) {
  internal::convertFromDevice(srcType, nullptr,
                              equivalent_device_type<T>().value, src,
                              const_cast<T *>(dst.data()), dst.size());
}
template <typename T>
void convertFromDeviceType(const Type &srcType, const QuarterMetadata &metadata,
                           const void *src, gccs::ArrayRef<T> dst) {
  internal::convertFromDevice(srcType, &metadata,
                              equivalent_device_type<T>().value, src,
                              const_cast<T *>(dst.data()), dst.size());
}

} // namespace poplar
