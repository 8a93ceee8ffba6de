#include <kernels/Attributes.hpp>

#include <support/Error.hpp>

#include <algorithm>

namespace kernels {

Attributes::Attributes(std::initializer_list<Entry> entries) {
  for (const auto &[name, value] : entries) {
    set(name, value);
  }
}

void Attributes::set(std::string_view name, Value value) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                             [](const Entry &entry, std::string_view key) {
                               return entry.first < key;
                             });
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.emplace(at, std::string(name), std::move(value));
  }
}

const Attributes::Value *Attributes::find(std::string_view name) const {
  for (const auto &entry : entries_) {
    if (entry.first == name) {
      return &entry.second;
    }
  }
  return nullptr;
}

template <typename T> const T &Attributes::get(std::string_view name) const {
  const Value *value = find(name);
  support::requireInternal(value != nullptr, "attribute '{}' is missing", name);
  const T *typed = std::get_if<T>(value);
  support::requireInternal(typed != nullptr,
                           "attribute '{}' has another type (alternative {})",
                           name, value->index());
  return *typed;
}

std::int64_t Attributes::getInt(std::string_view name) const {
  return get<std::int64_t>(name);
}
double Attributes::getFloat(std::string_view name) const {
  return get<double>(name);
}
const std::string &Attributes::getString(std::string_view name) const {
  return get<std::string>(name);
}
const Attributes::Ints &Attributes::getInts(std::string_view name) const {
  return get<Ints>(name);
}
const Attributes::Floats &Attributes::getFloats(std::string_view name) const {
  return get<Floats>(name);
}

} // namespace kernels
