// How numbers, strings, containers and the like are stored: little-endian, with
// counts of 64 bits.
#pragma once

#include "executable/Archive.hpp"

#include <map>
#include <variant>

namespace poplar::executable {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored as they lie in memory");

template <typename T, template <typename...> typename Template>
inline constexpr bool isInstance = false;
template <template <typename...> typename Template, typename... Args>
inline constexpr bool isInstance<Template<Args...>, Template> = true;

template <typename T, template <typename...> typename Template>
concept InstanceOf = isInstance<std::remove_const_t<T>, Template>;

// Stored as it lies in memory; any bits are a value.
template <typename T>
concept Plain = (std::is_arithmetic_v<T> && !Is<T, bool>) || Is<T, std::byte>;

template <typename T>
concept Enumeration = std::is_enum_v<T> && !Plain<T>;

template <typename T>
concept Items = Is<T, std::string> || InstanceOf<T, std::vector>;

// The last enumerator of the enumerations that are stored.
template <typename T> inline constexpr T lastOf = T();
template <>
inline constexpr auto lastOf<support::DataType> = support::DataType::Float;
template <> inline constexpr auto lastOf<SyncType> = SyncType::GLOBAL;
template <>
inline constexpr auto lastOf<PrintTensorFmt::FloatFormat> =
    PrintTensorFmt::FloatFormat::None;
template <>
inline constexpr auto lastOf<internal::FieldSlot::Kind> =
    internal::FieldSlot::Kind::Bytes;
template <>
inline constexpr auto lastOf<internal::CollectiveKind> =
    internal::CollectiveKind::Broadcast;
template <>
inline constexpr auto lastOf<internal::CollectiveMethod> =
    internal::CollectiveMethod::QuadDirectionalRing;
template <>
inline constexpr auto lastOf<internal::CollectiveOperator> =
    internal::CollectiveOperator::Local;

template <typename Archive> void visit(Archive &archive, Plain auto &value) {
  archive.raw(&value, sizeof value);
}

template <typename Archive> void visit(Archive &archive, Is<bool> auto &value) {
  std::uint8_t byte = value;
  archive(byte);
  if constexpr (Archive::isReading) {
    requireIntact(byte <= 1, "{} is neither true nor false", byte);
    value = byte == 1;
  }
}

template <typename Archive, Enumeration T>
void visit(Archive &archive, T &value) {
  auto byte = static_cast<std::uint8_t>(value);
  archive(byte);
  if constexpr (Archive::isReading) {
    constexpr auto last = static_cast<std::uint8_t>(lastOf<T>);
    static_assert(last > 0, "say which enumerator is the last");
    requireIntact(byte <= last, "{} is no value of an enumeration of {}", byte,
                  last + 1);
    value = static_cast<T>(byte);
  }
}

template <typename Archive>
void visit(Archive &archive, InstanceOf<support::Id> auto &id) {
  archive(id.value);
}

template <typename Archive, Items T> void visit(Archive &archive, T &items) {
  using Item = typename T::value_type;
  std::uint64_t count = items.size();
  if constexpr (Plain<Item>) {
    archive.count(count, sizeof(Item));
    if constexpr (Archive::isReading) {
      items.resize(count);
    }
    archive.raw(items.data(), items.size() * sizeof(Item));
  } else {
    archive.count(count, 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (Archive::isReading) {
        // One by one: memory grows with what is there, not with the count.
        archive(items.emplace_back());
      } else {
        archive(items[i]);
      }
    }
  }
}

template <typename Archive>
void visit(Archive &archive, InstanceOf<std::pair> auto &pair) {
  archive(pair.first, pair.second);
}

template <typename Archive, InstanceOf<std::map> Map>
void visit(Archive &archive, Map &map) {
  std::uint64_t count = map.size();
  archive.count(count, 1);
  if constexpr (Archive::isReading) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::pair<typename Map::key_type, typename Map::mapped_type> entry;
      archive(entry);
      requireIntact(map.empty() || map.rbegin()->first < entry.first,
                    "the names of a table are out of order");
      map.insert(map.end(), std::move(entry));
    }
  } else {
    for (const auto &entry : map) {
      archive(entry);
    }
  }
}

// Sets the variant to a default value of alternative `index`.
template <typename... Types>
void emplaceIndex(std::variant<Types...> &variant, std::size_t index) {
  std::size_t i = 0;
  ((i++ == index ? void(variant.template emplace<Types>()) : void()), ...);
}

template <typename Archive>
void visit(Archive &archive, InstanceOf<std::variant> auto &variant) {
  auto index = static_cast<std::uint8_t>(variant.index());
  archive(index);
  if constexpr (Archive::isReading) {
    using Variant = std::remove_reference_t<decltype(variant)>;
    requireIntact(index < std::variant_size_v<Variant>,
                  "there is no alternative {} of {}", index,
                  std::variant_size_v<Variant>);
    emplaceIndex(variant, index);
  }
  std::visit([&](auto &value) { archive(value); }, variant);
}

} // namespace poplar::executable
