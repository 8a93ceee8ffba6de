// The memory section of the profile summary.
#include "profile/MemoryText.hpp"

#include "model/VariableMemory.hpp"
#include "profile/Text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace poplar::profile {

using model::MemoryCategory;
using model::MemoryUse;

namespace {

constexpr unsigned totalColumn = 38;
constexpr unsigned categoryColumn = 54;
constexpr std::uint64_t barLength = 40;
constexpr std::uint64_t maxHistogramRows = 20;
constexpr std::size_t fullestTilesShown = 5;
constexpr std::size_t variablesShown = 10;

struct TileRange {
  unsigned begin;
  unsigned end;
};

template <typename F> std::uint64_t sumOver(TileRange range, F &&f) {
  std::uint64_t sum = 0;
  for (unsigned tile = range.begin; tile < range.end; ++tile) {
    sum += f(tile);
  }
  return sum;
}

void printRegions(std::ostream &stream, const MemoryUse &use, TileRange range,
                  unsigned indent) {
  model::MemoryRegions sum;
  for (unsigned tile = range.begin; tile < range.end; ++tile) {
    const model::MemoryRegions regions = use.regions(tile);
    sum.nonInterleaved += regions.nonInterleaved;
    sum.interleaved += regions.interleaved;
    sum.overflowed += regions.overflowed;
  }
  stream << fmt::format("{:{}}By Memory Region:\n", "", indent);
  const auto print = [&](const char *label, std::uint64_t bytes) {
    stream << rightAligned(indent + 2, label, thousands(bytes), totalColumn)
           << " B\n";
  };
  print("Non-interleaved", sum.nonInterleaved);
  print("Interleaved", sum.interleaved);
  print("Overflowed", sum.overflowed);
}

void printCategories(std::ostream &stream, const MemoryUse &use,
                     TileRange range, unsigned indent) {
  stream << fmt::format("{:{}}By Data Type:\n", "", indent);
  for (std::size_t i = 0; i < model::memoryCategories; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    const std::uint64_t bytes =
        sumOver(range, [&](unsigned tile) { return use.of(category, tile); });
    stream << rightAligned(indent + 4, model::labelOf(category),
                           thousands(bytes), categoryColumn)
           << " B\n";
  }
}

// The layout shared by the total, an IPU and a tile.
void printBlock(std::ostream &stream, const MemoryUse &use, TileRange range,
                unsigned indent) {
  const std::uint64_t withGaps =
      sumOver(range, [&](unsigned tile) { return use.usedWithGaps(tile); });
  stream << rightAligned(indent, "Including Gaps", thousands(withGaps),
                         totalColumn)
         << " B\n"
         << fmt::format("{:{}}Excluding Gaps:\n", "", indent);
  printRegions(stream, use, range, indent + 2);
  printCategories(stream, use, range, indent + 2);
}

void printVertexData(std::ostream &stream, const model::VertexData &data) {
  stream << fmt::format("      Vertex Data ({}B):\n", thousands(data.total()))
         << "        By Category:\n";
  const auto print = [&](std::string_view label, std::uint64_t bytes) {
    stream << rightAligned(10, label, thousands(bytes), categoryColumn)
           << " B\n";
  };
  print("Internal vertex state", data.internalState);
  print("Edge pointers", data.edgePointers);
  print("Copy pointers", data.copyPointers);
  print("Padding", data.padding);
  print("Descriptors", data.descriptors);
  stream << "        By Type:\n";
  std::vector<std::pair<std::string, std::uint64_t>> types(data.byType.begin(),
                                                           data.byType.end());
  std::stable_sort(
      types.begin(), types.end(),
      [](const auto &a, const auto &b) { return a.second > b.second; });
  for (const auto &[type, bytes] : types) {
    print(type, bytes);
  }
}

// The histogram's step in kB: 1, 2 or 5 times a power of ten.
std::uint64_t histogramStep(std::uint64_t lowest, std::uint64_t highest) {
  std::uint64_t step = 1;
  for (unsigned i = 0; (highest - lowest) / step >= maxHistogramRows; ++i) {
    step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  }
  return step;
}

void printHistogram(std::ostream &stream, const MemoryUse &use) {
  std::vector<std::uint64_t> kilobytes(use.tiles());
  for (unsigned tile = 0; tile < use.tiles(); ++tile) {
    kilobytes[tile] = use.used(tile) / 1024;
  }
  const auto [low, high] =
      std::minmax_element(kilobytes.begin(), kilobytes.end());
  const std::uint64_t step = histogramStep(*low, *high);
  const std::uint64_t first = *low / step;
  std::vector<std::uint64_t> counts(*high / step - first + 1, 0);
  for (const std::uint64_t value : kilobytes) {
    counts[value / step - first] += 1;
  }
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  stream << "  By Tile (Excluding Gaps):\n"
            "    Range (KB) Histogram (Excluding Gaps)               "
            "Count (tiles)\n";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t bar = (counts[i] * barLength + most - 1) / most;
    const std::string range =
        fmt::format("{} - {}", thousands((first + i) * step),
                    thousands((first + i + 1) * step));
    stream << fmt::format("{:>14} {:<40}{:>7}\n", range, std::string(bar, '*'),
                          thousands(counts[i]));
  }
  stream << '\n';
}

void printMaximum(std::ostream &stream, const char *label, unsigned tile,
                  std::uint64_t bytes) {
  stream << fmt::format("    Maximum ({}): {} ({} K) on tile {}\n", label,
                        thousands(bytes),
                        decimal(static_cast<double>(bytes) / 1024), tile);
}

std::vector<unsigned> fullestTiles(const MemoryUse &use) {
  std::vector<unsigned> tiles(use.tiles());
  for (unsigned tile = 0; tile < use.tiles(); ++tile) {
    tiles[tile] = tile;
  }
  const std::size_t shown = std::min(fullestTilesShown, tiles.size());
  std::partial_sort(tiles.begin(),
                    tiles.begin() + static_cast<std::ptrdiff_t>(shown),
                    tiles.end(), [&](unsigned a, unsigned b) {
                      const auto left = use.usedWithGaps(a);
                      const auto right = use.usedWithGaps(b);
                      return left != right ? left > right : a < b;
                    });
  tiles.resize(shown);
  return tiles;
}

// One tile is much fuller than the others, and full enough to matter.
bool isImbalanced(const MemoryUse &use) {
  const std::uint64_t highest = use.usedWithGaps(use.fullestTile());
  const std::uint64_t sum = sumOver(
      {0, use.tiles()}, [&](unsigned tile) { return use.usedWithGaps(tile); });
  return highest * use.tiles() > 2 * sum && highest > use.bytesPerTile / 4;
}

void printTiles(std::ostream &stream, const MemoryUse &use, bool colours) {
  unsigned highest = 0;
  unsigned outOfMemory = 0;
  for (unsigned tile = 0; tile < use.tiles(); ++tile) {
    highest = use.used(tile) > use.used(highest) ? tile : highest;
    outOfMemory += use.isOutOfMemory(tile) ? 1 : 0;
  }
  const unsigned fullest = use.fullestTile();
  printMaximum(stream, "Including Gaps", fullest, use.usedWithGaps(fullest));
  printMaximum(stream, "Excluding Gaps", highest, use.used(highest));
  stream << "    "
         << alarm(fmt::format("{} tile(s) out of memory", outOfMemory),
                  colours && outOfMemory != 0)
         << "\n";
  if (isImbalanced(use)) {
    for (const unsigned tile : fullestTiles(use)) {
      stream << fmt::format("\n  Tile # {} memory usage:\n", tile);
      printBlock(stream, use, {tile, tile + 1}, 4);
    }
  }
  stream << '\n';
}

void printPerIpu(std::ostream &stream, const MemoryUse &use,
                 unsigned tilesPerIpu) {
  for (unsigned first = 0; first < use.tiles(); first += tilesPerIpu) {
    stream << fmt::format("  IPU {}:\n", first / tilesPerIpu);
    printBlock(stream, use, {first, first + tilesPerIpu}, 4);
    unsigned fullest = first;
    for (unsigned tile = first; tile < first + tilesPerIpu; ++tile) {
      fullest =
          use.usedWithGaps(tile) > use.usedWithGaps(fullest) ? tile : fullest;
    }
    printMaximum(stream, "Including Gaps", fullest, use.usedWithGaps(fullest));
    stream << '\n';
  }
}

// The largest always-live variables of a tile.
void printAlwaysLive(std::ostream &stream, const ProfileRequest &request,
                     const MemoryUse &use, unsigned tile) {
  std::vector<std::pair<std::uint64_t, internal::VariableId>> variables;
  for (const internal::VariableId id : use.liveness.alwaysLive) {
    const auto &variable = request.graph.variables[id.index()];
    if (const std::uint64_t bytes = model::bytesOnTile(variable, tile)) {
      variables.emplace_back(bytes, id);
    }
  }
  std::stable_sort(
      variables.begin(), variables.end(),
      [](const auto &a, const auto &b) { return a.first > b.first; });
  const std::size_t shown = std::min(variablesShown, variables.size());
  stream << (shown == 0 ? "" : "      Always-live variables:\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string &name =
        request.graph.variables[variables[i].second.index()].debugPath;
    stream << rightAligned(8, name.empty() ? "<anonymous>" : name,
                           thousands(variables[i].first), categoryColumn)
           << " B\n";
  }
  if (variables.size() > shown) {
    stream << fmt::format("        and {} more\n",
                          thousands(variables.size() - shown));
  }
}

void printVariables(std::ostream &stream, const ProfileRequest &request,
                    const MemoryUse &use) {
  stream << "  Variable Storage Liveness:\n";
  for (const unsigned tile : fullestTiles(use)) {
    stream << fmt::format("    Tile # {}:\n", tile)
           << rightAligned(6, "Always-live bytes",
                           thousands(use.alwaysLive[tile]), categoryColumn)
           << " B\n"
           << rightAligned(6, "Maximum live bytes of the others",
                           thousands(use.maxLive[tile]), categoryColumn)
           << " B\n";
    printAlwaysLive(stream, request, use, tile);
  }
  stream << '\n';
}

} // namespace

void printMemory(std::ostream &stream, const ProfileRequest &request,
                 const MemoryUse &use, unsigned tilesPerIpu) {
  stream << heading("Memory Usage:", request.colours) << "\n  Total:\n";
  printBlock(stream, use, {0, use.tiles()}, 4);
  printVertexData(stream, use.vertexData);
  stream << '\n';
  printHistogram(stream, use);
  printTiles(stream, use, request.colours);
  if (request.showPerIpuMemoryUsage) {
    printPerIpu(stream, use, tilesPerIpu);
  }
  if (request.showVarStorage) {
    printVariables(stream, request, use);
  }
}

} // namespace poplar::profile
