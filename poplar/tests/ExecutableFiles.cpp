// Executables written to streams and read again: the same values, the same
// profile, the same bytes.
#include "ExecutableBytes.hpp"
#include "ExpectError.hpp"
#include "RandomProgram.hpp"

#include <poplar/internal/LinkedPrograms.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using poplar::test::fromBytes;
using poplar::test::RandomProgram;
using poplar::test::toBytes;

// What a user sees of two runs.
struct Outcome {
  EngineProgram::Values values;
  std::string profile;

  friend bool operator==(const Outcome &, const Outcome &) = default;
};

Outcome run(const EngineProgram &program, const Executable &executable) {
  Engine engine(executable);
  engine.load(program.device());
  engine.run(0);
  engine.run(0);
  std::ostringstream profile;
  engine.printProfileSummary(
      profile, {{"showExecutionSteps", "true"}, {"showVarStorage", "true"}});
  return {program.read(engine), profile.str()};
}

Executable compile(const EngineProgram &program) {
  return compileGraph(program.graph, {program.program},
                      {{"debug.instrument", "true"}});
}

// Adds one to a variable.
EngineProgram makeSmall() {
  EngineProgram program;
  const Tensor x = program.addHostVariable("x", {4}, 1);
  program.elementwise("a+1", {x}, x);
  return program;
}

TEST(ExecutableFiles, GiveTheValuesAndProfileOfRandomPrograms) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RandomProgram random(seed);
    const Executable executable = compile(random.program);
    const std::string bytes = toBytes(executable);
    const Executable read = fromBytes(bytes);
    ASSERT_EQ(toBytes(read), bytes) << "seed " << seed;
    ASSERT_EQ(run(random.program, read), run(random.program, executable))
        << "seed " << seed;
  }
}

TEST(ExecutableFiles, KeepTwoReadingsApart) {
  const EngineProgram values = makeSmall();
  EngineProgram machine;
  const Tensor a = machine.addHostVariable("a", {64, 64}, 1);
  const Tensor b = machine.addTemporary("b", {64, 64});
  machine.repeat(5, [&] { machine.copy(a, b); });
  const Executable linked = internal::compileLinked(
      values.graph, {values.program}, machine.graph, {machine.program}, {});
  const Executable read = fromBytes(toBytes(linked));
  const Outcome outcome = run(values, read);
  EXPECT_EQ(outcome, run(values, linked));
  // The profile is the machine's, not that of the values alone.
  EXPECT_NE(outcome.profile, run(values, compile(values)).profile);
}

TEST(ExecutableFiles, KeepOptionsAndStreams) {
  EngineProgram program;
  const Tensor x = program.addHostVariable("x", {3}, 0);
  const DataStream in = program.graph.addHostToDeviceFIFO("in", FLOAT, 3);
  const DataStream out = program.graph.addDeviceToHostFIFO("out", FLOAT, 3);
  program.program.add(program::Copy(in, x));
  program.elementwise("a*2", {x}, x);
  program.program.add(program::Copy(x, out));
  Engine engine(fromBytes(toBytes(compile(program))));
  EXPECT_EQ(engine.getEngineOptions().at("debug.instrument"), "true");
  EXPECT_EQ(engine.listStreams().size(), 2U);
  float given[3] = {1, 2, 3};
  float taken[3] = {};
  engine.connectStream("in", given);
  engine.connectStream("out", taken);
  engine.load(program.device());
  engine.run(0);
  EXPECT_EQ(std::vector<float>(taken, taken + 3),
            (std::vector<float>{2, 4, 6}));
}

TEST(ExecutableFiles, AreTakenFromEnginesAndFiles) {
  const EngineProgram program = makeSmall();
  const Executable executable = compile(program);
  const std::string path = testing::TempDir() + "aspen-executable.bin";
  {
    std::ofstream file(path); // text mode, as users open it
    Engine(executable).serializeExecutable(file);
  }
  const Executable read =
      Executable::deserialize(std::make_unique<std::ifstream>(path));
  std::remove(path.c_str());
  EXPECT_EQ(toBytes(read), toBytes(executable));
}

TEST(ExecutableFiles, LeaveWhatIsAroundThem) {
  const Executable first = compile(makeSmall());
  const Executable second = compile(RandomProgram(1).program);
  std::stringstream stream;
  stream << "before";
  first.serialize(stream);
  second.serialize(stream);
  stream << "after";
  std::string before(6, ' '), after;
  stream.read(before.data(), 6);
  EXPECT_EQ(toBytes(Executable::deserialize(stream)), toBytes(first));
  EXPECT_EQ(toBytes(Executable::deserialize(stream)), toBytes(second));
  stream >> after;
  EXPECT_EQ(before, "before");
  EXPECT_EQ(after, "after");
}

// Takes some bytes, then no more: a full disk.
class FullDisk : public std::streambuf {
public:
  explicit FullDisk(std::size_t room) : room_(room) {}

protected:
  int_type overflow(int_type c) override {
    return room_ == 0 ? traits_type::eof() : (--room_, c);
  }
  // What is buffered only fails when it is flushed.
  int sync() override { return -1; }

private:
  std::size_t room_;
};

TEST(ExecutableFiles, SayThatTheyCouldNotBeWritten) {
  const Executable executable = compile(makeSmall());
  for (std::size_t room : {0UL, 100UL, 1000000UL}) {
    FullDisk disk(room);
    std::ostream stream(&disk);
    expectError<poplar_error>([&] { executable.serialize(stream); },
                              "[Executable::serialize]", "disk");
    std::ostream throwing(&disk);
    throwing.exceptions(std::ios::badbit | std::ios::failbit);
    expectError<poplar_error>([&] { executable.serialize(throwing); },
                              "[Executable::serialize]", "disk");
  }
  std::ofstream closed;
  expectError<poplar_error>([&] { executable.serialize(closed); }, "open");
  expectError<poplar_error>([&] { Executable().serialize(closed); },
                            "compileGraph");
}

TEST(ExecutableFiles, SayThatThereIsNothingToRead) {
  std::ifstream missing("/nonexistent/executable");
  expectError<poplar_error>([&] { Executable::deserialize(missing); },
                            "[Executable::deserialize]", "cannot be read");
  expectError<poplar_error>([] { fromBytes(""); }, "empty");
  expectError<poplar_error>(
      [] { Executable::deserialize(std::unique_ptr<std::istream>()); },
      "no stream");
  expectError<poplar_error>([] { fromBytes("{\"a\": \"JSON file\"}"); },
                            "does not hold an executable");
}

} // namespace
