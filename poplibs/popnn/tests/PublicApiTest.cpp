// The public non-linearities, poolings and losses: values and errors.
#include <popnn/LogSoftmax.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/Pooling.hpp>
#include <popnn/codelets.hpp>

#include "../../testing/TestProgram.hpp"

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using poplar::FLOAT;
using popnn::NonLinearityType;

struct Program : TestProgram {
  Program() { popnn::addCodelets(graph); }
};

struct NonLinearityCase {
  NonLinearityType type;
  double (*value)(double);
  bool gradientTakesInput;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double hardSigmoid(double x) {
  return std::min(1.0, std::max(0.0, 0.2 * x + 0.5));
}
double relu(double x) {
  return std::max(0.0, x);
}
double tanhOf(double x) {
  return std::tanh(x);
}
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608 * x * (1 + 0.044715 * x * x)));
}
double geluErf(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
}
double swish(double x) {
  return x * sigmoid(x);
}

class NonLinearities : public testing::TestWithParam<NonLinearityCase> {};

TEST_P(NonLinearities, MatchTheirFormulaAndSlope) {
  const auto &row = GetParam();
  const std::vector<float> xs{-3.1f, -1.2f, -0.4f, 0.3f, 0.9f, 2.2f};
  Program p;
  const auto x = p.input({6}, xs);
  const auto ones = p.input({6}, std::vector<float>(6, 1));
  const auto y = popnn::nonLinearity(p.graph, row.type, x, p.prog, "nl");
  const auto slope = popnn::nonLinearityInputGradient(
      p.graph, row.type, row.gradientTakesInput ? x : y, ones, p.prog, "grad");
  std::vector<double> expected;
  for (const double value : xs) {
    expected.push_back(row.value(value));
  }
  for (const double value : xs) {
    constexpr double step = 1e-5;
    expected.push_back((row.value(value + step) - row.value(value - step)) /
                       (2 * step));
  }
  EXPECT_VALUES_NEAR(p.run<float>(concat(y, slope)), expected, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    All, NonLinearities,
    testing::Values(NonLinearityCase{NonLinearityType::SIGMOID, sigmoid, false},
                    NonLinearityCase{NonLinearityType::HARD_SIGMOID,
                                     hardSigmoid, false},
                    NonLinearityCase{NonLinearityType::RELU, relu, false},
                    NonLinearityCase{NonLinearityType::TANH, tanhOf, false},
                    NonLinearityCase{NonLinearityType::GELU, gelu, true},
                    NonLinearityCase{NonLinearityType::GELU_ERF, geluErf, true},
                    NonLinearityCase{NonLinearityType::SWISH, swish, true}));

TEST(Softmax, SumsToItsScaling) {
  Program p;
  const auto x = p.input({1, 2}, {0, std::log(3.0f)});
  float scaling = 0;
  const auto y = popnn::scaledSoftmaxStable(p.graph, x, scaling, p.prog);
  EXPECT_EQ(scaling, 16384.0f);
  EXPECT_VALUES_NEAR(p.run<float>(y), (std::vector<float>{4096, 12288}), 0.01);
}

TEST(LogSoftmax, WorksInPlace) {
  Program p;
  const auto x = p.input({2, 2}, {0, 0, 0, std::log(3.0f)});
  popnn::logSoftmaxInPlace(p.graph, x, p.prog);
  const float half = std::log(0.5f);
  EXPECT_VALUES_NEAR(
      p.run<float>(x),
      (std::vector<float>{half, half, std::log(0.25f), std::log(0.75f)}), 1e-6);
}

TEST(Pooling, TakesMaximaOfPaddedWindows) {
  Program p;
  const popnn::pooling::PoolParams params(popnn::PoolingType::MAX, {2, 3},
                                          {2, 2}, {1, 2}, {0, 0}, {0, 1}, 1, 1,
                                          FLOAT);
  EXPECT_EQ(params.getOutputFieldShape(), (std::vector<std::size_t>{1, 2}));
  const auto x = p.input({1, 1, 2, 3}, {1, 5, -3, 2, 4, -6});
  const auto y = popnn::pooling::pool(p.graph, params, x, p.prog);
  const auto dy = p.input({1, 1, 1, 2}, {10, 20});
  const auto dx = popnn::pooling::poolInputGradient(p.graph, params, x, y, dy,
                                                    false, p.prog);
  EXPECT_EQ(p.run<float>(concat(y.flatten(), dx.flatten())),
            (std::vector<float>{5, -3, 0, 10, 20, 0, 0, 0}));
}

struct LossProgram : Program {
  poplar::Tensor outputs =
      input({3, 2}, {0.25f, 0.75f, 0.5f, 0.5f, 0.9f, 0.1f});
  poplar::Tensor labels =
      input<unsigned>(poplar::UNSIGNED_INT, {3}, {1, 1, 0xFFFFFFFFu});
  poplar::Tensor loss = input({3}, {9, 9, 9});
  poplar::Tensor deltas = input({3, 2}, std::vector<float>(6, 9));
  poplar::Tensor correct = input<unsigned>(poplar::UNSIGNED_INT, {}, {100});
};

TEST(Loss, IsTheCrossEntropyOfTheLabels) {
  LossProgram p;
  p.prog.add(popnn::calcLoss(p.graph, p.outputs, p.labels, p.loss, p.deltas,
                             popnn::CROSS_ENTROPY_LOSS, "loss"));
  EXPECT_VALUES_NEAR(p.run<float>(concat(p.loss, p.deltas.flatten())),
                     (std::vector<float>{-std::log(0.75f), -std::log(0.5f), 0,
                                         0.25f, -0.25f, 0.5f, -0.5f, 0, 0}),
                     1e-6);
}

TEST(Loss, AddsTheNumberOfCorrectOutputs) {
  LossProgram p;
  p.prog.add(popnn::calcLoss(p.graph, p.outputs, p.labels, p.loss, p.deltas,
                             p.correct, popnn::SUM_SQUARED_LOSS));
  // The first is right; the second is a tie, whose first class counts.
  EXPECT_EQ(p.run<unsigned>(p.correct), (std::vector<unsigned>{101}));
}

TEST(Loss, RejectsLabelsOfAnotherBatch) {
  LossProgram p;
  EXPECT_THROW(popnn::calcLoss(p.graph, p.outputs, p.labels.slice(0, 2), p.loss,
                               p.deltas, popnn::CROSS_ENTROPY_LOSS),
               poputil::poplibs_error);
}

TEST(ArgMin, FindsTheSmallestOfEachRow) {
  Program p;
  const auto x = p.input({2, 3}, {3, 1, 2, 5, 6, 4});
  EXPECT_EQ(p.run<unsigned>(popnn::argMin(p.graph, x, p.prog)),
            (std::vector<unsigned>{1, 2}));
}

TEST(NonLinearity, NeedsItsCodelets) {
  TestProgram p;
  const auto x = p.input({1}, {1});
  EXPECT_THROW(popnn::relu(p.graph, x, p.prog), poplar::unknown_vertex_type);
}

} // namespace
