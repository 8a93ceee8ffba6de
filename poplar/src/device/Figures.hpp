// Every number that a machine is made of: what files call it, in which unit and
// range, and which member of TargetData it becomes.
#pragma once

#include <poplar/internal/TargetData.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace poplar::internal {

// What a figure describes. Connections are those of a chip that stands alone,
// as a model device does, and each system may have its own.
enum class FigurePart : std::uint8_t { Chip, Connection, System };

struct Figure {
  std::string_view name;
  FigurePart part;
  std::string_view unit; // of the limits, and of a number without one
  double least;
  double most;
  // Null: others are worked out from it.
  std::variant<std::nullptr_t, unsigned TargetData::*,
               std::uint64_t TargetData::*, double TargetData::*>
      member;
};

// In the order of the documents.
std::span<const Figure> figures();

// By name, in Hz, bytes, seconds and bytes per second.
using FigureValues = std::map<std::string, double, std::less<>>;

// Sets the members that figures become, and those that follow from them: the
// memory elements. All figures but those of systems must be there.
void setFigures(const FigureValues &values, TargetData &data);

} // namespace poplar::internal
