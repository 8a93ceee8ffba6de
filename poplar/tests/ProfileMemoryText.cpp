// The memory section of the profile summary when one tile is too full, and the
// parts of it that are shown on request.
#include "ModelGraph.hpp"

#include "profile/ProfileSummary.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace poplar::testing {
namespace {

// 720,000 bytes on tile 3 of two IPUs of two tiles, and a step on tile 0. Every
// tile has a stack of 3,200 bytes, those of the first IPU 24 of control code.
class ProfileMemory : public ::testing::Test {
protected:
  ProfileMemory() : graph_(smallTarget(2, 2)) {
    const auto big = graph_.addVariable(180000, {.firstTile = 3}, "big");
    graph_.data.hostWrites["big"] = {graph_.view(big)};
    program_ = graph_.execute(
        "op", {{"", {tiles(0, 1, {supervisor("v", 1, 1)})}}}, {big});
  }

  profile::ProfileRequest request() const {
    return {.graph = graph_.data, .programs = {program_}, .runs = {}};
  }

  // From the line `first` to before the line `last`.
  static std::string between(const profile::ProfileRequest &request,
                             const std::string &first,
                             const std::string &last) {
    std::ostringstream stream;
    profile::printSummary(stream, request);
    const std::string text = stream.str();
    const std::size_t begin = text.find("\n" + first + "\n");
    const std::size_t end = text.find("\n" + last + "\n", begin);
    EXPECT_NE(begin, std::string::npos) << text;
    EXPECT_NE(end, std::string::npos) << text;
    return begin < end && end < text.size()
               ? text.substr(begin + 1, end - begin)
               : "";
  }

  ModelGraph graph_;
  ProgramPtr program_;
};

TEST_F(ProfileMemory, ShowsTheFullestTilesWhenOneIsMuchFuller) {
  EXPECT_EQ(between(request(),
                    "  By Tile (Excluding Gaps):", "  Tile # 0 memory usage:"),
            R"(  By Tile (Excluding Gaps):
    Range (KB) Histogram (Excluding Gaps)               Count (tiles)
        0 - 50 ****************************************      3
      50 - 100                                               0
     100 - 150                                               0
     150 - 200                                               0
     200 - 250                                               0
     250 - 300                                               0
     300 - 350                                               0
     350 - 400                                               0
     400 - 450                                               0
     450 - 500                                               0
     500 - 550                                               0
     550 - 600                                               0
     600 - 650                                               0
     650 - 700                                               0
     700 - 750 **************                                1

    Maximum (Including Gaps): 723,200 (706.2 K) on tile 3
    Maximum (Excluding Gaps): 723,200 (706.2 K) on tile 3
    1 tile(s) out of memory

  Tile # 3 memory usage:
    Including Gaps:            723,200 B
    Excluding Gaps:
      By Memory Region:
        Non-interleaved:       212,992 B
        Interleaved:           425,984 B
        Overflowed:             84,224 B
      By Data Type:
          Variables:                           720,000 B
          Constants:                                 0 B
          Host Exchange Packet Headers:              0 B
          Global Exchange Packet Headers:            0 B
          Stack:                                 3,200 B
          Vertex Instances:                          0 B
          Copy Descriptors:                          0 B
          VectorList Descriptors:                    0 B
          Vertex Field Data:                         0 B
          Control Table:                             0 B
          Control Code:                              0 B
          Vertex Code:                               0 B
          Internal Exchange Code:                    0 B
          Host Exchange Code:                        0 B
          Global Exchange Code:                      0 B
          Instrumentation Results:                   0 B
          Shared Code Storage:                       0 B
          Shared Data Storage:                       0 B

)");
}

TEST_F(ProfileMemory, ShowsFiveTilesAtMost) {
  ModelGraph graph(smallTarget(1, 16));
  const auto big = graph.addVariable(180000, {.firstTile = 9});
  const auto small = graph.addVariable(8, {.firstTile = 4, .parts = 4});
  const ProgramPtr program = graph.execute(
      "op", {{"", {tiles(0, 1, {supervisor("v", 1, 1)})}}}, {big, small});
  std::ostringstream stream;
  profile::printSummary(
      stream, {.graph = graph.data, .programs = {program}, .runs = {}});
  const std::string text = stream.str();
  std::vector<std::string> shown;
  for (std::size_t at = text.find("  Tile # "); at != std::string::npos;
       at = text.find("  Tile # ", at + 1)) {
    shown.push_back(text.substr(at, text.find('\n', at) - at));
  }
  EXPECT_EQ(shown, (std::vector<std::string>{
                       "  Tile # 9 memory usage:", "  Tile # 4 memory usage:",
                       "  Tile # 5 memory usage:", "  Tile # 6 memory usage:",
                       "  Tile # 7 memory usage:"}));
}

TEST_F(ProfileMemory, ShowsEachIpuOnRequest) {
  profile::ProfileRequest perIpu = request();
  perIpu.showPerIpuMemoryUsage = true;
  EXPECT_EQ(between(perIpu, "  IPU 0:", "Execution:"), R"(  IPU 0:
    Including Gaps:              6,448 B
    Excluding Gaps:
      By Memory Region:
        Non-interleaved:         6,448 B
        Interleaved:                 0 B
        Overflowed:                  0 B
      By Data Type:
          Variables:                                 0 B
          Constants:                                 0 B
          Host Exchange Packet Headers:              0 B
          Global Exchange Packet Headers:            0 B
          Stack:                                 6,400 B
          Vertex Instances:                          0 B
          Copy Descriptors:                          0 B
          VectorList Descriptors:                    0 B
          Vertex Field Data:                         0 B
          Control Table:                             0 B
          Control Code:                             48 B
          Vertex Code:                               0 B
          Internal Exchange Code:                    0 B
          Host Exchange Code:                        0 B
          Global Exchange Code:                      0 B
          Instrumentation Results:                   0 B
          Shared Code Storage:                       0 B
          Shared Data Storage:                       0 B
    Maximum (Including Gaps): 3,224 (3.1 K) on tile 0

  IPU 1:
    Including Gaps:            726,400 B
    Excluding Gaps:
      By Memory Region:
        Non-interleaved:       216,192 B
        Interleaved:           425,984 B
        Overflowed:             84,224 B
      By Data Type:
          Variables:                           720,000 B
          Constants:                                 0 B
          Host Exchange Packet Headers:              0 B
          Global Exchange Packet Headers:            0 B
          Stack:                                 6,400 B
          Vertex Instances:                          0 B
          Copy Descriptors:                          0 B
          VectorList Descriptors:                    0 B
          Vertex Field Data:                         0 B
          Control Table:                             0 B
          Control Code:                              0 B
          Vertex Code:                               0 B
          Internal Exchange Code:                    0 B
          Host Exchange Code:                        0 B
          Global Exchange Code:                      0 B
          Instrumentation Results:                   0 B
          Shared Code Storage:                       0 B
          Shared Data Storage:                       0 B
    Maximum (Including Gaps): 723,200 (706.2 K) on tile 3

)");
}

TEST_F(ProfileMemory, ShowsTheVariablesOfTheFullestTilesOnRequest) {
  profile::ProfileRequest variables = request();
  variables.showVarStorage = true;
  EXPECT_EQ(between(variables, "  Variable Storage Liveness:", "Execution:"),
            R"(  Variable Storage Liveness:
    Tile # 3:
      Always-live bytes:                       720,000 B
      Maximum live bytes of the others:              0 B
      Always-live variables:
        big:                                   720,000 B
    Tile # 0:
      Always-live bytes:                             0 B
      Maximum live bytes of the others:              0 B
    Tile # 1:
      Always-live bytes:                             0 B
      Maximum live bytes of the others:              0 B
    Tile # 2:
      Always-live bytes:                             0 B
      Maximum live bytes of the others:              0 B

)");
}

TEST_F(ProfileMemory, TilesOutOfMemoryAreRed) {
  profile::ProfileRequest coloured = request();
  coloured.colours = true;
  std::ostringstream stream;
  profile::printSummary(stream, coloured);
  EXPECT_NE(stream.str().find("\n    \x1b[31m1 tile(s) out of memory\x1b[0m\n"),
            std::string::npos);
}

} // namespace
} // namespace poplar::testing
