// A field of a new vertex and what it is connected to: an entry of the list
// that Graph::addVertex() takes.
#pragma once

#include <poplar/ArrayRef.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplar/TypeTraits.hpp>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace poplar {

class ConnectionDesc {
public:
  ConnectionDesc(StringRef field, const Tensor &tensor)
      : field_(field), kind_(Kind::Tensor), tensor_(tensor) {}
  ConnectionDesc(StringRef field, ArrayRef<Tensor> tensors)
      : field_(field), kind_(Kind::List), tensors_(tensors.cloneAsVector()) {}
  // A constant.
  template <typename T, typename = typename std::enable_if<
                            TypeTraits::isSimpleType<T>()>::type>
  ConnectionDesc(StringRef field, T value)
      : field_(field), kind_(Kind::Value),
        hostType_(equivalent_device_type<T>().value) {
    static_assert(sizeof(T) <= sizeof(value_), "a value has at most 8 bytes");
    std::memcpy(value_, &value, sizeof(T));
  }

private:
  friend class Graph;
  enum class Kind { Tensor, List, Value };

  std::string field_;
  Kind kind_;
  Tensor tensor_;
  std::vector<Tensor> tensors_;
  Type hostType_;
  alignas(8) unsigned char value_[8] = {};
};

} // namespace poplar
