#include <kernels/cost/Slice.hpp>

#include <bit>

namespace kernels::cost {

namespace {

// Lookups of the busiest worker that hit and that miss.
struct WorkerLookups {
  std::uint64_t hits;
  std::uint64_t misses;
};
WorkerLookups lookupsOf(const TileSpec &tile, const LookupShare &share) {
  const auto all = perWorker(tile, share.lookups);
  const auto hits = std::min(all, perWorker(tile, share.inRange));
  return {hits, all - hits};
}

std::uint64_t log2Ceil(std::uint64_t n) {
  return n <= 1 ? 0 : static_cast<std::uint64_t>(std::bit_width(n - 1));
}

// Cycles of one row of an update that reads, combines and writes.
Cycles updatedRow(const LookupShare &share, bool isScaled, DataType scaleType) {
  const auto n = share.elements;
  const auto size = support::sizeOf(share.type);
  if (size == 4 && (n == 2 || n == 4)) {
    return n == 2 ? 8 : 16;
  }
  if (size == 2 && n == 4) {
    return isScaled ? 12 : 9;
  }
  constexpr std::uint64_t atomBytes = 4;
  if (n * size % atomBytes != 0) {
    return 20 * n; // writes below a word read and merge it
  }
  const bool isWider = isScaled && support::sizeOf(scaleType) > size;
  const Cycles first =
      (size == 4 ? 11 : 12) +
      (share.type == DataType::Half && isScaled ? Cycles{1} : Cycles{0});
  return first + (n * size / atomBytes - 1) * (isWider ? 4 : 3);
}

} // namespace

Cycles dynamicSlice1D(const TileSpec &tile, DataType type, std::uint64_t region,
                      std::uint64_t slices) {
  const auto size = support::sizeOf(type);
  const auto mine = perWorker(tile, size == 8 ? 2 * region : region);
  const Cycles loop =
      size == 1 ? 72 + 2 * (mine / 4) : 24 + 2 * (mine / (size == 2 ? 4 : 2));
  return 25 + tile.workers * ((size == 1 ? 76 : 39) + loop * slices);
}

Cycles dynamicSlice2D(DataType type, std::uint64_t regions,
                      std::uint64_t region, std::uint64_t slices,
                      bool isUpdate) {
  const auto size = support::sizeOf(type);
  const auto n = size == 8 ? 2 * region : region;
  const Cycles loop = size == 1   ? 50 + 2 * ceilDiv(n, 4)
                      : size == 2 ? 31 + 2 * ceilDiv(n, 4)
                                  : 29 + ceilDiv(n, 2);
  // An update has its offsets at hand.
  const Cycles saved = isUpdate ? 6 : 0;
  return 27 + regions * (13 + slices * (loop - saved));
}

Cycles transpose(DataType type, std::uint64_t matrices, std::uint64_t rows,
                 std::uint64_t columns) {
  if (type != DataType::Half || rows % 4 != 0 || columns % 4 != 0) {
    return transpose2D(type, matrices, rows, columns);
  }
  if (rows == 4 && columns == 4) {
    return matrices == 1 ? 29 : 37 + 4 * (matrices - 2);
  }
  if (columns == 4) {
    return 27 + matrices * (35 + 4 * (rows / 4 - 2));
  }
  return 29 + matrices * (18 + rows / 4 * (12 + 4 * (columns / 4 - 2)));
}

Cycles transposeSupervisor(const TileSpec &tile, DataType type,
                           std::uint64_t matrices, std::uint64_t rows,
                           std::uint64_t columns) {
  constexpr Cycles unpack = 2;
  return 7 + tile.workers *
                 (transpose(type, perWorker(tile, matrices), rows, columns) -
                  7 + unpack);
}

Cycles transpose2D(DataType type, std::uint64_t matrices, std::uint64_t rows,
                   std::uint64_t columns) {
  if (support::sizeOf(type) == 2) {
    const bool isFast = rows % 4 == 0 && columns % 4 == 0 && columns >= 8;
    return isFast
               ? 39 + matrices * (12 + rows / 4 * (15 + 4 * (columns / 4 - 2)))
               : 15 + matrices * (8 + columns * (5 + ceilDiv(5 * rows, 2)));
  }
  return rows % 2 == 0 && columns % 2 == 0
             ? 27 + matrices * (11 + rows / 2 * (6 + 3 * (columns / 2 - 1)))
             : 13 + matrices * (8 + columns * (5 + 2 * rows));
}

Cycles sequenceSlice(std::uint64_t sequences, std::uint64_t words) {
  const auto each = 2 * words / std::max<std::uint64_t>(sequences, 1);
  return 60 + 6 * ceilDiv(sequences, 6) * each + 60 * sequences;
}

Cycles multiSlice(const TileSpec &tile, const LookupShare &share,
                  bool isUpdate) {
  const auto size = support::sizeOf(share.type);
  const auto words = size == 8 ? 2 * share.elements : share.elements;
  auto vectors = ceilDiv(words, size == 1 ? 4 : 2);
  if (share.lookups == 1) {
    vectors = perWorker(tile, vectors); // all workers copy the one row
  }
  const auto [hits, misses] = lookupsOf(tile, share);
  Cycles cycles = (isUpdate ? 29 : 30) +
                  hits * (19 + vectors * (size == 1 ? 3 : 2)) + 8 * misses;
  if (share.isSorted) {
    const auto all = perWorker(tile, share.lookups);
    const auto repeated = all - std::min(all, share.entries);
    cycles += 2 * log2Ceil(share.lookups) * 10 + 15 * repeated + 29;
  }
  return tile.workers * cycles;
}

Cycles multiUpdateOp(const TileSpec &tile, const LookupShare &share,
                     bool isScaled, DataType scaleType) {
  const bool isWord = support::sizeOf(share.type) >= 4;
  const auto [hits, misses] = lookupsOf(tile, share);
  return tile.workers *
         (3 + (isWord ? 29 : 30) + (isScaled ? (isWord ? 6 : 4) : 0) +
          hits * updatedRow(share, isScaled, scaleType) + 5 * misses);
}

} // namespace kernels::cost
