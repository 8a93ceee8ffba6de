// Typed indices: a tile number cannot be passed where a variable id is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace support {

template <typename Tag> struct Id {
  static constexpr std::uint32_t invalid =
      std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value = invalid;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index)
      : value(static_cast<std::uint32_t>(index)) {}

  constexpr bool isValid() const { return value != invalid; }
  // The position in the vector that owns the thing.
  constexpr std::size_t index() const { return value; }

  friend constexpr auto operator<=>(Id, Id) = default;
};

} // namespace support

template <typename Tag> struct std::hash<support::Id<Tag>> {
  std::size_t operator()(support::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>()(id.value);
  }
};
