#include <kernels/cost/Cast.hpp>

namespace kernels::cost {

namespace {

bool isFloatOrHalf(DataType type) {
  return type == DataType::Float || type == DataType::Half;
}

bool is8Bit(DataType type) {
  return support::sizeOf(type) == 1 && type != DataType::Quarter &&
         type != DataType::Bool;
}

bool is64Bit(DataType type) {
  return support::sizeOf(type) == 8;
}

bool isSigned(DataType type) {
  return type == DataType::Int || type == DataType::Short ||
         type == DataType::SignedChar || type == DataType::LongLong;
}

// Cycles for the elements left over after whole vectors of `width`.
Cycles castRemainder(std::uint64_t left, std::uint64_t width) {
  Cycles cycles = 0;
  for (auto bit = width / 2; bit > 0; bit /= 2) {
    cycles += (left & bit) != 0 ? 3 : 1;
  }
  return cycles;
}

// Loops that take groups of `width` elements: `first` for the first group and
// `other` for each one after it.
Cycles grouped(std::uint64_t n, std::uint64_t width, Cycles first,
               Cycles other) {
  const auto groups = ceilDiv(n, width);
  return groups == 0 ? 0 : first + other * (groups - 1);
}

// A worker's cycles for n elements.
Cycles castWorker(const TileSpec &tile, DataType from, DataType to,
                  std::uint64_t n) {
  const bool isQuarterToHalf =
      from == DataType::Quarter && to == DataType::Half;
  const bool isHalfToQuarter =
      from == DataType::Half && to == DataType::Quarter;
  if ((isFloatOrHalf(from) && isFloatOrHalf(to)) || isQuarterToHalf ||
      isHalfToQuarter) {
    const auto load = vectorWidth(tile, from);
    const auto store = vectorWidth(tile, to);
    const auto vector = std::min(2 * load, store);
    const auto cycles = std::max(vector / load, vector / store);
    return 19 + n / vector * cycles + castRemainder(n % vector, vector);
  }
  if (is8Bit(from) && to == DataType::Half) {
    return 4 + grouped(n, 4, 14, 9);
  }
  if (from == DataType::Half && is8Bit(to)) {
    return 8 + grouped(n, 4, 19, 16);
  }
  if (from == DataType::Quarter && to == DataType::Quarter) {
    return grouped(n, 8, 13, 13);
  }
  if (from == DataType::Quarter && is8Bit(to)) {
    return grouped(n, 8, 28, 28);
  }
  if (is8Bit(from) && to == DataType::Quarter) {
    return grouped(n, 8, 37, 37);
  }
  if (is64Bit(to)) {
    return 3 + n * (isSigned(from) ? 5 : 4);
  }
  return 19 + 2 * n; // a compiled pair of types
}

} // namespace

Cycles cast1D(const TileSpec &tile, DataType from, DataType to,
              std::uint64_t n) {
  return 12 +
         tile.workers * (18 + castWorker(tile, from, to, perWorker(tile, n)));
}

Cycles cast2D(const TileSpec &tile, DataType from, DataType to,
              std::uint64_t regions, std::uint64_t n) {
  return 5 + regions * (11 + castWorker(tile, from, to, n));
}

Cycles fill(const TileSpec &, DataType type, std::uint64_t n) {
  switch (support::sizeOf(type)) {
  case 1:
    return n < 64 ? 28 + n / 4 : 39 + n / 8;
  case 2:
    return n == 1 ? 15 : n == 2 ? 21 : 26 + n / 4;
  case 4:
    return 23 + n / 2 + n % 2;
  default:
    return 5 + n;
  }
}

Cycles fill2D(const TileSpec &tile, DataType type, std::uint64_t regions,
              std::uint64_t n) {
  // A run saves the call of the one-dimensional form.
  const Cycles saved = support::sizeOf(type) == 2 ? 3 : 2;
  return 5 + regions * (fill(tile, type, n) - saved);
}

Cycles scaledAdd(const TileSpec &tile, DataType type, DataType scaledType,
                 std::uint64_t n, bool isSubtract, bool scalesBoth) {
  if (!isFloatOrHalf(type)) {
    return 53 + 26 * (n / 3) + 6 + 26 * (n % 3) + 14;
  }
  const auto width = vectorWidth(tile, type);
  const auto vectors = n / width;
  const auto share = vectors / tile.workers;
  const bool hasRemainder = vectors % tile.workers != 0;
  const Cycles supervisor = 21 + supervisorOverhead + (hasRemainder ? 13 : 7) +
                            12 + 6 + (isSubtract ? 7 : 0) +
                            (scalesBoth ? 12 : 0);
  const Cycles perVector = type == scaledType ? 3 : 4;
  Cycles loop = share > 0 ? 6 + perVector * (share - 1) : 0;
  if (type == DataType::Half && scaledType == DataType::Float) {
    loop = 16 + 9 + (share > 0 ? 5 * (share - 1) : 0);
  }
  const Cycles tail = n % width == 0 ? 0 : type == DataType::Float ? 8 : 18;
  return supervisor + tile.workers * (15 + loop + 3 + tail + 1);
}

Cycles scaledAdd2D(const TileSpec &tile, DataType type, DataType scaledType,
                   std::uint64_t regions, std::uint64_t n, bool isSubtract,
                   bool scalesBoth) {
  const auto width = vectorWidth(tile, type);
  const Cycles perVector = type == scaledType ? 3 : 4;
  const Cycles tail = n % width == 0 ? 0 : type == DataType::Float ? 4 : 17;
  return 10 + (isSubtract ? 2 : 0) + (scalesBoth ? 6 : 0) +
         regions * (15 + 5 + perVector * (n / width) + tail);
}

Cycles select2D(std::uint64_t regions, std::uint64_t n) {
  return 5 + regions * (6 + 5 * n);
}

Cycles broadcastSelect2D(std::uint64_t regions, std::uint64_t n) {
  return 10 + regions * (8 + 4 * n);
}

Cycles clamp2D(const TileSpec &tile, DataType type, std::uint64_t regions,
               std::uint64_t n) {
  const Cycles loop =
      isFloatOrHalf(type) ? 2 * ceilDiv(n, vectorWidth(tile, type)) : 7 * n;
  return 5 + regions * (6 + loop);
}

Cycles hadamardProduct2D(const TileSpec &tile, DataType type,
                         std::uint64_t regions, std::uint64_t n) {
  return 5 + regions * (6 + 2 * ceilDiv(n, vectorWidth(tile, type)));
}

Cycles iota2D(const TileSpec &tile, DataType type, std::uint64_t regions,
              std::uint64_t n) {
  return 10 + regions * (4 + 3 * ceilDiv(n, vectorWidth(tile, type)));
}

Cycles hasNanOrInf1D(const TileSpec &tile, DataType type, std::uint64_t n) {
  // The upper ends of the published ranges.
  const auto share = perWorker(tile, n);
  const Cycles body = type == DataType::Half ? 12 + 2 * ceilDiv(share, 8)
                                             : 10 + 3 * ceilDiv(share, 4);
  return tile.workers * (17 + body + 12) + 24;
}

Cycles encodeOneHot(DataType type, std::uint64_t indices) {
  return type == DataType::Half ? 11 + 74 * indices : 100 * indices;
}

} // namespace kernels::cost
