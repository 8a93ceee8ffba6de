#include <popfloat/experimental/CastToHalf.hpp>

#include <popfloat/experimental/codelets.hpp>

#include <poputil/internal/Emit.hpp>
#include <support/Half.hpp>

#include <cmath>

namespace popfloat::experimental {

namespace {

constexpr std::uint16_t signBit = 0x8000;
constexpr std::uint16_t exponentBits = 0x7c00; // all set: no number
constexpr std::uint16_t largest = 0x7bff;
constexpr std::uint16_t quietNan = 0x7e00;

} // namespace

std::uint16_t singleToHalf(float value, bool enNanoo) {
  const std::uint16_t bits = support::floatToHalfBits(value);
  const auto sign = static_cast<std::uint16_t>(bits & signBit);
  if ((bits & exponentBits) != exponentBits || std::isnan(value)) {
    return bits;
  }
  return static_cast<std::uint16_t>(sign | (enNanoo ? quietNan : largest));
}

float halfToSingle(std::uint16_t value) {
  return support::halfBitsToFloat(value);
}

void addCodelets(poplar::Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "popfloat");
}

} // namespace popfloat::experimental
