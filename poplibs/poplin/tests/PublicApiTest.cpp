// The public matrix products and convolutions: values and errors.
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/FullyConnected.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>

#include "../../testing/TestProgram.hpp"

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using poplar::FLOAT;
using poplin::ConvParams;

struct Program : TestProgram {
  Program() { poplin::addCodelets(graph); }
};

template <typename F> std::string messageOf(F &&f) {
  try {
    f();
  } catch (const poputil::poplibs_error &error) {
    return error.what();
  }
  return "no error";
}

TEST(MatMul, MultipliesAndAccumulates) {
  Program p;
  const auto a = p.input({2, 2}, {1, 2, 3, 4});
  const auto b = p.input({2, 2}, {5, 6, 7, 8});
  const auto y = poplin::matMul(p.graph, a, b, p.prog, "mm");
  poplin::matMulAcc(p.graph, y, 2.0f, a, b.transpose(), p.prog, "acc");
  // a*b = 19 22 43 50; a*b' = 17 23 39 53.
  EXPECT_EQ(p.run<float>(y), (std::vector<float>{53, 68, 121, 156}));
}

TEST(MatMul, TakesGroups) {
  Program p;
  const auto a = p.input({2, 1, 2}, {1, 2, 3, 4});
  const auto b = p.input({2, 2, 1}, {5, 6, 7, 8});
  const auto y = poplin::matMulGrouped(p.graph, a, b, p.prog, FLOAT, "mm");
  EXPECT_EQ(p.run<float>(y), (std::vector<float>{17, 53}));
}

TEST(MatMul, SaysWhatDoesNotFit) {
  Program p;
  const auto a = p.input({2, 2}, {1, 2, 3, 4});
  const auto row = p.input({1, 2}, {1, 2});
  EXPECT_EQ(messageOf([&] { poplin::matMul(p.graph, a, row, p.prog); }),
            "Second dimension of first operand to matrix multiplication does "
            "not match first dimension of second operand.");
  EXPECT_EQ(messageOf([&] { poplin::matMul(p.graph, a, row[0], p.prog); }),
            "Operand to matrix multiplication is not a matrix.");
}

TEST(MatMul, NamesOptionsItDoesNotKnow) {
  Program p;
  const auto a = p.input({1, 1}, {1});
  try {
    poplin::matMul(p.graph, a, a, p.prog, "mm", {{"pass", "NONE"}});
    FAIL() << "an option of convolutions was accepted";
  } catch (const poplar::invalid_option &error) {
    EXPECT_STREQ(error.what(), "Unrecognised option 'pass'");
  }
}

TEST(MatMul, ReportsItsPlan) {
  Program p;
  std::ostringstream text;
  poplin::matMulReportPlan(text, p.graph, FLOAT, FLOAT, {64, 64}, {64, 64});
  EXPECT_NE(text.str().find("Plan: "), std::string::npos);
}

ConvParams stridedConv() {
  ConvParams params(FLOAT, 1, {5, 4}, {3, 2}, 2, 3, 2);
  params.outputTransform.stride = {2, 1};
  params.inputTransform.paddingLower = {1, 0};
  params.inputTransform.paddingUpper = {1, 1};
  return params;
}

TEST(ConvParams, ComputesTheOutputField) {
  EXPECT_EQ(stridedConv().getOutputFieldShape(),
            (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(poplin::getDilatedSize(3, 2), 5u);
}

TEST(ConvParams, GradientsHaveTheInputsField) {
  EXPECT_EQ(poplin::getGradientParams(stridedConv()).getOutputFieldShape(),
            (std::vector<std::size_t>{5, 4}));
}

// <dy, conv(x, w)> = <conv'(dy, w), x> = <dw(dy, x), w>: the three functions
// belong together.
TEST(Convolution, GradientsAreAdjoint) {
  const auto params = stridedConv();
  const auto xs = TestProgram::pattern(1 * 4 * 5 * 4);
  const auto ws = TestProgram::pattern(2 * 3 * 2 * 3 * 2, 2);
  const auto dys = TestProgram::pattern(1 * 6 * 3 * 4, 3);
  Program p;
  const auto x = p.input({1, 4, 5, 4}, xs);
  const auto w = p.input({2, 3, 2, 3, 2}, ws);
  const auto dy = p.input({1, 6, 3, 4}, dys);
  const auto y = poplin::convolution(p.graph, x, w, params, false, p.prog);
  const auto dx = poplin::convolution(
      p.graph, dy, w, poplin::getGradientParams(params), true, p.prog);
  const auto dw = poplin::calculateWeightDeltas(p.graph, dy, x, params, p.prog);
  ASSERT_EQ(y.shape(), (std::vector<std::size_t>{1, 6, 3, 4}));
  ASSERT_EQ(dx.shape(), x.shape());
  ASSERT_EQ(dw.shape(), w.shape());
  const auto all =
      p.run<float>(poplar::concat({y.flatten(), dx.flatten(), dw.flatten()}));
  const auto dot = [&](const std::vector<float> &values, std::size_t offset) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += double(values[i]) * all[offset + i];
    }
    return sum;
  };
  const auto forward = dot(dys, 0);
  EXPECT_NE(forward, 0);
  EXPECT_NEAR(dot(xs, dys.size()), forward, 1e-3);
  EXPECT_NEAR(dot(ws, dys.size() + xs.size()), forward, 1e-3);
}

TEST(Convolution, TakesFieldsOfOneDimension) {
  Program p;
  const ConvParams params(FLOAT, 1, {4}, {2}, 1, 1, 1);
  const auto x = p.input({1, 1, 4}, {1, 2, 3, 4});
  const auto w = p.input({1, 1, 1, 2}, {10, 1});
  const auto y = poplin::convolution(p.graph, x, w, params, false, p.prog);
  EXPECT_EQ(p.run<float>(y), (std::vector<float>{12, 23, 34}));
}

TEST(Convolution, AddsBiasesPerChannel) {
  Program p;
  const auto x = p.input({1, 2, 2}, {1, 2, 3, 4});
  poplin::addBias(p.graph, x, p.input({2}, {10, 20}), p.prog);
  EXPECT_EQ(p.run<float>(x), (std::vector<float>{11, 12, 23, 24}));
}

TEST(FullyConnected, NamesTheProductsOfItsPasses) {
  using Shape = std::vector<std::size_t>;
  const auto training = poplin::fc::getMatMulPrePlanParameters(
      {2, 8, 3, 5}, {{"partialsType", "half"}}, FLOAT, false);
  ASSERT_EQ(training.size(), 3u);
  const char *passes[] = {"TRAINING_FWD", "TRAINING_BWD", "TRAINING_WU"};
  const Shape a[] = {{2, 8, 3}, {2, 8, 5}, {2, 3, 8}};
  const Shape b[] = {{2, 3, 5}, {2, 5, 3}, {2, 8, 5}};
  for (std::size_t i = 0; i < training.size(); ++i) {
    const auto &[params, options] = training[i];
    EXPECT_EQ(params.aShape, a[i]);
    EXPECT_EQ(params.bShape, b[i]);
    EXPECT_EQ(options.at("fullyConnectedPass"), passes[i]);
    EXPECT_EQ(options.at("partialsType"), "half");
  }
  EXPECT_EQ(
      poplin::fc::getMatMulPrePlanParameters({1, 8, 3, 5}, {}, FLOAT, true)
          .size(),
      1u);
}

} // namespace
