// What the API needs to know of a host type that stands for element values.
#pragma once

#include <poplar/Type.hpp>

#include <cstddef>
#include <type_traits>

namespace poplar {

struct TypeTraits {
  std::size_t size;
  bool isInteger;
  bool isFloat;
  bool isSigned;

  template <typename T> static TypeTraits make() {
    return {sizeof(T), std::is_integral<T>::value,
            std::is_floating_point<T>::value, std::is_signed<T>::value};
  }
  template <typename T> static constexpr bool isSimpleType() {
    return std::is_arithmetic<T>::value;
  }
};

} // namespace poplar
