// How many bytes of the arena small programs take, counted by hand, and what
// the table for whoever wants fewer says about them.
#include "LiftedProgram.hpp"

#include "compiler/ArenaPacking.hpp"
#include "compiler/AssignStorage.hpp"
#include "compiler/Pipeline.hpp"
#include "compiler/StorageReport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using poplar::test::EngineProgram;
using poplar::test::lifted;

TEST(ArenaPacking, ReusesMemoryAtOnceWhereNobodyWaitsForIt) {
  // The second block's nodes, 3 and 4, come after those of the first, 1 and 2.
  constexpr std::size_t size = 64;
  const std::vector<ArenaBlock> blocks = {{size, {1, 2}}, {size, {3, 4}}};
  EXPECT_EQ(packArena(blocks, {0, 0, 0, 0b11, 0b111}).bytes, size);
  EXPECT_EQ(packArena(blocks, {0, 0, 0, 0b01, 0b111}).bytes, 2 * size); // 1 not
  EXPECT_EQ(packArena(blocks, {0, 0, 0, 0b11, 0b011}).bytes, 2 * size);
}

// The smallest gap, or the end, among all blocks placed so far that are in use
// at the same time or shortly before or after.
std::size_t
bestFit(const ArenaBlock &block,
        const std::vector<std::pair<std::size_t, ArenaBlock>> &all) {
  std::size_t best = 0, bestSize = ~std::size_t(0), end = 0;
  for (const auto &[offset, other] : all) { // by offset
    if (other.uses.back() + reuseDistance < block.uses.front() ||
        block.uses.back() + reuseDistance < other.uses.front()) {
      continue;
    }
    if (offset >= end + block.bytes && offset - end < bestSize) {
      best = end;
      bestSize = offset - end;
    }
    end = std::max(end, offset + other.bytes);
  }
  return bestSize == ~std::size_t(0) ? end : best;
}

// Against the obvious loop over all of them, for long and short lifetimes.
TEST(ArenaPacking, FindsTheBestFitAmongManyBlocks) {
  std::mt19937 random(1);
  std::vector<ArenaBlock> blocks;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const auto length =
        static_cast<std::uint32_t>(random() % (i % 3 == 0 ? 3000 : 9));
    const std::uint32_t end = i + 1 + length;
    blocks.push_back({64 * (1 + random() % 40), {i, end}});
  }
  std::size_t least = ~std::size_t(0);
  for (const bool byArea : {false, true}) {
    std::vector<ArenaBlock> order = blocks;
    std::stable_sort(order.begin(), order.end(),
                     [&](const ArenaBlock &a, const ArenaBlock &b) {
                       const auto size = [&](const ArenaBlock &block) {
                         return byArea ? block.bytes * (block.uses.back() -
                                                        block.uses.front() + 1)
                                       : block.bytes;
                       };
                       return size(a) > size(b);
                     });
    std::vector<std::pair<std::size_t, ArenaBlock>> placed;
    std::size_t bytes = 0;
    for (const ArenaBlock &block : order) {
      const std::size_t offset = bestFit(block, placed);
      bytes = std::max(bytes, offset + block.bytes);
      placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                     [](std::size_t at, const auto &other) {
                                       return at < other.first;
                                     }),
                    {offset, block});
    }
    least = std::min(least, bytes);
  }
  EXPECT_EQ(packArena(blocks, Forerunners(7000)).bytes, least);
}

TEST(ArenaPacking, ReusesMemoryLaterInAnyCase) {
  EXPECT_EQ(packArena({{64, {1, 2}}, {64, {6}}}, Forerunners(7)).bytes, 128U);
  EXPECT_EQ(packArena({{64, {1, 2}}, {64, {7}}}, Forerunners(8)).bytes, 64U);
}

TEST(ArenaPacking, FillsTheSmallestGap) {
  // By size side by side; when the last is needed, the second and the fourth,
  // which is smaller, are free.
  const ArenaPlan plan = packArena({{512, {1, 9}},
                                    {384, {1, 2}},
                                    {256, {1, 9}},
                                    {192, {1, 2}},
                                    {128, {1, 9}},
                                    {128, {8, 9}}},
                                   Forerunners(10));
  EXPECT_EQ(plan.bytes, 1472U);
  EXPECT_EQ(plan.offsets[5], 1152U);
}

// A thousand floats in whole cache lines.
constexpr std::size_t thousand = 4032;

// Every operation on its own, with its kernel chosen.
ValueProgram compiled(const EngineProgram &p) {
  ValueProgram program = lifted(p);
  PipelineOptions options;
  options.disabled = {"fuseElementwise"};
  runPasses(program, options);
  return program;
}

TEST(Storage, ChainsOfOperationsTakeOnePlace) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {1000}, 1);
  const Tensor y = p.addHostVariable("y", {1000}, 1);
  const Tensor t = p.addTemporary("t", {1000});
  const Tensor u = p.addTemporary("u", {1000});
  p.elementwise("a+1", {x}, t);
  p.elementwise("a*2", {t}, u);
  p.elementwise("a-3", {u}, y);
  ValueProgram program = compiled(p);
  const StorageAssignment storage = assignStorage(program);
  EXPECT_EQ(storage.arenaBytes, thousand);
  EXPECT_EQ(liveBytes(storage), thousand);
}

TEST(Storage, WhatIsNeededTogetherHasItsOwnPlace) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {1000}, 1);
  const Tensor y = p.addHostVariable("y", {1000}, 1);
  const Tensor t = p.addTemporary("t", {1000});
  const Tensor u = p.addTemporary("u", {1000});
  p.elementwise("a+1", {x}, t);
  p.elementwise("a*2", {x}, u);
  p.elementwise("a*b", {t, u}, t);
  p.elementwise("a+b", {t, u}, y);
  ValueProgram program = compiled(p);
  const StorageAssignment storage = assignStorage(program);
  EXPECT_EQ(storage.arenaBytes, 2 * thousand);
  EXPECT_EQ(liveBytes(storage), 2 * thousand);
}

TEST(Storage, ReusesMemoryAtOnceWhereNodesTakeTurnsAnyway) {
  for (const std::size_t size : {1024UL, 256UL, 16UL}) {
    EngineProgram p;
    Tensor last = p.addHostVariable("x", {size, size}, 1);
    for (const char *name : {"a", "b", "c", "d", "e", "f"}) {
      const Tensor next = p.addTemporary(name, {size, size});
      p.elementwise("a+1", {last.transpose()}, next);
      last = next;
    }
    p.elementwise("a+1", {last}, p.addHostVariable("y", {size, size}, 2));
    ValueProgram program = lifted(p);
    const std::size_t bytes = size * size * sizeof(float);
    EXPECT_EQ(assignStorage(program).arenaBytes, 2 * bytes);
  }
}

TEST(Storage, LeavesMemoryOfIndependentNodesAlone) {
  for (const std::size_t size : {1024UL, 256UL}) {
    EngineProgram p;
    const Tensor x = p.addHostVariable("x", {size, size}, 1);
    for (const char *name : {"a", "b", "c"}) {
      const Tensor t = p.addTemporary(name, {size, size});
      p.elementwise("a+1", {x.transpose()}, t);
      p.sum(t, 0, p.addHostVariable(std::string(name) + "Sum", {size}, 2));
    }
    ValueProgram program = lifted(p);
    const std::size_t bytes = size * size * sizeof(float);
    EXPECT_EQ(assignStorage(program).arenaBytes,
              size == 1024 ? bytes : 3 * bytes);
  }
}

TEST(StorageReport, NamesWhatIsAliveAtThePeak) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {500}, 1);
  const Tensor y = p.addHostVariable("y", {1000}, 1);
  const Tensor t = p.addTemporary("first", {1000});
  const Tensor u = p.addTemporary("second", {500});
  p.elementwise("a+1", {x}, u);
  p.elementwise("a*2", {y}, t);
  p.elementwise("a*b", {t.slice(0, 500), u}, x);
  p.elementwise("a+1", {t}, y);
  ValueProgram program = compiled(p);
  const StorageAssignment storage = assignStorage(program);
  const std::string text = storageReport(program, storage, "this");
  EXPECT_NE(text.find("this: 6080 B of arena, of which at most 6080 B are in "
                      "use at once, at 2 elementwise elementwise\n"),
            std::string::npos)
      << text;
  const auto first = text.find("4032  float{1000} first");
  const auto second = text.find("2048  float{500} second");
  EXPECT_LT(first, second) << text; // largest first
  EXPECT_NE(second, std::string::npos) << text;
  EXPECT_NE(text.find("4000  float{1000} y"), std::string::npos) << text;
}

} // namespace
