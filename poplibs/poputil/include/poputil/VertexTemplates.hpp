// The names of template vertices, such as "Sum<float,true>".
#pragma once

#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>

#include <string>
#include <type_traits>

namespace poputil {

// How a template argument is spelt; specialise for enumerations.
template <typename T, typename Enable = void> struct VertexTemplateToString {
  static std::string to_string(const T &value) { return std::to_string(value); }
};
template <> struct VertexTemplateToString<bool> {
  static std::string to_string(const bool &value) {
    return value ? "true" : "false";
  }
};
template <> struct VertexTemplateToString<poplar::Type> {
  static std::string to_string(const poplar::Type &value) {
    return value.toString();
  }
};
template <> struct VertexTemplateToString<std::string> {
  static std::string to_string(const std::string &value) { return value; }
};
template <> struct VertexTemplateToString<const char *> {
  static std::string to_string(const char *value) { return value; }
};
template <> struct VertexTemplateToString<poplar::StringRef> {
  static std::string to_string(const poplar::StringRef &value) { return value; }
};

namespace detail {

inline std::string joinTemplateArguments() {
  return std::string();
}

template <typename T, typename... Rest>
std::string joinTemplateArguments(const T &first, const Rest &...rest) {
  using Plain = typename std::decay<const T>::type;
  const std::string text = VertexTemplateToString<Plain>::to_string(first);
  return sizeof...(rest) == 0 ? text
                              : text + "," + joinTemplateArguments(rest...);
}

} // namespace detail

inline std::string templateVertex(const std::string &name) {
  return name;
}

template <typename... Args>
std::string templateVertex(const std::string &name, const Args &...args) {
  return name + "<" + detail::joinTemplateArguments(args...) + ">";
}

} // namespace poputil
