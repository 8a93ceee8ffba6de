#include "Call.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <type_traits>

namespace conformance {
namespace {

template <typename T> inline constexpr bool isVector = false;
template <typename T> inline constexpr bool isVector<std::vector<T>> = true;

template <typename To, typename From> constexpr bool isConverted() {
  if constexpr (isVector<To> && isVector<From>) {
    return isConverted<typename To::value_type, typename From::value_type>();
  } else if constexpr (std::is_arithmetic_v<To> && std::is_arithmetic_v<From>) {
    // A number with a fraction is no whole one, a number is no truth.
    return (std::is_floating_point_v<To> ||
            std::is_integral_v<From>)&&std::is_same_v<To, bool> ==
           std::is_same_v<From, bool>;
  } else {
    return std::is_same_v<To, From>;
  }
}

template <typename To, typename From> To convert(const From &from) {
  if constexpr (isVector<To>) {
    return To(from.begin(), from.end());
  } else {
    return static_cast<To>(from);
  }
}

} // namespace

poplar::Type typeOf(const std::string &name) {
  using namespace poplar;
  for (const Type &type :
       {BOOL, CHAR, SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, INT,
        UNSIGNED_INT, LONGLONG, UNSIGNED_LONGLONG, QUARTER, HALF, FLOAT}) {
    if (type.toString() == name) {
      return type;
    }
  }
  throw std::invalid_argument(fmt::format("no type is called '{}'", name));
}

const poplar::Tensor &Call::tensor(const std::string &name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw std::invalid_argument(
        fmt::format("the row has no input called '{}'", name));
  }
  return found->second;
}

const Value &Call::value(const std::string &name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw std::invalid_argument(
        fmt::format("the row has no parameter called '{}'", name));
  }
  return found->second;
}

template <typename T> T Call::get(const std::string &name) const {
  return std::visit(
      [&](const auto &given) -> T {
        using Given = std::decay_t<decltype(given)>;
        if constexpr (isConverted<T, Given>()) {
          return convert<T>(given);
        } else if constexpr (isVector<Given> && isVector<T>) {
          if (given.empty()) { // a list of nothing is of any type
            return T();
          }
        }
        throw std::invalid_argument(
            fmt::format("the row's parameter '{}' is of another type", name));
      },
      value(name));
}

template <>
poplar::Type Call::get<poplar::Type>(const std::string &name) const {
  return typeOf(get<std::string>(name));
}

template bool Call::get<bool>(const std::string &) const;
template int Call::get<int>(const std::string &) const;
template unsigned Call::get<unsigned>(const std::string &) const;
template std::int64_t Call::get<std::int64_t>(const std::string &) const;
template std::size_t Call::get<std::size_t>(const std::string &) const;
template float Call::get<float>(const std::string &) const;
template double Call::get<double>(const std::string &) const;
template std::string Call::get<std::string>(const std::string &) const;
template std::vector<int>
Call::get<std::vector<int>>(const std::string &) const;
template std::vector<unsigned>
Call::get<std::vector<unsigned>>(const std::string &) const;
template std::vector<std::int64_t>
Call::get<std::vector<std::int64_t>>(const std::string &) const;
template std::vector<std::size_t>
Call::get<std::vector<std::size_t>>(const std::string &) const;
template std::vector<float>
Call::get<std::vector<float>>(const std::string &) const;
template std::vector<double>
Call::get<std::vector<double>>(const std::string &) const;
template std::vector<std::string>
Call::get<std::vector<std::string>>(const std::string &) const;

} // namespace conformance
