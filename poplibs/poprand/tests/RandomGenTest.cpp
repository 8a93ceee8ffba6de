// Random numbers in programs: seeds of the hardware, masks of two passes,
// mappings, costs.
#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>

#include "../../testing/TestProgram.hpp"

#include <poplar/RandomSeed.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using Values = std::vector<float>;

class RandomProgram : public TestProgram {
public:
  RandomProgram() { poprand::addCodelets(graph); }

  Tensor seed(std::vector<unsigned> words = {1, 2}) {
    return input<unsigned>(UNSIGNED_INT, {2}, words);
  }
  Tensor reference(std::size_t count) { return input({count}, pattern(count)); }
  Tensor uniform(const Tensor *seed, const Tensor &like) {
    return poprand::uniform(graph, seed, 0, like, FLOAT, 0, 1, prog);
  }
};

std::vector<Values> halves(const Values &values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  return {{values.begin(), middle}, {middle, values.end()}};
}

TEST(RandomGen, NeedsItsCodelets) {
  TestProgram test;
  const auto like = test.input({4}, TestProgram::pattern(4));
  EXPECT_THROW(
      poprand::uniform(test.graph, nullptr, 0, like, FLOAT, 0, 1, test.prog),
      unknown_vertex_type);
}

TEST(RandomGen, ResultsAreMappedAsTheReference) {
  RandomProgram test;
  const auto like = test.graph.addVariable(FLOAT, {10, 4});
  test.graph.setTileMapping(like, 3);
  const auto seed = test.seed();
  const auto out = poprand::normal(test.graph, &seed, 0, like.transpose(), HALF,
                                   0, 1, test.prog);
  EXPECT_EQ(out.shape(), (std::vector<std::size_t>{4, 10}));
  EXPECT_EQ(out.elementType(), HALF);
  EXPECT_EQ(test.graph.getTileMapping(out).at(3).size(), 1U);
}

TEST(RandomGen, NumbersDoNotDependOnTheMapping) {
  const auto numbers = [](unsigned tile) {
    RandomProgram test;
    const auto like = test.graph.addVariable(FLOAT, {100});
    test.graph.setTileMapping(like, tile);
    const auto seed = test.seed();
    return test.run<float>(test.uniform(&seed, like));
  };
  EXPECT_EQ(numbers(0), numbers(5));
}

TEST(RandomGen, BackwardPassDropsTheSameElements) {
  RandomProgram test;
  const auto seed = test.seed();
  const auto ones = test.input({500}, Values(500, 1));
  const auto like = test.reference(500);
  const auto forward = poprand::dropout(test.graph, &seed, 9, ones, like, 0.5,
                                        2, test.prog, "forward");
  const auto backward = poprand::dropout(test.graph, &seed, 9, ones, like, 0.5,
                                         2, false, test.prog, "backward");
  const auto other = poprand::dropout(test.graph, &seed, 10, ones, like, 0.5, 2,
                                      test.prog, "other");
  const auto values = test.run<float>(concat({forward, backward, other}));
  const Values first(values.begin(), values.begin() + 500);
  EXPECT_EQ(Values(values.begin() + 500, values.begin() + 1000), first);
  EXPECT_NE(Values(values.begin() + 1000, values.end()), first);
}

TEST(RandomGen, WithoutASeedEachUseMovesTheHardwareSeedsOn) {
  const auto numbers = [] {
    RandomProgram test;
    const auto like = test.reference(100);
    const auto first = test.uniform(nullptr, like);
    const auto second = test.uniform(nullptr, like);
    return test.run<float>(concat(first, second));
  };
  const auto values = numbers();
  const auto parts = halves(values);
  EXPECT_NE(parts[0], parts[1]);
  EXPECT_EQ(numbers(), values); // in every run of the program
}

TEST(RandomGen, HardwareSeedsDecideWithoutASeed) {
  const auto numbers = [](unsigned master) {
    RandomProgram test;
    const auto seed = test.seed({master, 0});
    const auto like = test.reference(100);
    poprand::setSeed(test.graph, seed, 3, test.prog);
    const auto kept = getHwSeeds(test.graph, test.prog);
    const auto first = test.uniform(nullptr, like);
    setHwSeeds(test.graph, kept, test.prog);
    const auto second = test.uniform(nullptr, like);
    return test.run<float>(concat(first, second));
  };
  const auto parts = halves(numbers(1));
  EXPECT_EQ(parts[0], parts[1]); // restored
  EXPECT_NE(halves(numbers(2))[0], parts[0]);
}

TEST(RandomGen, SeedsLeaveTheHardwareSeedsAlone) {
  RandomProgram test;
  const auto seed = test.seed();
  const auto like = test.reference(10);
  poprand::setSeed(test.graph, seed, 0, test.prog);
  const auto before = getHwSeeds(test.graph, test.prog);
  test.uniform(&seed, like);
  const auto after = getHwSeeds(test.graph, test.prog);
  const auto values = test.run<unsigned>(concat(before, after));
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  EXPECT_TRUE(std::equal(values.begin(), middle, middle));
  EXPECT_NE(values.front(), 0U);
  EXPECT_NE(values[0], values[4]); // workers differ
}

TEST(RandomGen, RejectsShapesThatDiffer) {
  RandomProgram test;
  const auto seed = test.seed();
  EXPECT_THROW(poprand::dropout(test.graph, &seed, 0, test.reference(4),
                                test.reference(5), 0.5, 2, test.prog),
               poputil::poplibs_error);
  EXPECT_THROW(poprand::setSeed(test.graph, test.reference(2), 0, test.prog),
               poputil::poplibs_error);
}

// One tile: 176 cycles to set the seed, then 4 + 6 * 22 + 4 * 1000 / 2 for a
// uniform of floats.
TEST(RandomGen, CostsWhatItsVerticesTake) {
  RandomProgram test;
  const auto like = test.graph.addVariable(FLOAT, {1000});
  const auto seed = test.graph.addVariable(UNSIGNED_INT, {2});
  test.graph.setTileMapping(like, 0);
  test.graph.setTileMapping(seed, 0);
  test.uniform(&seed, like);
  Engine engine(test.graph, test.prog);
  IPUModel model;
  model.tilesPerIPU = 16;
  engine.load(model.createDevice());
  engine.run(0);
  std::ostringstream text;
  engine.printProfileSummary(text, {{"showExecutionSteps", "true"}});
  EXPECT_NE(text.str().find("2,136"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("176"), std::string::npos);
}

} // namespace
