// Programs that reach out to the host: PrintTensor and remote buffers, in both
// executors.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using poplar::test::Environment;

using Values = std::vector<float>;

class EngineHostPrograms : public testing::TestWithParam<const char *> {
protected:
  EngineHostPrograms() : executor("ASPEN_EXECUTOR", GetParam()) {}

  Environment executor;
  EngineProgram p;
};

TEST_P(EngineHostPrograms, PrintTensorsInProgramOrder) {
  const Tensor x = p.addHostVariable("x", {2, 2}, 1); // -3 4 0 -4
  p.repeat(2, [&] {
    p.program.add(program::PrintTensor("x", x));
    p.elementwise("a+1", {x}, x);
  });
  p.program.add(program::PrintTensor(
      "first", x[0],
      PrintTensorFmt(1000, 3, 75, 2, PrintTensorFmt::FloatFormat::Fixed)));
  Engine engine = p.makeEngine();
  engine.load(p.device());
  std::ostringstream text;
  engine.setPrintTensorStream(text);
  engine.run();
  EXPECT_EQ(text.str(), "x: [\n"
                        "  [-3.0000000  4.0000000]\n"
                        "  [ 0.0000000 -4.0000000]\n"
                        "]\n"
                        "x: [\n"
                        "  [-2.0000000  5.0000000]\n"
                        "  [ 1.0000000 -3.0000000]\n"
                        "]\n"
                        "first: [-1.0  6.0]\n");
}

TEST_P(EngineHostPrograms, ReadAndWriteRowsOfRemoteBuffers) {
  const RemoteBuffer rows = p.graph.addRemoteBuffer("rows", FLOAT, 2, 3);
  const Tensor x = p.addHostVariable("x", {2, 2}, 1); // -3 4 0 -4
  const Tensor offsets = p.graph.addVariable(UNSIGNED_INT, {2}, "offsets");
  p.graph.setTileMapping(offsets, 0);
  p.graph.createHostWrite("offsets", offsets);
  Engine engine(p.graph, {program::Copy(x, rows, offsets),
                          program::Copy(rows, x, offsets)});
  engine.load(p.device());
  engine.writeTensor("offsets", std::vector<unsigned>{2, 0});
  engine.run(0);
  Values row(2);
  engine.copyFromRemoteBuffer("rows", row, 0);
  EXPECT_EQ(row, (Values{0, -4}));
  engine.copyFromRemoteBuffer("rows", row, 2);
  EXPECT_EQ(row, (Values{-3, 4}));

  engine.copyToRemoteBuffer(Values{7, 8}, "rows", 1);
  engine.writeTensor("offsets", std::vector<unsigned>{0, 1});
  engine.run(1);
  EXPECT_EQ(p.read(engine)[0], (Values{0, -4, 7, 8}));

  engine.writeTensor("offsets", std::vector<unsigned>{0, 3});
  expectError<application_runtime_error>([&] { engine.run(1); }, "'rows'",
                                         "row 3", "3 rows");
  engine.load(p.device()); // remote buffers keep their rows
  engine.copyFromRemoteBuffer("rows", row, 1);
  EXPECT_EQ(row, (Values{7, 8}));
}

INSTANTIATE_TEST_SUITE_P(Executors, EngineHostPrograms,
                         testing::Values("fast", "reference"),
                         [](const auto &info) { return info.param; });

} // namespace
