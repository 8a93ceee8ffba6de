// An operation's constants by name, with ONNX's attribute types.
#pragma once

#include <popart/tensorinfo.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace popart {

class Attributes {
public:
  using Int = std::int64_t;
  using Float = float;
  using String = std::string;
  using Ints = std::vector<std::int64_t>;
  using Floats = std::vector<float>;
  using Strings = std::vector<std::string>;
  struct Tensor {
    TensorInfo info;
    std::vector<char> data; // info.nbytes() bytes

    friend bool operator==(const Tensor &a, const Tensor &b) {
      return a.info == b.info && a.data == b.data;
    }
  };
  // A graph that the operation runs, by its name in the IR.
  struct Graph {
    std::string id;

    friend bool operator==(const Graph &a, const Graph &b) {
      return a.id == b.id;
    }
  };

  Attributes &set(const std::string &name, Int value);
  Attributes &set(const std::string &name, Float value);
  Attributes &set(const std::string &name, String value);
  Attributes &set(const std::string &name, Ints value);
  Attributes &set(const std::string &name, Floats value);
  Attributes &set(const std::string &name, Strings value);
  Attributes &set(const std::string &name, Tensor value);
  Attributes &set(const std::string &name, Graph value);

  bool hasAttribute(const std::string &name) const;
  // The value, or `fallback` when there is none of that name and type.
  Int getInt(const std::string &name, Int fallback) const;
  Float getFloat(const std::string &name, Float fallback) const;
  String getString(const std::string &name, const String &fallback) const;
  Ints getInts(const std::string &name, const Ints &fallback) const;
  Floats getFloats(const std::string &name, const Floats &fallback) const;
  Strings getStrings(const std::string &name, const Strings &fallback) const;
  // The same by type; without a fallback there must be such an attribute.
  template <typename T>
  T getAttribute(const std::string &name, const T &fallback) const {
    const T *value = find<T>(name);
    return value ? *value : fallback;
  }
  template <typename T> T getAttribute(const std::string &name) const {
    return *require(find<T>(name), name);
  }
  // By PopART's names. A variable stays as it is when there is no such
  // attribute, or must have one.
  template <typename T> void setAttribute(const std::string &name, T value) {
    set(name, std::move(value));
  }
  template <typename T>
  void setIfPresent(T &variable, const std::string &name) const {
    if (hasAttribute(name)) {
      variable = static_cast<T>(getAttribute<AttributeType<T>>(name));
    }
  }
  std::vector<std::string> getNames() const;
  void erase(const std::string &name);
  // Those that are not here yet.
  void insert(const Attributes &others);
  // Null when there is no tensor of that name.
  const Tensor *findTensor(const std::string &name) const;

  const std::map<std::string, Graph> &graphs() const { return graphs_; }

  // By name, as "[1,1]" or "1".
  std::vector<std::pair<std::string, std::string>> texts() const;
  // "strides=[1,1], group=1", for messages and dumps.
  std::string str() const;

  friend bool operator==(const Attributes &a, const Attributes &b) {
    return a.ints_ == b.ints_ && a.floats_ == b.floats_ &&
           a.strings_ == b.strings_ && a.intLists_ == b.intLists_ &&
           a.floatLists_ == b.floatLists_ && a.stringLists_ == b.stringLists_ &&
           a.tensors_ == b.tensors_ && a.graphs_ == b.graphs_;
  }

private:
  template <typename T>
  using AttributeType = typename std::conditional<
      std::is_integral<T>::value, Int,
      typename std::conditional<std::is_floating_point<T>::value, Float,
                                T>::type>::type;

  // Null when there is none of that name and type.
  template <typename T> const T *find(const std::string &name) const;
  template <typename T>
  static const T *require(const T *value, const std::string &name) {
    return value ? value : (throwMissing(name), value);
  }
  [[noreturn]] static void throwMissing(const std::string &name);

  std::map<std::string, Int> ints_;
  std::map<std::string, Float> floats_;
  std::map<std::string, String> strings_;
  std::map<std::string, Ints> intLists_;
  std::map<std::string, Floats> floatLists_;
  std::map<std::string, Strings> stringLists_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, Graph> graphs_;
};

template <>
const Attributes::Int *Attributes::find(const std::string &name) const;
template <>
const Attributes::Float *Attributes::find(const std::string &name) const;
template <>
const Attributes::String *Attributes::find(const std::string &name) const;
template <>
const Attributes::Ints *Attributes::find(const std::string &name) const;
template <>
const Attributes::Floats *Attributes::find(const std::string &name) const;
template <>
const Attributes::Strings *Attributes::find(const std::string &name) const;
template <>
const Attributes::Graph *Attributes::find(const std::string &name) const;

} // namespace popart
