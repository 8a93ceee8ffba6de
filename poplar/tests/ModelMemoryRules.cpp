// What takes memory on a tile and where it may lie, with figures by hand.
#include "ModelGraph.hpp"

#include "model/MemoryCheck.hpp"
#include "model/MemoryUse.hpp"

#include <gtest/gtest.h>

namespace poplar::testing {
namespace {

using model::MemoryCategory;
using model::MemoryUse;
using model::MemoryVerdict;

constexpr std::uint64_t codeRegion = 13 * 16384;
constexpr std::uint64_t interleavedRegion = 638976 - codeRegion;

MemoryUse measure(const ModelGraph &graph, const ProgramPtr &program,
                  const model::MemoryOptions &options = {}) {
  model::StepTable steps(graph.data);
  return model::measureMemory(steps, {program}, options);
}

// An operation on tile 0 that takes no memory of its own.
ProgramPtr touch(ModelGraph &graph, const std::vector<VariableId> &reads,
                 const std::vector<VariableId> &writes = {}) {
  return graph.execute("op", {{"", {tiles(0, 1, {supervisor("v", 1, 1)})}}},
                       reads, writes);
}

VariableId addHostVariable(ModelGraph &graph, std::int64_t elements,
                           unsigned tile) {
  const auto id = graph.addVariable(elements, {.firstTile = tile});
  graph.data.hostWrites[std::to_string(id.value)] = {graph.view(id)};
  return id;
}

// A user vertex on the tile with an input that asks for something.
ProgramPtr read(ModelGraph &graph, VariableId variable, std::int64_t elements,
                unsigned tile, std::uint32_t alignment, bool isInterleaved) {
  VertexField field = edge("in", EdgeDirection::Input);
  field.alignment = alignment;
  field.isInterleaved = isInterleaved;
  const auto type = graph.addType(vertexType("reader", {field}));
  const auto set = graph.addComputeSet("read");
  graph.addVertex(set, type, tile, {ModelGraph::run(variable, 0, elements)});
  return ModelGraph::make(ExecuteNode{set});
}

TEST(ModelMemoryRules, SharesAreRoundedUpToWhatTheirUsersNeed) {
  ModelGraph graph(smallTarget(1, 8));
  // 9 floats: 36 bytes.
  const auto plain = addHostVariable(graph, 9, 0);
  const auto vector = addHostVariable(graph, 9, 1);
  const auto streamed = addHostVariable(graph, 9, 2);
  const auto remote = addHostVariable(graph, 9, 3);
  // 9 floats on two tiles: 4 and 5 of them.
  const auto spread = graph.addVariable(9, {.firstTile = 4, .parts = 2});
  graph.data.hostWrites["spread"] = {graph.view(spread)};
  const auto in = graph.addStream("in", 9, true);
  graph.data.remoteBuffers.push_back({.handle = "rows", .elements = 9});
  const MemoryUse use = measure(
      graph,
      ModelGraph::sequence(
          {touch(graph, {plain, spread}), read(graph, vector, 9, 1, 16, false),
           ModelGraph::make(StreamInNode{in, graph.view(streamed)}),
           ModelGraph::make(
               RemoteWriteNode{graph.view(remote), RemoteBufferId(0), {}})}));
  const std::uint64_t bytes[] = {40, 48, 64, 64, 16, 24, 0};
  for (unsigned tile = 0; tile < 7; ++tile) {
    EXPECT_EQ(use.at(tile).of(MemoryCategory::Variables), bytes[tile])
        << "tile " << tile;
  }
}

// Temporaries are allocations too: 10 and 3 bytes on a tile are 16 and 8, and
// the buffer that rearranges a stream is one of the transfer.
TEST(ModelMemoryRules, TemporariesAreRoundedUpToo) {
  ModelGraph graph(smallTarget(1, 4));
  TileRun run = tiles(1, 1, {supervisor("v", 1, 1)});
  run.temporaryBytes = 10;
  TileRun other = run;
  other.temporaryBytes = 3;
  EXPECT_EQ(
      measure(graph, graph.execute("op", {{"", {run, other}}})).at(1).maxLive,
      24U);
  // Elements 0 and 2 of the stream lie on tile 2, element 1 on tile 3.
  const auto x = addHostVariable(graph, 3, 0);
  graph.data[x].mapping.set(
      {.begin = 0, .end = 1, .firstTile = 2, .parts = 1, .grain = 1});
  graph.data[x].mapping.set(
      {.begin = 1, .end = 2, .firstTile = 3, .parts = 1, .grain = 1});
  graph.data[x].mapping.set(
      {.begin = 2, .end = 3, .firstTile = 2, .parts = 1, .grain = 1});
  const auto in = graph.addStream("in", 3, true);
  const MemoryUse use =
      measure(graph, ModelGraph::make(StreamInNode{in, graph.view(x)}));
  EXPECT_EQ(use.at(3).maxLive, 32U);
  EXPECT_EQ(use.at(3).alwaysLive(), 32U);
  EXPECT_EQ(use.at(2).alwaysLive(), 64U); // two shares
}

TEST(ModelMemoryRules, EqualConstantsOfATileAreThereOnce) {
  ModelGraph graph(smallTarget(1, 4));
  const auto addConstant = [&](int value, MappingPiece piece) {
    const auto id = graph.addVariable(6, piece); // 24 bytes
    graph.data[id].isConstant = true;
    graph.data[id].initialData.assign(24, static_cast<std::byte>(value));
    return id;
  };
  const auto a = addConstant(1, {.firstTile = 2});
  const auto same = addConstant(1, {.firstTile = 2});
  const auto different = addConstant(2, {.firstTile = 2});
  const auto elsewhere = addConstant(1, {.firstTile = 3});
  // Half of it, 12 bytes, on tiles 2 and 3: other contents.
  const auto spread = addConstant(1, {.firstTile = 2, .parts = 2});
  const MemoryUse use =
      measure(graph, touch(graph, {a, same, different, elsewhere, spread}));
  EXPECT_EQ(use.at(2).of(MemoryCategory::Constants), 24U + 24 + 16);
  EXPECT_EQ(use.at(3).of(MemoryCategory::Constants), 24U + 16);
  EXPECT_EQ(use.at(2).alwaysLive(), 64U);
}

TEST(ModelMemoryRules, FieldsMayWantInterleavedMemory) {
  ModelGraph graph(smallTarget(1, 2));
  const auto weights = addHostVariable(graph, 1000, 0);
  const auto other = addHostVariable(graph, 1000, 0);
  const MemoryUse use = measure(
      graph, ModelGraph::sequence({read(graph, weights, 1000, 0, 16, true),
                                   touch(graph, {other})}));
  const model::MemoryRegions regions = use.regions(use.at(0));
  EXPECT_EQ(regions.interleaved, 4000U);
  EXPECT_EQ(regions.nonInterleaved, use.at(0).used() - 4000);
  EXPECT_FALSE(use.isOutOfMemory(use.at(0)));
}

// 500,000 bytes fit a tile, but not its interleaved part.
TEST(ModelMemoryRules, InterleavedMemoryMayRunOut) {
  ModelGraph graph(smallTarget(1, 2));
  const auto weights = addHostVariable(graph, 125000, 0);
  const MemoryUse use =
      measure(graph, read(graph, weights, 125000, 0, 16, true));
  EXPECT_TRUE(use.isOutOfMemory(use.at(0)));
  EXPECT_EQ(use.regions(use.at(0)).interleaved, interleavedRegion);
  EXPECT_EQ(use.regions(use.at(0)).overflowed, 500000 - interleavedRegion);
}

TEST(ModelMemoryRules, StacksAreWhatOptionsSay) {
  ModelGraph graph(smallTarget(1, 2));
  const ProgramPtr program = touch(graph, {});
  EXPECT_EQ(measure(graph, program).at(1).of(MemoryCategory::Stack),
            128U + 6 * 512);
  EXPECT_EQ(measure(graph, program,
                    {.supervisorStackBytes = 200, .workerStackBytes = 1000})
                .at(1)
                .of(MemoryCategory::Stack),
            200U + 6 * 1000);
}

// Three vertices on tile 0, two on tile 1 of the second IPU (tile 3) in one
// step; a transfer to tile 2; a loop around both.
TEST(ModelMemoryRules, CountersTakeEightBytes) {
  ModelGraph graph(smallTarget(2, 2));
  const auto x = addHostVariable(graph, 1, 2);
  const auto in = graph.addStream("in", 1, true);
  const ProgramPtr execute =
      graph.execute("op", {{"",
                            {tiles(0, 1, {worker("v", 3, 10)}),
                             tiles(3, 1, {worker("v", 2, 10)})}}});
  const ProgramPtr program = ModelGraph::repeat(
      5, ModelGraph::sequence(
             {execute, ModelGraph::make(StreamInNode{in, graph.view(x)})}));
  const auto counters = [&](const model::MemoryOptions &options) {
    const MemoryUse use = measure(graph, program, options);
    std::vector<std::uint64_t> result;
    for (unsigned tile = 0; tile < 4; ++tile) {
      result.push_back(use.at(tile).of(MemoryCategory::InstrumentationResults) /
                       8);
    }
    return result;
  };
  using enum model::ComputeCounters;
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(counters({}), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(counters({.computeCounters = Vertex}), (Counts{3, 0, 0, 2}));
  EXPECT_EQ(counters({.computeCounters = Tile}), (Counts{1, 0, 0, 1}));
  EXPECT_EQ(counters({.computeCounters = Ipu}), (Counts{1, 0, 1, 0}));
  EXPECT_EQ(counters({.computeCounters = Device}), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(counters({.countsControlFlow = true}), (Counts{1, 0, 1, 0}));
  EXPECT_EQ(counters({.countsExternalExchange = true}), (Counts{0, 0, 1, 0}));
}

// On tile 0: 200 bytes alive in steps 0-1, then 104, 144 and 160, each alive
// with the one before. Largest first: 200 at 0, 160 at 0, 144 on top of it, 104
// on top of that, which needs 408 bytes; at most 304 are alive together.
TEST(ModelMemoryRules, GapsArePackedOnOneTileAndInProportionOnTheOthers) {
  ModelGraph graph(smallTarget(1, 4));
  const auto a = graph.addVariable(100, {.parts = 2});
  const auto b = graph.addVariable(26, {});
  const auto c = graph.addVariable(36, {});
  const auto d = graph.addVariable(40, {});
  const MemoryUse use = measure(
      graph,
      ModelGraph::sequence({touch(graph, {}, {a}), touch(graph, {a}, {b}),
                            touch(graph, {b}, {c}), touch(graph, {c}, {d}),
                            touch(graph, {d})}));
  EXPECT_EQ(use.at(0).maxLive, 304U);
  EXPECT_EQ(use.at(0).gaps, 104U);
  EXPECT_EQ(use.at(1).maxLive, 200U);
  EXPECT_EQ(use.at(1).gaps, 68U); // 200 * 104 / 304
  EXPECT_EQ(use.at(2).gaps, 0U);
}

VertexUse codeOf(std::uint32_t bytes) {
  VertexUse use = worker("large", 1, 1);
  use.codeBytes = bytes;
  return use;
}

model::MemoryCheck checkCode(std::uint32_t bytes, const char *policy) {
  TargetData target = smallTarget(1, 4);
  target.kind = TargetKind::Ipu;
  ModelGraph graph(target);
  const ProgramPtr program =
      graph.execute("op", {{"", {tiles(1, 2, {codeOf(bytes)})}}});
  return model::checkMemory(graph.data, {program}, {}, policy);
}

// Code may only lie in the first region, however much else is free.
TEST(ModelMemoryRules, CodeThatDoesNotFitItsRegionIsOutOfMemory) {
  constexpr auto region = static_cast<std::uint32_t>(codeRegion);
  // 24 bytes of control code are on every tile.
  EXPECT_EQ(checkCode(region - 24, "").verdict, MemoryVerdict::Fits);
  EXPECT_EQ(checkCode(region - 23, "").verdict, MemoryVerdict::Warning);
  EXPECT_EQ(checkCode(region - 23, "strict").verdict,
            MemoryVerdict::OutOfMemory);
  const model::MemoryCheck far = checkCode(270000, "");
  EXPECT_EQ(far.verdict, MemoryVerdict::OutOfMemory);
  EXPECT_NE(far.message.find("2 of 4 tiles are too full; the fullest, tile 1, "
                             "needs 273224 bytes (42.8%) of 638976, 270024 of "
                             "them code, which may take 212992."),
            std::string::npos)
      << far.message;
}

} // namespace
} // namespace poplar::testing
