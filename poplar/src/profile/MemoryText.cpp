// The memory section of the profile summary.
#include "profile/MemoryText.hpp"

#include "model/VariableShares.hpp"
#include "profile/Text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>

namespace poplar::profile {

using model::MemoryCategory;
using model::MemoryUse;
using model::TileMemory;

namespace {

constexpr unsigned totalColumn = 38;
constexpr unsigned categoryColumn = 54;
constexpr std::uint64_t barLength = 40;
constexpr std::uint64_t maxHistogramRows = 20;
constexpr std::size_t fullestTilesShown = 5;
constexpr std::size_t variablesShown = 10;

using TileRuns = std::span<const TileMemory>;

template <typename F> std::uint64_t sumOver(TileRuns runs, F &&f) {
  std::uint64_t sum = 0;
  for (const TileMemory &run : runs) {
    sum += f(run) * run.tileCount;
  }
  return sum;
}

void printRegions(std::ostream &stream, const MemoryUse &use, TileRuns runs,
                  unsigned indent) {
  stream << fmt::format("{:{}}By Memory Region:\n", "", indent);
  const auto print = [&](const char *label,
                         std::uint64_t model::MemoryRegions::*region) {
    const std::uint64_t bytes = sumOver(
        runs, [&](const TileMemory &run) { return use.regions(run).*region; });
    stream << rightAligned(indent + 2, label, thousands(bytes), totalColumn)
           << " B\n";
  };
  print("Non-interleaved", &model::MemoryRegions::nonInterleaved);
  print("Interleaved", &model::MemoryRegions::interleaved);
  print("Overflowed", &model::MemoryRegions::overflowed);
}

void printCategories(std::ostream &stream, TileRuns runs, unsigned indent) {
  stream << fmt::format("{:{}}By Data Type:\n", "", indent);
  for (std::size_t i = 0; i < model::memoryCategories; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    const std::uint64_t bytes =
        sumOver(runs, [&](const TileMemory &run) { return run.of(category); });
    stream << rightAligned(indent + 4, model::labelOf(category),
                           thousands(bytes), categoryColumn)
           << " B\n";
  }
}

// The layout shared by the total, an IPU and a tile.
void printBlock(std::ostream &stream, const MemoryUse &use, TileRuns runs,
                unsigned indent) {
  const std::uint64_t withGaps =
      sumOver(runs, [](const TileMemory &run) { return run.usedWithGaps(); });
  stream << rightAligned(indent, "Including Gaps", thousands(withGaps),
                         totalColumn)
         << " B\n"
         << fmt::format("{:{}}Excluding Gaps:\n", "", indent);
  printRegions(stream, use, runs, indent + 2);
  printCategories(stream, runs, indent + 2);
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
  const auto kilobytes = [](const TileMemory &run) {
    return run.used() / 1024;
  };
  const auto [low, high] =
      std::minmax_element(use.runs.begin(), use.runs.end(),
                          [](const TileMemory &a, const TileMemory &b) {
                            return a.used() < b.used();
                          });
  const std::uint64_t step = histogramStep(kilobytes(*low), kilobytes(*high));
  const std::uint64_t first = kilobytes(*low) / step;
  std::vector<std::uint64_t> counts(kilobytes(*high) / step - first + 1, 0);
  for (const TileMemory &run : use.runs) {
    counts[kilobytes(run) / step - first] += run.tileCount;
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

// The run with the most bytes; the first of equals.
template <typename F> const TileMemory &highestOf(TileRuns runs, F &&bytes) {
  return *std::max_element(runs.begin(), runs.end(),
                           [&](const TileMemory &a, const TileMemory &b) {
                             return bytes(a) < bytes(b);
                           });
}

std::vector<unsigned> fullestTiles(const MemoryUse &use) {
  std::vector<const TileMemory *> runs;
  for (const TileMemory &run : use.runs) {
    runs.push_back(&run);
  }
  const std::size_t enough = std::min(fullestTilesShown, runs.size());
  std::partial_sort(
      runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(enough),
      runs.end(), [](const TileMemory *a, const TileMemory *b) {
        const auto left = a->usedWithGaps();
        const auto right = b->usedWithGaps();
        return left != right ? left > right : a->firstTile < b->firstTile;
      });
  std::vector<unsigned> tiles;
  for (std::size_t i = 0; i < enough; ++i) {
    for (unsigned tile = 0;
         tile < runs[i]->tileCount && tiles.size() < fullestTilesShown;
         ++tile) {
      tiles.push_back(runs[i]->firstTile + tile);
    }
  }
  return tiles;
}

std::uint64_t bytesWithGaps(const TileMemory &run) {
  return run.usedWithGaps();
}

// One tile is much fuller than the others, and full enough to matter.
bool isImbalanced(const MemoryUse &use) {
  const std::uint64_t highest =
      highestOf(use.runs, bytesWithGaps).usedWithGaps();
  const std::uint64_t sum = sumOver(use.runs, bytesWithGaps);
  return highest * use.tiles() > 2 * sum && highest > use.bytesPerTile / 4;
}

void printTiles(std::ostream &stream, const MemoryUse &use, bool colours) {
  const TileMemory &fullest = highestOf(use.runs, bytesWithGaps);
  const TileMemory &highest =
      highestOf(use.runs, [](const TileMemory &run) { return run.used(); });
  const std::uint64_t outOfMemory =
      sumOver(use.runs, [&](const TileMemory &run) {
        return use.isOutOfMemory(run) ? 1U : 0U;
      });
  printMaximum(stream, "Including Gaps", fullest.firstTile,
               fullest.usedWithGaps());
  printMaximum(stream, "Excluding Gaps", highest.firstTile, highest.used());
  stream << "    "
         << alarm(
                fmt::format("{} tile(s) out of memory", thousands(outOfMemory)),
                colours && outOfMemory != 0)
         << "\n";
  if (isImbalanced(use)) {
    for (const unsigned tile : fullestTiles(use)) {
      TileMemory alone = use.at(tile);
      alone.tileCount = 1;
      stream << fmt::format("\n  Tile # {} memory usage:\n", tile);
      printBlock(stream, use, {&alone, 1}, 4);
    }
  }
  stream << '\n';
}

void printPerIpu(std::ostream &stream, const MemoryUse &use,
                 unsigned tilesPerIpu) {
  for (auto first = use.runs.begin(); first != use.runs.end();) {
    const unsigned ipu = first->firstTile / tilesPerIpu;
    const auto last = std::find_if(first, use.runs.end(), [&](const auto &run) {
      return run.firstTile / tilesPerIpu != ipu;
    });
    const TileRuns runs(first, last);
    stream << fmt::format("  IPU {}:\n", ipu);
    printBlock(stream, use, runs, 4);
    const TileMemory &fullest = highestOf(runs, bytesWithGaps);
    printMaximum(stream, "Including Gaps", fullest.firstTile,
                 fullest.usedWithGaps());
    stream << '\n';
    first = last;
  }
}

// The largest always-live variables of a tile.
void printAlwaysLive(std::ostream &stream, const ProfileRequest &request,
                     const MemoryUse &use, unsigned tile) {
  std::vector<std::pair<std::uint64_t, internal::VariableId>> variables;
  for (const internal::VariableId id : use.liveness.alwaysLive) {
    const auto &variable = request.graph.variables[id.index()];
    const std::uint64_t bytes =
        model::bytesOnTile(variable, use.placements[id.index()], tile);
    if (bytes != 0) {
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
                           thousands(use.at(tile).alwaysLive()), categoryColumn)
           << " B\n"
           << rightAligned(6, "Maximum live bytes of the others",
                           thousands(use.at(tile).maxLive), categoryColumn)
           << " B\n";
    printAlwaysLive(stream, request, use, tile);
  }
  stream << '\n';
}

} // namespace

void printMemory(std::ostream &stream, const ProfileRequest &request,
                 const MemoryUse &use, unsigned tilesPerIpu) {
  stream << heading("Memory Usage:", request.colours) << "\n  Total:\n";
  printBlock(stream, use, use.runs, 4);
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
