// The units that figures of a machine come in. Inside, everything is counted in
// the first unit of its quantity: Hz, B, s, B/s.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poplar::internal {

// A number with its unit, both as in the file: 624 KiB.
struct Measure {
  double value = 0;
  std::string unit;
};

// "624 KiB", and "13" for what has no unit.
std::string toString(const Measure &measure);

// The measure counted in the first unit of what `like` measures: that of 624
// KiB is 638976, like any unit of bytes. None if it measures something else.
std::optional<double> countLike(const Measure &measure, std::string_view like);

// All units of what `like` measures: B, KiB, MiB and GiB.
std::vector<std::string_view> unitsLike(std::string_view like);

// Whether only whole numbers of its first unit make sense: not of clock rates,
// times and rates.
bool isCounted(std::string_view unit);

} // namespace poplar::internal
