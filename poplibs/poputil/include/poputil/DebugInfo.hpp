// What library operations, and users' own, leave in the debug records: the
// function, its arguments and its results.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace poputil {

poplar::ProfileValue toProfileValue(const poplar::Tensor &t);
poplar::ProfileValue toProfileValue(const poplar::Type &type);
poplar::ProfileValue toProfileValue(const poplar::OptionFlags &options);
inline poplar::ProfileValue toProfileValue(const std::string &text) {
  return poplar::ProfileValue(text);
}
inline poplar::ProfileValue toProfileValue(const char *text) {
  return poplar::ProfileValue(text);
}
inline poplar::ProfileValue toProfileValue(bool value) {
  return poplar::ProfileValue(value);
}

// Numbers; enumerations by their number; anything else as it prints itself.
template <typename T>
typename std::enable_if<std::is_arithmetic<T>::value,
                        poplar::ProfileValue>::type
toProfileValue(const T &value) {
  return poplar::ProfileValue(
      static_cast<typename std::conditional<
          std::is_floating_point<T>::value, double,
          typename std::conditional<std::is_signed<T>::value, long long,
                                    unsigned long long>::type>::type>(value));
}
template <typename T>
typename std::enable_if<std::is_enum<T>::value, poplar::ProfileValue>::type
toProfileValue(const T &value) {
  return poplar::ProfileValue(static_cast<long long>(value));
}
template <typename T>
typename std::enable_if<std::is_class<T>::value, poplar::ProfileValue>::type
toProfileValue(const T &value) {
  std::ostringstream text;
  text << value;
  return poplar::ProfileValue(text.str());
}
template <typename T>
poplar::ProfileValue toProfileValue(const std::vector<T> &values) {
  poplar::ProfileValue::Vector list;
  for (const T &value : values) {
    list.push_back(toProfileValue(value));
  }
  return poplar::ProfileValue(list);
}

// A named value.
struct ArgType {
  std::string first;
  poplar::ProfileValue second;

  ArgType(std::string name, poplar::ProfileValue value)
      : first(std::move(name)), second(std::move(value)) {}
  template <typename T>
  ArgType(const std::pair<std::string, T> &arg)
      : first(arg.first), second(toProfileValue(arg.second)) {}
};

class OpDebugInfo : public poplar::DebugInfo {
protected:
  OpDebugInfo(const poplar::DebugContext &debugContext, std::string api)
      : poplar::DebugInfo(debugContext, "poplibs") {
    setValue("api", poplar::ProfileValue(std::move(api)));
  }
  void add(std::string name, const std::vector<ArgType> &args);
};

// One call of `api`, by default the function that makes it.
class PoplibsOpDebugInfo : public OpDebugInfo {
public:
  PoplibsOpDebugInfo(const poplar::DebugContext &debugContext,
                     const std::vector<ArgType> &args = {},
                     const std::string &api = __builtin_FUNCTION())
      : OpDebugInfo(debugContext, api) {
    add("args", args);
  }

  void addOutputs(const std::vector<ArgType> &outputs) {
    add("outputs", outputs);
  }
  void addOutput(const poplar::Tensor &output) {
    add("outputs", {ArgType("output", toProfileValue(output))});
  }
};

namespace detail {

// The names in "a, b" for the values of (a, b).
inline std::string takeName(std::string &names) {
  const std::size_t comma = names.find(',');
  std::string name = names.substr(0, comma);
  names = comma == std::string::npos ? std::string() : names.substr(comma + 1);
  const std::size_t begin = name.find_first_not_of(' ');
  return begin == std::string::npos ? std::string() : name.substr(begin);
}
inline void appendArgs(std::vector<ArgType> &, std::string) {}
template <typename T, typename... Rest>
void appendArgs(std::vector<ArgType> &args, std::string names, const T &first,
                const Rest &...rest) {
  std::string name = takeName(names);
  args.push_back(ArgType(std::move(name), toProfileValue(first)));
  appendArgs(args, std::move(names), rest...);
}
template <typename... Values>
std::vector<ArgType> makeArgs(const char *names, const Values &...values) {
  std::vector<ArgType> args;
  appendArgs(args, names, values...);
  return args;
}

} // namespace detail

} // namespace poputil

#define DI_STR(x) #x
// The variables, by their names, as the arguments of a PoplibsOpDebugInfo.
#define DI_ARGS(...) ::poputil::detail::makeArgs(#__VA_ARGS__, __VA_ARGS__)
