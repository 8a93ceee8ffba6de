#include "Units.hpp"

#include <fmt/format.h>
#include <support/Error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace poplar::internal {
namespace {

enum class Quantity : std::uint8_t {
  Count,
  Bits,
  Bytes,
  Cycles,
  BytesPerCycle,
  Frequency,
  Time,
  Rate
};

// A unit is `factor / divisor` of the first one. Two numbers, since a quotient
// of exact ones is rounded once: 600 ns are exactly the 0.6e-6 s of a program.
struct Unit {
  std::string_view name;
  Quantity quantity;
  double factor = 1;
  double divisor = 1;
};

constexpr std::array<Unit, 22> units = {{
    {"1", Quantity::Count},
    {"bit", Quantity::Bits},
    {"B", Quantity::Bytes},
    {"KiB", Quantity::Bytes, 0x1p10},
    {"MiB", Quantity::Bytes, 0x1p20},
    {"GiB", Quantity::Bytes, 0x1p30},
    {"cycles", Quantity::Cycles},
    {"B/cycle", Quantity::BytesPerCycle},
    {"Hz", Quantity::Frequency},
    {"kHz", Quantity::Frequency, 1e3},
    {"MHz", Quantity::Frequency, 1e6},
    {"GHz", Quantity::Frequency, 1e9},
    {"s", Quantity::Time},
    {"ms", Quantity::Time, 1, 1e3},
    {"us", Quantity::Time, 1, 1e6},
    {"ns", Quantity::Time, 1, 1e9},
    {"B/s", Quantity::Rate},
    {"kB/s", Quantity::Rate, 1e3},
    {"MB/s", Quantity::Rate, 1e6},
    {"GB/s", Quantity::Rate, 1e9},
    {"TB/s", Quantity::Rate, 1e12},
    {"Gbit/s", Quantity::Rate, 1e9, 8},
}};

const Unit *findUnit(std::string_view name) {
  const auto *unit =
      std::find_if(units.begin(), units.end(),
                   [&](const Unit &u) { return u.name == name; });
  return unit == units.end() ? nullptr : unit;
}

Quantity quantityOf(std::string_view like) {
  const Unit *unit = findUnit(like);
  support::requireInternal(unit != nullptr, "'{}' is no unit", like);
  return unit->quantity;
}

} // namespace

std::string toString(const Measure &measure) {
  return measure.unit == "1"
             ? fmt::format("{}", measure.value)
             : fmt::format("{} {}", measure.value, measure.unit);
}

std::optional<double> countLike(const Measure &measure, std::string_view like) {
  const Unit *unit = findUnit(measure.unit);
  if (unit == nullptr || unit->quantity != quantityOf(like)) {
    return std::nullopt;
  }
  return measure.value * unit->factor / unit->divisor;
}

std::vector<std::string_view> unitsLike(std::string_view like) {
  const Quantity quantity = quantityOf(like);
  std::vector<std::string_view> names;
  for (const Unit &unit : units) {
    if (unit.quantity == quantity) {
      names.push_back(unit.name);
    }
  }
  return names;
}

bool isCounted(std::string_view unit) {
  return quantityOf(unit) < Quantity::Frequency;
}

} // namespace poplar::internal
