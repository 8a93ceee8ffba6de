// What the engine's compiler does for a program grows with the program, and no
// faster: a pass that starts again after each change would show here.
#include "LiftedProgram.hpp"

#include "compiler/AssignStorage.hpp"
#include "compiler/passes/AssembleSums.hpp"
#include "compiler/passes/ChooseKernels.hpp"
#include "compiler/passes/EliminateDeadCode.hpp"
#include "compiler/passes/ForwardCopies.hpp"
#include "compiler/passes/FuseElementwise.hpp"
#include "compiler/passes/FuseEpilogues.hpp"
#include "compiler/passes/FusePoolActivations.hpp"
#include "compiler/passes/ResolveHazards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using poplar::test::EngineProgram;
using poplar::test::lifted;
using Ints = kernels::Attributes::Ints;

// A layer of two parts that are put together, each written by another node.
Tensor addConcatenation(EngineProgram &p, const Tensor &x,
                        const Tensor &weights) {
  const Tensor left = p.addTemporary("left", {4, 4});
  const Tensor right = p.addTemporary("right", {4, 4});
  const Tensor relu = p.addTemporary("relu", {4, 4});
  const Tensor all = p.addTemporary("all", {4, 8});
  p.elementwise("tanh(a)", {x.slice(0, 4, 1)}, left);
  p.matmul(x, weights, right);
  p.elementwise("relu(a)", {right}, relu);
  p.copy(left, all.slice(0, 4, 1));
  p.copy(relu, all.slice(4, 8, 1));
  return all;
}

// The sum of two tensors that are zero but for a part each.
Tensor addSumOfParts(EngineProgram &p, const Tensor &x) {
  const Tensor a = p.addTemporary("a", {4, 8});
  const Tensor b = p.addTemporary("b", {4, 8});
  const Tensor sum = p.addTemporary("sum", {4, 8});
  p.fill(0, a);
  p.copy(x.slice(4, 8, 1), a.slice(0, 4, 1));
  p.fill(0, b);
  p.copy(x.slice(0, 4, 1), b.slice(4, 8, 1));
  p.elementwise("a+b", {a, b}, sum);
  return sum;
}

Tensor addPool(EngineProgram &p, const Tensor &x) {
  const Tensor relu = p.addTemporary("activated", {1, 1, 4, 8});
  const Tensor pooled = p.addTemporary("pooled", {1, 1, 2, 4});
  const Tensor unpooled = p.addTemporary("unpooled", {1, 1, 4, 8});
  const Tensor y = p.addTemporary("y", {4, 8});
  const Tensor indices = p.graph.addVariable(UNSIGNED_CHAR, {1, 1, 2, 4});
  p.graph.setTileMapping(indices, 0);
  kernels::Attributes pool = {{"kernel", Ints{2, 2}},
                              {"strides", Ints{2, 2}},
                              {"padLower", Ints{0, 0}},
                              {"padUpper", Ints{0, 0}},
                              {"activation", std::string()}};
  kernels::Attributes gradient = pool;
  gradient.set("inputShape", Ints{1, 1, 4, 8});
  p.elementwise("relu(a)", {x.reshape({1, 1, 4, 8})}, relu);
  p.add("maxPool", pool, {relu}, {pooled, indices});
  p.add("maxPoolGrad", gradient, {pooled, indices}, {unpooled});
  p.elementwise("a*step(b)", {unpooled, relu}, y.reshape({1, 1, 4, 8}));
  return y;
}

EngineProgram makeNetwork(int layers) {
  EngineProgram p;
  const Tensor input = p.addHostVariable("x", {4, 8}, 1);
  const Tensor weights = p.addHostVariable("w", {8, 4}, 2);
  Tensor x = input;
  std::vector<Tensor> kept;
  for (int i = 0; i < layers; ++i) {
    x = addConcatenation(p, x, weights);
    x = addSumOfParts(p, x);
    x = addPool(p, x);
    kept.push_back(x);
  }
  // Read backwards, as a gradient reads activations.
  for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) {
    const Tensor next = p.addTemporary("next", {4, 8});
    p.matmul(layer->transpose(), x.slice(0, 4, 1), next.reshape({8, 4}));
    x = next;
  }
  p.copy(x, input);
  return p;
}

void assign(ValueProgram &program) {
  assignStorage(program);
}

struct Step {
  const char *name;
  void (*run)(ValueProgram &);
};
constexpr Step steps[] = {{"assembleSums", assembleSums},
                          {"forwardCopies", forwardCopies},
                          {"eliminateDeadCode", eliminateDeadCode},
                          {"forwardResults", forwardResults},
                          {"fuseEpilogues", fuseEpilogues},
                          {"fusePoolActivations", fusePoolActivations},
                          {"fuseElementwise", fuseElementwise},
                          {"resolveHazards", resolveHazards},
                          {"chooseKernels", chooseKernels},
                          {"assignStorage", assign}};
constexpr std::size_t stepCount = std::size(steps);

double processorTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of each step, the least of some runs.
std::vector<double> timesOf(int layers) {
  constexpr int runs = 5;
  const EngineProgram p = makeNetwork(layers);
  std::vector<double> best(stepCount, std::numeric_limits<double>::max());
  for (int run = 0; run < runs; ++run) {
    ValueProgram program = lifted(p);
    for (std::size_t i = 0; i < stepCount; ++i) {
      const double start = processorTime();
      steps[i].run(program);
      best[i] = std::min(best[i], processorTime() - start);
    }
  }
  return best;
}

// Eight times the program is 64 times the work where it grows as the square,
// and up to 25 times the time where it does not: less of it is in the cache.
TEST(PassGrowth, FollowsTheProgram) {
  const auto few = timesOf(100);
  const auto many = timesOf(800);
  for (std::size_t i = 0; i < stepCount; ++i) {
    EXPECT_LT(many[i], 40 * few[i]) << steps[i].name << ": " << 1e3 * few[i]
                                    << " ms, then " << 1e3 * many[i] << " ms";
  }
}

} // namespace
