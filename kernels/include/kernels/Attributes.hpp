// The constants of an operation, by name: strides, axes, epsilon, expression
// code. Plain data, so that a descriptor can be compared, hashed and stored.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kernels {

class Attributes {
public:
  using Ints = std::vector<std::int64_t>;
  using Floats = std::vector<double>;
  using Value = std::variant<std::int64_t, double, std::string, Ints, Floats>;
  using Entry = std::pair<std::string, Value>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries);

  void set(std::string_view name, Value value);
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // The value of a name that must be there, with that type.
  std::int64_t getInt(std::string_view name) const;
  double getFloat(std::string_view name) const;
  const std::string &getString(std::string_view name) const;
  const Ints &getInts(std::string_view name) const;
  const Floats &getFloats(std::string_view name) const;

  // Entries in the order of their names.
  const std::vector<Entry> &entries() const { return entries_; }

  friend bool operator==(const Attributes &, const Attributes &) = default;

private:
  const Value *find(std::string_view name) const;
  template <typename T> const T &get(std::string_view name) const;

  std::vector<Entry> entries_;
};

} // namespace kernels
