// Sums are whole: on 1,000 random programs the parts of the model's memory and
// time, and of the text that shows them, add up to their totals.
#include "ModelRandomProgram.hpp"
#include "ProfileTextReader.hpp"

#include "model/MemoryUse.hpp"
#include "model/Timeline.hpp"
#include "model/VertexTypes.hpp"
#include "profile/ProfileSummary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace poplar::testing {
namespace {

using model::ExecutionCost;
using model::IpuCosts;
using model::MemoryCategory;
using model::MemoryUse;
using model::TileMemory;

constexpr unsigned programs = 1000;

// Calls check(random, program) for all seeds; a failure names its seed.
template <typename F> void forEachProgram(bool hasBranches, F &&check) {
  for (unsigned seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram random(seed);
    const ProgramPtr program = random.make(2, hasBranches);
    check(random, program);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

std::uint64_t roundUp(std::uint64_t bytes, std::uint64_t grain) {
  return (bytes + grain - 1) / grain * grain;
}

// The contiguous parts of a variable on a tile: first element and count.
std::vector<std::pair<std::int64_t, std::int64_t>>
partsOn(const Variable &variable, unsigned tile) {
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  for (const MappingPiece &piece : variable.mapping.pieces()) {
    for (unsigned part = 0; part < piece.parts; ++part) {
      const auto range = piece.partRange(part);
      if (piece.firstTile + part == tile && range.begin < range.end) {
        parts.emplace_back(range.begin, range.end - range.begin);
      }
    }
  }
  return parts;
}

std::uint64_t bytesOn(const Variable &variable, model::Placement placement,
                      unsigned tile) {
  std::uint64_t bytes = 0;
  for (const auto &[first, count] : partsOn(variable, tile)) {
    bytes +=
        roundUp(static_cast<std::uint64_t>(count) * 4, placement.alignment);
  }
  return bytes;
}

// Always-live variables, and constants of which equal ones are there once.
std::uint64_t alwaysLiveOn(const GraphData &graph, const MemoryUse &use,
                           unsigned tile) {
  std::uint64_t bytes = 0;
  std::map<std::vector<std::byte>, std::uint64_t> constants;
  for (const VariableId id : use.liveness.alwaysLive) {
    const model::Placement placement = use.placements[id.index()];
    if (!graph[id].isConstant) {
      bytes += bytesOn(graph[id], placement, tile);
      continue;
    }
    for (const auto &[first, count] : partsOn(graph[id], tile)) {
      const auto begin = graph[id].initialData.begin() + first * 4;
      std::uint64_t &size =
          constants[std::vector<std::byte>(begin, begin + count * 4)];
      size = std::max(size, roundUp(static_cast<std::uint64_t>(count) * 4,
                                    placement.alignment));
    }
  }
  for (const auto &[content, size] : constants) {
    bytes += size;
  }
  return bytes;
}

std::uint64_t temporariesOn(const model::Step &step, unsigned tile) {
  const bool isTransfer = step.isHostTransfer() || step.isRemoteTransfer();
  std::uint64_t bytes = 0;
  for (const TileRun *run : step.runs) {
    if (tile >= run->firstTile && tile < run->firstTile + run->tileCount) {
      bytes += roundUp(run->temporaryBytes, isTransfer ? 32 : 8);
    }
  }
  return bytes;
}

// The peak by asking at every step what is alive.
std::uint64_t peakOn(model::StepTable &steps, const MemoryUse &use,
                     unsigned tile) {
  std::uint64_t peak = 0;
  for (std::size_t leaf = 0; leaf < use.liveness.schedule.size(); ++leaf) {
    std::uint64_t live = 0;
    for (const model::LiveRange &range : use.liveness.ranges) {
      if (range.begin <= leaf && leaf <= range.end) {
        live += bytesOn(steps.graph()[range.variable],
                        use.placements[range.variable.index()], tile);
      }
    }
    peak = std::max(peak, live);
    for (const model::Step &step :
         steps.stepsOf(*use.liveness.schedule[leaf])) {
      peak = std::max(peak, live + temporariesOn(step, tile));
    }
  }
  return peak;
}

TEST(ModelSums, RunsOfTilesAreAllTilesOnce) {
  forEachProgram(true, [](RandomProgram &random, const ProgramPtr &program) {
    model::StepTable steps(random.graph().data);
    const MemoryUse use = model::measureMemory(steps, {program});
    unsigned next = 0;
    for (const TileMemory &run : use.runs) {
      EXPECT_EQ(run.firstTile, next);
      ASSERT_GT(run.tileCount, 0U);
      next += run.tileCount;
      EXPECT_EQ(run.firstTile / 16, (next - 1) / 16);
    }
    EXPECT_EQ(next, steps.tiles());
  });
}

TEST(ModelSums, CategoriesAndRegionsAddUpToTheTile) {
  forEachProgram(true, [](RandomProgram &random, const ProgramPtr &program) {
    model::StepTable steps(random.graph().data);
    const MemoryUse use = model::measureMemory(steps, {program});
    for (const TileMemory &run : use.runs) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < model::memoryCategories; ++i) {
        sum += run.of(static_cast<MemoryCategory>(i));
      }
      EXPECT_EQ(run.used(), sum);
      EXPECT_EQ(run.usedWithGaps(), sum + run.gaps);
      EXPECT_LT(run.code(), sum);
      EXPECT_EQ(run.of(MemoryCategory::Stack), 128U + 6 * 512U);
      const model::MemoryRegions regions = use.regions(run);
      EXPECT_EQ(regions.nonInterleaved + regions.interleaved +
                    regions.overflowed,
                sum);
      EXPECT_GE(regions.interleaved, run.interleavedOnly);
      EXPECT_LE(run.interleavedOnly, run.of(MemoryCategory::Variables));
    }
  });
}

TEST(ModelSums, VariablesAreTheAlwaysLiveOnesAndThePeakOfTheOthers) {
  std::size_t ranges = 0;
  forEachProgram(true, [&](RandomProgram &random, const ProgramPtr &program) {
    const GraphData &graph = random.graph().data;
    model::StepTable steps(graph);
    const MemoryUse use = model::measureMemory(steps, {program});
    ranges += use.liveness.ranges.size();
    for (unsigned tile = 0; tile < use.tiles(); ++tile) {
      const TileMemory &memory = use.at(tile);
      const std::uint64_t alwaysLive = alwaysLiveOn(graph, use, tile);
      EXPECT_EQ(memory.alwaysLive(), alwaysLive) << "tile " << tile;
      EXPECT_EQ(memory.maxLive, peakOn(steps, use, tile)) << "tile " << tile;
      EXPECT_EQ(memory.of(MemoryCategory::Variables) +
                    memory.of(MemoryCategory::Constants),
                alwaysLive + memory.maxLive);
    }
  });
  EXPECT_GT(ranges, 1000U); // or the programs say little
}

TEST(ModelSums, VertexDataByCategoryAndByTypeIsThatOfTheTiles) {
  forEachProgram(true, [](RandomProgram &random, const ProgramPtr &program) {
    model::StepTable steps(random.graph().data);
    const MemoryUse use = model::measureMemory(steps, {program});
    std::uint64_t instances = 0;
    for (const TileMemory &run : use.runs) {
      instances +=
          run.tileCount * (run.of(MemoryCategory::VertexInstances) +
                           run.of(MemoryCategory::VectorListDescriptors));
    }
    EXPECT_EQ(use.vertexData.total(), instances);
    std::uint64_t byType = 0;
    for (const auto &[type, bytes] : use.vertexData.byType) {
      byType += bytes;
    }
    EXPECT_EQ(byType, instances);
  });
}

TEST(ModelSums, PhasesOfAnIpuAddUpToTheTotal) {
  forEachProgram(true, [](RandomProgram &random, const ProgramPtr &program) {
    model::StepTable steps(random.graph().data);
    const ExecutionCost cost = model::Timeline(steps).run(program);
    ASSERT_EQ(cost.ipus.size(), random.ipus());
    std::uint64_t threads = 0;
    std::uint64_t longest = 0;
    for (const IpuCosts &ipu : cost.ipus) {
      const std::uint64_t clock = ipu.compute + ipu.exchange +
                                  ipu.globalExchange + ipu.hostExchange +
                                  ipu.sync + ipu.control + ipu.wait;
      EXPECT_EQ(clock, cost.total);
      EXPECT_LE(ipu.tileCompute, ipu.compute * 16);
      EXPECT_LE(ipu.tileExchange, ipu.exchange * 16);
      EXPECT_LE(ipu.threadCycles, ipu.tileCompute);
      longest = std::max(longest, clock);
      threads += ipu.threadCycles;
    }
    EXPECT_EQ(longest, cost.total);
    const std::uint64_t runs[] = {1};
    std::uint64_t byType = 0;
    for (const auto &[type, vertices] :
         model::costByVertexType(steps, {program}, runs)) {
      byType += vertices.cycles;
    }
    EXPECT_EQ(byType, threads);
  });
}

std::string summaryOf(const GraphData &graph, const ProgramPtr &program) {
  profile::ProfileRequest request{
      .graph = graph, .programs = {program}, .runs = {{0, "", 1}}};
  request.showExecutionSteps = true;
  request.showPerIpuMemoryUsage = true;
  request.showVarStorage = true;
  std::ostringstream stream;
  profile::printSummary(stream, request);
  return stream.str();
}

TEST(ModelSums, PrintedMemoryAddsUp) {
  forEachProgram(true, [](RandomProgram &random, const ProgramPtr &program) {
    const GraphData &graph = random.graph().data;
    const ProfileTextReader text(summaryOf(graph, program));
    const auto total = text.block("  Total:");
    const std::uint64_t bytes = total.sum("By Data Type:");
    EXPECT_EQ(total.sum("By Memory Region:"), bytes);
    EXPECT_GE(total.number("Including Gaps:"), bytes);
    const auto vertexData = text.block("      Vertex Data (");
    EXPECT_EQ(vertexData.sum("By Category:"), vertexData.numberInTitle());
    EXPECT_EQ(vertexData.sum("By Type:"), vertexData.numberInTitle());
    std::uint64_t ofIpus = 0;
    std::uint64_t withGaps = 0;
    for (unsigned ipu = 0; ipu < random.ipus(); ++ipu) {
      const auto block = text.block("  IPU " + std::to_string(ipu) + ":");
      ofIpus += block.sum("By Data Type:");
      withGaps += block.number("Including Gaps:");
    }
    EXPECT_EQ(ofIpus, bytes);
    EXPECT_EQ(withGaps, total.number("Including Gaps:"));
    EXPECT_EQ(text.histogramCount(), random.ipus() * 16);
  });
}

TEST(ModelSums, PrintedCyclesAddUp) {
  forEachProgram(true, [](RandomProgram &random, const ProgramPtr &program) {
    const GraphData &graph = random.graph().data;
    const ProfileTextReader text(summaryOf(graph, program));
    const std::uint64_t total = text.number("  Total cycles:");
    const double tiles = random.ipus() * 16;
    const double threads =
        text.decimal("  Tile average compute cycles (excluding idle threads):");
    const auto byType = static_cast<double>(
        text.block("  Cycles by vertex type:").sumOfLines());
    EXPECT_NEAR(threads * tiles, byType, 0.051 * tiles); // one decimal
    for (const std::vector<std::uint64_t> &ipu : text.ipuRows()) {
      // IPU, busy, compute, exchange, global and host exchange, sync and wait
      ASSERT_EQ(ipu.size(), 7U);
      EXPECT_EQ(ipu[1], ipu[2] + ipu[3] + ipu[4] + ipu[5]);
      EXPECT_EQ(ipu[1] + ipu[6], total);
    }
    EXPECT_EQ(text.ipuRows().size(), random.ipus() == 1 ? 0 : random.ipus());
  });
}

// Loops say how often they run; on one IPU only transfers on tiles without
// vertices overlap, and what is not a phase of a step is sync and control.
TEST(ModelSums, PrintedStepsAddUpToTheTotal) {
  forEachProgram(false, [](RandomProgram &random, const ProgramPtr &program) {
    if (random.ipus() != 1) {
      return;
    }
    const GraphData &graph = random.graph().data;
    const ProfileTextReader text(summaryOf(graph, program));
    model::StepTable steps(graph);
    model::Timeline timeline(steps);
    const ExecutionCost cost = timeline.run(program);
    EXPECT_EQ(text.number("  Total cycles:"), cost.total);
    const auto &overlaps = timeline.overlaps();
    if (std::any_of(overlaps.begin(), overlaps.end(),
                    [](std::uint64_t cycles) { return cycles != 0; })) {
      return;
    }
    EXPECT_EQ(text.stepCycles() + cost.ipus[0].sync + cost.ipus[0].control,
              cost.total);
  });
}

} // namespace
} // namespace poplar::testing
