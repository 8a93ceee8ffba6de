// LSTM and GRU: fast kernels against the references over sizes, orders of
// gates, run-time steps and options. Values are checked against PyTorch by the
// conformance rows of popnn.
#include "ReferenceTesting.hpp"

namespace kernels::testing {
namespace {

using Ints = Attributes::Ints;

struct Sizes {
  std::int64_t steps, batch, in, out;
};
// The last has more rows and columns than fit in one block of a product.
constexpr Sizes sizes[] = {
    {1, 1, 1, 1}, {3, 2, 5, 7}, {3, 40, 9, 8}, {4, 33, 3, 20}, {7, 20, 50, 49}};

struct Options {
  bool hasSteps = false, resetsAfter = false, attends = false;
  bool hasInputGradient = true;
  const char *activation = "TANH";
  const char *recurrent = "SIGMOID";
};

Attributes attributesOf(Ints gates, const Options &options) {
  return {{"gates", std::move(gates)},
          {"activation", std::string(options.activation)},
          {"recurrentActivation", std::string(options.recurrent)},
          {"hasSteps", std::int64_t{options.hasSteps}},
          {"hasAttention", std::int64_t{options.attends}},
          {"resetAfter", std::int64_t{options.resetsAfter}},
          {"saves", std::int64_t{1}},
          {"inputGrad", std::int64_t{options.hasInputGradient}},
          {"hasDy", std::int64_t{1}},
          {"hasDh", std::int64_t{1}},
          {"hasDc", std::int64_t{1}}};
}

Input random(DataType type, Shape shape) {
  return {{type, std::move(shape)}, {}, {}};
}

// Fewer steps for some samples, none for the first.
Input stepsInput(const Sizes &s) {
  Values values;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    values.push_back(static_cast<double>(b % (s.steps + 1)));
  }
  return given({s.batch}, values, DataType::Int);
}

// Forward, backward and weights, each fed what the one before gave.
void expectMatches(const std::string &kind, DataType type, const Sizes &s,
                   const Attributes &attributes, std::int64_t gates,
                   const Options &options, double tolerance) {
  const bool isLstm = kind == "lstm";
  const Shape state{s.batch, s.out};
  std::vector<Input> inputs{random(type, {s.steps, s.batch, s.in}),
                            random(type, state)};
  if (isLstm) {
    inputs.push_back(random(type, state));
  }
  inputs.push_back(random(type, {gates, s.in, s.out}));
  inputs.push_back(random(type, {gates, s.out, s.out}));
  inputs.push_back(random(type, options.resetsAfter ? Shape{gates, 2, s.out}
                                                    : Shape{gates, s.out}));
  if (options.hasSteps) {
    inputs.push_back(stepsInput(s));
  }
  if (options.attends) {
    inputs.push_back(random(type, {s.batch, s.steps}));
  }
  const Call forward(kind, attributes, inputs);
  expectFastMatchesReference(forward, tolerance);
  const auto outputs = forward.reference();
  const Input saved{forward.outputTypes().back(), {}, outputs.back()};

  std::vector<Input> gradients{saved, inputs[isLstm ? 3 : 2],
                               inputs[isLstm ? 4 : 3]};
  if (isLstm) {
    gradients.push_back(inputs[1]);
    gradients.push_back(inputs[2]);
  }
  gradients.push_back(random(type, {s.steps, s.batch, s.out}));
  gradients.push_back(random(type, state));
  if (isLstm) {
    gradients.push_back(random(type, state));
  }
  if (options.hasSteps) {
    gradients.push_back(stepsInput(s));
  }
  if (options.attends) {
    gradients.push_back(random(type, {s.batch, s.steps}));
  }
  const Call backward(kind + "Grad", attributes, gradients);
  expectFastMatchesReference(backward, tolerance);
  const Input dGates{
      backward.outputTypes()[0], {}, backward.reference().front()};
  const auto operands = isLstm ? std::vector{inputs[0], dGates}
                               : std::vector{inputs[0], saved, dGates};
  expectFastMatchesReference({kind + "WeightGrad", attributes, operands},
                             4 * tolerance);
}

TEST(FastLstm, MatchesTheReference) {
  for (const auto &s : sizes) {
    for (const bool hasSteps : {false, true}) {
      const Options options{.hasSteps = hasSteps};
      expectMatches("lstm", F, s, attributesOf({0, 1, 2, 3}, options), 4,
                    options, 1e-4);
      expectMatches("lstm", F, s, attributesOf({1, 0, 2, 3}, options), 4,
                    options, 1e-4);
      expectMatches("lstm", DataType::Half, s,
                    attributesOf({0, 1, 2, 3}, options), 4, options, 2e-2);
    }
  }
}

TEST(FastGru, MatchesTheReference) {
  for (const auto &s : sizes) {
    for (const bool hasSteps : {false, true}) {
      for (const bool resetsAfter : {false, true}) {
        for (const bool attends : {false, true}) {
          const Options options{hasSteps, resetsAfter, attends};
          expectMatches("gru", F, s, attributesOf({0, 1, 2}, options), 3,
                        options, 1e-4);
          expectMatches("gru", F, s, attributesOf({2, 0, 1}, options), 3,
                        options, 1e-4);
        }
      }
    }
    const Options options;
    expectMatches("gru", DataType::Half, s, attributesOf({0, 1, 2}, options), 3,
                  options, 2e-2);
  }
}

TEST(FastRecurrent, TakesOtherActivations) {
  const Options options{.activation = "RELU", .recurrent = "HARD_SIGMOID"};
  const Sizes s{3, 2, 5, 7};
  expectMatches("lstm", F, s, attributesOf({0, 1, 2, 3}, options), 4, options,
                1e-4);
  expectMatches("gru", F, s, attributesOf({0, 1, 2}, options), 3, options,
                1e-4);
}

// More rows and columns than fit in one block of a product.
TEST(FastRecurrent, TakesLayersOfManyBlocks) {
  const Options options;
  const Sizes s{7, 20, 50, 49};
  expectMatches("lstm", F, s, attributesOf({0, 1, 2, 3}, options), 4, options,
                1e-4);
  expectMatches("gru", F, s, attributesOf({0, 1, 2}, options), 3, options,
                1e-4);
}

TEST(FastRecurrent, LeavesOutTheGradientOfInputs) {
  const Options options{.hasInputGradient = false};
  const Sizes s{3, 2, 5, 7};
  expectMatches("lstm", F, s, attributesOf({0, 1, 2, 3}, options), 4, options,
                1e-4);
  expectMatches("gru", F, s, attributesOf({0, 1, 2}, options), 3, options,
                1e-4);
}

// No task packs them, and they give the same bits as those that are packed.
TEST(FastRecurrent, TakesWeightsThatStayAsTheyAreRead) {
  const Options options;
  for (const bool isLstm : {true, false}) {
    const std::int64_t gates = isLstm ? 4 : 3;
    std::vector<Input> inputs(isLstm ? 3 : 2, random(F, {5, 48}));
    inputs[0] = random(F, {6, 5, 7});
    inputs.push_back(random(F, {gates, 7, 48}));
    inputs.push_back(random(F, {gates, 48, 48}));
    inputs.push_back(random(F, {gates, 48}));
    const Call call(isLstm ? "lstm" : "gru",
                    attributesOf(isLstm ? Attributes::Ints{1, 0, 2, 3}
                                        : Attributes::Ints{2, 0, 1},
                                 options),
                    inputs);
    const auto kept = call.kernelNamed("kept");
    const auto packing = call.kernelNamed("samples");
    EXPECT_FALSE(call.isTaken(kept));
    Call stays = call;
    const std::size_t weights = isLstm ? 3 : 2;
    stays.kept(weights).kept(weights + 1);
    ASSERT_TRUE(stays.isTaken(kept));
    EXPECT_EQ(stays.taskCount(kept) + 2, stays.taskCount(packing));
    EXPECT_EQ(stays.fast(kept), call.fast(packing));
    expectFastMatchesReference(stays, 1e-4);
  }
}

TEST(FastRecurrent, IsCutBySamples) {
  const Options options;
  const Call call("lstm", attributesOf({0, 1, 2, 3}, options),
                  {random(F, {20, 64, 64}), random(F, {64, 128}),
                   random(F, {64, 128}), random(F, {4, 64, 128}),
                   random(F, {4, 128, 128}), random(F, {4, 128})});
  EXPECT_GT(call.taskCount(call.kernelNamed("samples")), 8u);
}

TEST(Recurrent, NamesGatesThatAreNoPermutation) {
  const Options options;
  const TensorType state{F, {1, 2}};
  EXPECT_EQ(errorOf("lstm", attributesOf({0, 1, 1, 3}, options),
                    {{F, {3, 1, 4}},
                     state,
                     state,
                     {F, {4, 4, 2}},
                     {F, {4, 2, 2}},
                     {F, {4, 2}}}),
            "[lstm] gates are {0,1,1,3}; they must be a permutation of 0 to 3");
}

} // namespace
} // namespace kernels::testing
