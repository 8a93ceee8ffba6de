// The text of the profile summary for a small pipelined program.
#include "ModelGraph.hpp"

#include "profile/ProfileSummary.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace poplar::testing {
namespace {

// Two stages on two IPUs of four tiles, 100 micro-batches, three runs.
class ProfileSummary : public ::testing::Test {
protected:
  ProfileSummary() : graph_(smallTarget(2, 4)) {
    const auto input = graph_.addVariable(4000, {.parts = 4}, "input");
    const auto hidden = graph_.addVariable(400, {.parts = 4}, "hidden");
    const auto received =
        graph_.addVariable(400, {.firstTile = 4, .parts = 4}, "received");
    const auto loss = graph_.addVariable(1, {.firstTile = 4}, "loss");
    const auto weights = graph_.addVariable(2000, {.parts = 4}, "weights");
    graph_.data.hostWrites["weights"] = {graph_.view(weights)};
    const auto in = graph_.addStream("in", 4000, true);
    const auto out = graph_.addStream("out", 1, false);
    const ProgramPtr micro = ModelGraph::sequence(
        {ModelGraph::make(StreamInNode{in, graph_.view(input)}),
         graph_.execute("stage0", {{"", {firstStage()}}}, {input, weights},
                        {hidden}),
         graph_.copy(hidden, received),
         graph_.execute("stage1",
                        {{"Sum", {tiles(4, 4, {sum(6000)})}},
                         {"Final", {tiles(4, 1, {sum(100)})}}},
                        {received}, {loss})});
    program_ = ModelGraph::sequence(
        {ModelGraph::repeat(100, micro),
         ModelGraph::make(StreamOutNode{graph_.view(loss), out})});
  }

  static TileRun firstStage() {
    VertexUse use = worker("popnn::Stage<float>", 13, 700);
    use.edges = 3;
    use.stateBytes = 22;
    use.codeBytes = 1200;
    TileRun run = tiles(0, 4, {use});
    run.bytesIn = 1000;
    run.bytesOut = 250;
    run.fragmentsIn = 4;
    run.fragmentsOut = 1;
    run.temporaryBytes = 1000;
    return run;
  }

  static VertexUse sum(std::uint64_t cycles) {
    VertexUse use = supervisor("popops::Reduce", 1, cycles);
    use.edges = 2;
    use.stateBytes = 16;
    use.codeBytes = 1600;
    return use;
  }

  profile::ProfileRequest request() const {
    return {.graph = graph_.data,
            .programs = {program_},
            .runs = {{0, "train", 3}}};
  }

  static std::string text(const profile::ProfileRequest &request) {
    std::ostringstream stream;
    profile::printSummary(stream, request);
    return stream.str();
  }

  ModelGraph graph_;
  ProgramPtr program_;
};

// Total by hand. An iteration on IPU 0: branch 20; transfer 126 + 2,078 +
// 16,000 bytes at 8 GB/s and 1.33 GHz = 2,660; stage 126 + 84 + 250 + 6 * 3 *
// 700; copy 600 + 825 (1,600 bytes and 0.6 us) = 19,369. After 100 of them
// IPU 1 needs 126 + 6,000 + 126 + 100 for its last stage and 126 + 2,079 for
// the result: 1,945,457 cycles a run.
TEST_F(ProfileSummary, HasTheDocumentedLayout) {
  EXPECT_EQ(text(request()), R"(Target:
  Number of IPUs:         2
  Tiles per IPU:          4
  Total Tiles:            8
  Memory Per-Tile:        624.0 kB
  Total Memory:           4.9 MB
  Clock Speed (approx):   1,330.0 MHz
  Number of Replicas:     1
  IPUs per Replica:       2
  Tiles per Replica:      8
  Memory per Replica:     4.9 MB

Graph:
  Number of vertices:               57
  Number of edges:                 166
  Number of variables:               5
  Number of compute sets:            3

Memory Usage:
  Total:
    Including Gaps:             71,556 B
    Excluding Gaps:
      By Memory Region:
        Non-interleaved:        71,556 B
        Interleaved:                 0 B
        Overflowed:                  0 B
      By Data Type:
          Variables:                            31,232 B
          Constants:                                 0 B
          Host Exchange Packet Headers:            520 B
          Global Exchange Packet Headers:          128 B
          Stack:                                25,600 B
          Vertex Instances:                      1,328 B
          Copy Descriptors:                          0 B
          VectorList Descriptors:                    0 B
          Vertex Field Data:                         0 B
          Control Table:                             0 B
          Control Code:                            864 B
          Vertex Code:                          11,200 B
          Internal Exchange Code:                  256 B
          Host Exchange Code:                      300 B
          Global Exchange Code:                    128 B
          Instrumentation Results:                   0 B
          Shared Code Storage:                       0 B
          Shared Data Storage:                       0 B
      Vertex Data (1,328B):
        By Category:
          Internal vertex state:                   560 B
          Edge pointers:                           664 B
          Copy pointers:                             0 B
          Padding:                                 104 B
          Descriptors:                               0 B
        By Type:
          popnn::Stage<float>:                   1,248 B
          popops::Reduce:                           80 B

  By Tile (Excluding Gaps):
    Range (KB) Histogram (Excluding Gaps)               Count (tiles)
         5 - 6 ****************************************      4
         6 - 7                                               0
         7 - 8                                               0
         8 - 9                                               0
        9 - 10                                               0
       10 - 11                                               0
       11 - 12                                               0
       12 - 13 ****************************************      4

    Maximum (Including Gaps): 12,504 (12.2 K) on tile 0
    Maximum (Excluding Gaps): 12,504 (12.2 K) on tile 0
    0 tile(s) out of memory

Execution:

  Programs executed:

    train
    train
    train

  Total cycles:                                         5,979,993 (approx 4,496.2 microseconds)
  Tile average compute cycles (including idle threads): 2,793,750.0 (46.7% of total)
  Tile average compute cycles (excluding idle threads): 2,268,750.0 (37.9% of total)
  Tile average IPU exchange cycles:                     50,100.0 (0.8% of total)
  Tile average global exchange cycles:                  247,500.0 (4.1% of total)
  Tile average host exchange cycles:                    713,818.5 (11.9% of total)
  Tile average sync cycles:                             327,600.0 (5.5% of total)

  By IPU:
    IPU            Busy                  Compute    IPU exchange    Global exch.   Host exchange   Sync and wait
      0       5,549,100  (92.8%)       3,780,000         100,200         247,500       1,421,400         430,893
      1       2,083,737  (34.8%)       1,830,000               0         247,500           6,237       3,896,256

  Cycles by vertex type:
    popnn::Stage<float>   (52 instances):   10,920,000
    popops::Reduce        ( 5 instances):    7,230,000
)");
}

TEST_F(ProfileSummary, ShowsTheStepsAsATree) {
  profile::ProfileRequest steps = request();
  steps.showExecutionSteps = true;
  const std::string whole = text(steps);
  const std::size_t begin = whole.find("  Sequence\n");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(whole.substr(begin), R"(  Sequence
    Repeat: 100 times
      Sequence
        StreamCopyBegin: in
        StreamCopyMid: in
            Cycles:              4,738 (4,738 overlapped with previous)
            Active Tiles:        4 / 8
            Tile Balance:        50.0%
            Active Tile Balance: 100.0%
            Total Data:          16,000 B
            Data Balance:        50.0%
        StreamCopyEnd: in
        DoExchange: stage0
            Cycles:              334 (334 overlapped with previous)
            Active Tiles:        4 / 8
            Tile Balance:        50.0%
            Active Tile Balance: 100.0%
            Total Data:          4,000 B
            Data Balance:        50.0%
        OnTileExecute: stage0
            Cycles:              12,600 (660 overlapped with previous)
            Active Tiles:        4 / 8
            Tile Balance:        50.0%
            Active Tile Balance: 100.0%
            Thread Balance:      72.2%
        GlobalExchange
            Cycles:              825 (0 overlapped with previous)
            Active Tiles:        8 / 8
            Tile Balance:        100.0%
            Active Tile Balance: 100.0%
            Total Data:          1,600 B
            Data Balance:        50.0%
        OnTileExecute: stage1/Sum
            Cycles:              6,000 (0 overlapped with previous)
            Active Tiles:        4 / 8
            Tile Balance:        50.0%
            Active Tile Balance: 100.0%
            Thread Balance:      100.0%
        OnTileExecute: stage1/Final
            Cycles:              100 (0 overlapped with previous)
            Active Tiles:        1 / 8
            Tile Balance:        12.5%
            Active Tile Balance: 100.0%
            Thread Balance:      100.0%
    StreamCopyBegin: out
    StreamCopyMid: out
        Cycles:              2,079 (0 overlapped with previous)
        Active Tiles:        1 / 8
        Tile Balance:        50.0%
        Active Tile Balance: 100.0%
        Total Data:          4 B
        Data Balance:        12.5%
    StreamCopyEnd: out
)");
}

// The time that a transfer waits for the host is that of its beginning: 10 us
// at 1.33 GHz for one of two.
TEST_F(ProfileSummary, TransfersBeginWhenTheHostAnswers) {
  const auto input = graph_.addVariable(8, {.parts = 4}, "x");
  const auto in = graph_.addStream("x", 8, true);
  const ProgramPtr transfer =
      ModelGraph::make(StreamInNode{in, graph_.view(input)});
  const model::ProgramCounts counts = {{transfer.get(), {2, {1}}}};
  const std::string whole = text({.graph = graph_.data,
                                  .programs = {transfer},
                                  .runs = {{0, "", 1}},
                                  .counts = &counts,
                                  .showExecutionSteps = true});
  const std::size_t begin = whole.find("  StreamCopyBegin: x\n");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(whole.substr(begin), R"(  StreamCopyBegin: x
      Cycles:              6,650 (0 overlapped with previous)
      Active Tiles:        4 / 8
      Tile Balance:        50.0%
      Active Tile Balance: 100.0%
  StreamCopyMid: x
      Cycles:              2,084 (0 overlapped with previous)
      Active Tiles:        4 / 8
      Tile Balance:        50.0%
      Active Tile Balance: 100.0%
      Total Data:          32 B
      Data Balance:        50.0%
  StreamCopyEnd: x
)");
}

// Of three copies in a row two need no sync of their own, in each of five runs.
TEST_F(ProfileSummary, ShowsSharedSyncsOnRequest) {
  const auto a = graph_.addVariable(4, {.parts = 4}, "a");
  const auto b = graph_.addVariable(4, {}, "b");
  const ProgramPtr copy = graph_.copy(a, b);
  const std::string whole =
      text({.graph = graph_.data,
            .programs = {ModelGraph::sequence({copy, copy, copy})},
            .runs = {{0, "", 5}},
            .showOptimizations = true});
  EXPECT_NE(whole.find("\n  Optimizations:\n    Syncs shared by consecutive "
                       "copies: 10\n"),
            std::string::npos);
}

// Many runs of a program in a row are one line.
TEST_F(ProfileSummary, ListsTheRunsOfPrograms) {
  profile::ProfileRequest runs = request();
  runs.runs = {{0, "", 2}, {0, "train", 1234}, {0, "train", 1}};
  EXPECT_NE(text(runs).find("  Programs executed:\n\n"
                            "    <anonymous>.\n"
                            "    <anonymous>.\n"
                            "    train (1,234 times)\n"
                            "    train\n\n"),
            std::string::npos);
}

TEST_F(ProfileSummary, TargetCountsTheReplicasAndTheRestIsOneOfThem) {
  const std::string one = text(request());
  graph_.data.replicationFactor = 4;
  const std::string four = text(request());
  EXPECT_NE(four.find("Number of IPUs:         8\n"), std::string::npos);
  EXPECT_NE(four.find("Total Tiles:            32\n"), std::string::npos);
  EXPECT_NE(four.find("Number of Replicas:     4\n"), std::string::npos);
  EXPECT_EQ(four.substr(four.find("Graph:")), one.substr(one.find("Graph:")));
}

TEST_F(ProfileSummary, ColoursOnlyWhenAsked) {
  profile::ProfileRequest coloured = request();
  EXPECT_EQ(text(coloured).find('\x1b'), std::string::npos);
  coloured.colours = true;
  EXPECT_NE(text(coloured).find("\x1b[1mExecution:\x1b[0m"), std::string::npos);
}

} // namespace
} // namespace poplar::testing
