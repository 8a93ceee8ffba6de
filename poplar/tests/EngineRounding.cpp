// What programs set of the floating-point control changes the halves of the
// operations that run after it, in both executors and at any thread count.
#include "EngineProgram.hpp"

#include <poplar/CSRFunctions.hpp>
#include <poplar/RandomSeed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace poplar::test {
namespace {

using program::Sequence;

constexpr bool off = false, on = true;

FloatingPointBehaviour behaviour(bool esr, bool nanoo) {
  return FloatingPointBehaviour(off, off, off, esr, nanoo);
}

// A float variable and operations whose results in half come back as floats.
class RoundingProgram : public EngineProgram {
public:
  explicit RoundingProgram(std::size_t size) : size_(size) {
    x = addHostVariable("x", {size}, 0);
  }

  Tensor addHalf() {
    const Tensor tensor = graph.addVariable(HALF, {size_}, "half");
    graph.setTileMapping(tensor, 0);
    return tensor;
  }
  // x as halves, and what the expression makes of them, read as `name`.
  void record(const std::string &text, const std::string &name) {
    const Tensor half = addHalf(), result = addHalf();
    const Tensor out = addHostVariable(name, {size_}, 0);
    cast(HALF, x, half);
    elementwise(text, {half}, result);
    cast(FLOAT, result, out);
  }
  void cast(Type type, const Tensor &from, const Tensor &to) {
    add("elementwise",
        kernels::Expression::cast(internal::toDataType(type),
                                  kernels::Expression::input(0))
            .toAttributes(),
        {from}, {to});
  }

  // The variables after x, which is `value` in all elements; equal in both
  // executors, at one thread and at two.
  Values results(float value) const {
    const std::vector<float> values(size_, value);
    const auto prepare = [&](Engine &engine) {
      engine.writeTensor("x/write", values.data(),
                         values.data() + values.size());
    };
    const Values reference = run("reference", 1, prepare);
    for (unsigned threads : {1U, 2U}) {
      expectSame(run("fast", threads, prepare), reference);
    }
    return {reference.begin() + 1, reference.end()};
  }

  Tensor x;

private:
  static void expectSame(const Values &a, const Values &b) {
    for (std::size_t v = 0; v < b.size(); ++v) {
      for (std::size_t i = 0; i < b[v].size(); ++i) {
        EXPECT_TRUE(a[v][i] == b[v][i] ||
                    (std::isnan(a[v][i]) && std::isnan(b[v][i])))
            << a[v][i] << " is not " << b[v][i];
      }
    }
  }

  std::size_t size_;
};

TEST(EngineRounding, OverflowFollowsTheProgram) {
  RoundingProgram p(3);
  setFloatingPointBehaviour(p.graph, p.program, behaviour(off, off));
  p.record("a*a", "clipped");
  setFloatingPointBehaviour(p.graph, p.program, behaviour(off, on));
  p.record("a*a", "nan");
  p.record("a*a/a", "nanInside");
  setFloatingPointBehaviour(p.graph, p.program, behaviour(off, off));
  p.record("0-exponent(a)", "exponent");
  p.record("a+a", "inRange");
  const auto values = p.results(300);
  EXPECT_EQ(values[0][0], 65504);
  EXPECT_TRUE(std::isnan(values[1][1]));
  EXPECT_TRUE(std::isnan(values[2][2])); // each operator rounds
  EXPECT_EQ(values[3][0], -65504);
  EXPECT_EQ(values[4][0], 600);
}

TEST(EngineRounding, OtherProgramsOverflowToInfinity) {
  RoundingProgram p(3);
  p.record("a*a", "square");
  EXPECT_EQ(p.results(300)[0][0], INFINITY);
}

TEST(EngineRounding, ControlIsSavedAndRestored) {
  RoundingProgram p(3);
  setFloatingPointBehaviour(p.graph, p.program, behaviour(off, on));
  const Tensor before = getAndModifyFloatingPointBehaviour(
      p.graph, p.program, behaviour(off, on), behaviour(off, off));
  EXPECT_EQ(before.shape(),
            std::vector<std::size_t>{p.graph.getTarget().getNumTiles()});
  p.record("a*a", "clipped");
  setFloatingPointBehaviour(p.graph, p.program, before);
  p.record("a*a", "nan");
  const auto values = p.results(300);
  EXPECT_EQ(values[0][0], 65504);
  EXPECT_TRUE(std::isnan(values[1][0]));
}

// The control is set in one branch only, and stays for the second run.
TEST(EngineRounding, ControlFollowsBranches) {
  for (const float chosen : {0.0F, 1.0F}) {
    RoundingProgram p(3);
    const Tensor condition = p.addHostVariable("condition", {1}, 0);
    const Tensor predicate = p.graph.addVariable(BOOL, {}, "predicate");
    p.graph.setTileMapping(predicate, 0);
    p.elementwise("a==1", {condition.reshape({})}, predicate);
    Sequence then;
    setFloatingPointBehaviour(p.graph, then, behaviour(off, on));
    p.program.add(program::If(predicate, then, Sequence()));
    p.record("a*a", "out");
    const std::vector<float> x(3, 300);
    for (const char *executor : {"reference", "fast"}) {
      const auto values = p.run(executor, 1, [&](Engine &engine) {
        engine.writeTensor("x/write", x.data(), x.data() + 3);
        engine.writeTensor("condition/write", &chosen, &chosen + 1);
      });
      EXPECT_EQ(std::isnan(values[2][0]), chosen == 1) << executor;
    }
  }
}

TEST(EngineRounding, StochasticRoundingIsUnbiased) {
  constexpr std::size_t count = 20000;
  RoundingProgram p(count);
  setStochasticRounding(p.graph, p.program, true);
  p.record("a", "up");
  p.record("a", "again");
  setStochasticRounding(p.graph, p.program, false);
  p.record("a", "nearest");
  const float x = 1 + 0.3F * 0x1p-10F;
  const auto values = p.results(x);
  double sum = 0;
  for (const float value : values[0]) {
    EXPECT_TRUE(value == 1 || value == 1 + 0x1p-10F) << value;
    sum += value;
  }
  EXPECT_NEAR(sum / count, x, 2.5 * 0x1p-10 / std::sqrt(double(count)));
  EXPECT_NE(values[0], values[1]);
  EXPECT_EQ(values[2], std::vector<float>(count, 1));
}

TEST(EngineRounding, AnEngineOptionStartsStochasticRounding) {
  constexpr std::size_t count = 1000;
  for (const bool isSet : {false, true}) { // by a program, later on
    RoundingProgram p(count);
    p.record("a", "first");
    if (isSet) {
      setStochasticRounding(p.graph, p.program, false);
      p.record("a", "then");
    }
    Engine engine(p.graph, p.program,
                  {{"prng.enableStochasticRounding", "true"}});
    engine.load(p.device());
    const std::vector<float> x(count, 1.0003F);
    engine.writeTensor("x/write", x.data(), x.data() + count);
    engine.run(0);
    const auto values = p.read(engine);
    const auto ups = std::count(values[1].begin(), values[1].end(), 1.0F);
    EXPECT_TRUE(ups > 0 && ups < int(count));
    if (isSet) {
      EXPECT_EQ(values[2], std::vector<float>(count, 1));
    }
  }
}

TEST(EngineRounding, SeedsDecideHowNumbersAreRounded) {
  const auto rounded = [](unsigned seed) {
    RoundingProgram p(500);
    const Target &target = p.graph.getTarget();
    const Tensor seeds = p.graph.addVariable(
        UNSIGNED_INT, {target.getNumTiles(), target.getNumWorkerContexts(), 4},
        "seeds");
    p.graph.setTileMapping(seeds, 0);
    p.graph.setInitialValue(seeds, seed);
    setStochasticRounding(p.graph, p.program, true);
    setHwSeeds(p.graph, seeds, p.program);
    p.record("a", "out");
    return p.results(1.0003F)[0];
  };
  EXPECT_EQ(rounded(1), rounded(1));
  EXPECT_NE(rounded(1), rounded(2));
}

// Half operands and results, updates in place, of a kind that is no expression.
TEST(EngineRounding, KindsAreRoundedAsAWhole) {
  RoundingProgram p(4);
  setFloatingPointBehaviour(p.graph, p.program, behaviour(off, on));
  const Tensor half = p.addHalf();
  p.cast(HALF, p.x, half);
  const Tensor sum = p.graph.addVariable(HALF, {}, "sum");
  p.graph.setTileMapping(sum, 0);
  p.sum(half, 0, sum);
  p.cast(FLOAT, sum, p.addHostVariable("sum", {}, 0));
  EXPECT_TRUE(std::isnan(p.results(20000)[0][0]));
  EXPECT_EQ(p.results(2000)[0][0], 8000);
}

// What the engine needs to know is in the file.
TEST(EngineRounding, ExecutablesInFilesKeepTheControl) {
  RoundingProgram p(3);
  setFloatingPointBehaviour(p.graph, p.program, behaviour(off, on));
  p.record("a*a", "nan");
  std::stringstream file;
  compileGraph(p.graph, {p.program}).serialize(file);
  Engine engine(Executable::deserialize(file));
  engine.load(p.device());
  const std::vector<float> x(3, 300);
  engine.writeTensor("x/write", x.data(), x.data() + 3);
  engine.run(0);
  EXPECT_TRUE(std::isnan(p.read(engine)[1][0]));
}

} // namespace
} // namespace poplar::test
