// Parameters of convolutions: canonical forms, counts and what planning ahead
// takes, by figures worked out by hand. Values are in the conformance tests.
#include <poplin/Cholesky.hpp>
#include <poplin/ConvPreplan.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poplin/TriangularSolve.hpp>
#include <poplin/codelets.hpp>

#include <poplar/IPUModel.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using poplar::FLOAT;
using poplar::HALF;
using poplin::ConvParams;
using Shape = std::vector<std::size_t>;
using Numbers = std::vector<unsigned>;

poplar::Graph graphOf(unsigned tiles) {
  poplar::IPUModel model;
  model.tilesPerIPU = tiles;
  return poplar::Graph(model.createDevice().getTarget());
}

TEST(ConvParams, CanonicalFormHasNoKernelPaddingAndNoOutputTruncation) {
  ConvParams params(FLOAT, 1, {8}, {3}, 1, 1, 1);
  params.inputTransform.paddingLower = {2};
  params.kernelTransform.paddingLower = {1};
  params.outputTransform.truncationLower = {3};
  // 2 zeros less 1 and 3: two elements are never seen.
  const auto canonical = params.canonicalize();
  EXPECT_EQ(canonical.inputTransform.paddingLower, (Numbers{0}));
  EXPECT_EQ(canonical.inputTransform.truncationLower, (Numbers{2}));
  EXPECT_EQ(canonical.kernelTransform.paddingLower, (Numbers{0}));
  EXPECT_EQ(canonical.outputTransform.truncationLower, (Numbers{0}));
  EXPECT_EQ(canonical.getOutputFieldShape(), params.getOutputFieldShape());
  EXPECT_EQ(canonical.canonicalize(), canonical);
}

TEST(ConvParams, OutputsThatSeeOnlyZerosBecomePadding) {
  ConvParams params(FLOAT, 1, {4}, {2}, 1, 1, 1);
  params.inputTransform.paddingLower = {5};
  params.inputTransform.paddingUpper = {3};
  // Outputs 0..3 lie before the input, 9 and 10 behind it.
  const auto canonical = params.canonicalize();
  EXPECT_EQ(canonical.outputTransform.paddingLower, (Numbers{4}));
  EXPECT_EQ(canonical.outputTransform.paddingUpper, (Numbers{2}));
  EXPECT_EQ(canonical.inputTransform.paddingLower, (Numbers{1}));
  EXPECT_EQ(canonical.inputTransform.paddingUpper, (Numbers{1}));
}

TEST(ConvParams, WhatMakesNoDifferenceIsGone) {
  ConvParams params(FLOAT, 1, {1, 6}, {1, 2}, 1, 1, 1);
  params.inputTransform.dilation = {3, 1};
  params.inputTransform.flip = {true, false};
  params.kernelTransform.dilation = {2, 5};
  params.kernelTransform.flip = {true, false};
  params.outputTransform.stride = {4, 3};
  const auto canonical = params.canonicalize();
  EXPECT_EQ(canonical.inputTransform.dilation, (Numbers{1, 1}));
  EXPECT_FALSE(canonical.inputTransform.flip[0]);
  EXPECT_EQ(canonical.kernelTransform.dilation, (Numbers{1, 5}));
  EXPECT_FALSE(canonical.kernelTransform.flip[0]);
  EXPECT_EQ(canonical.outputTransform.stride, (Numbers{1, 1}));
}

TEST(ConvParams, AreOrderedComparedAndPrinted) {
  const ConvParams a(FLOAT, 1, {4, 5}, {3, 2}, 1, 1, 1);
  auto b = a;
  EXPECT_EQ(a, b);
  b.outputTransform.stride = {2, 1};
  EXPECT_NE(a, b);
  EXPECT_TRUE(a < b);
  std::ostringstream text;
  text << b;
  EXPECT_NE(text.str().find("{3,2}"), std::string::npos);
  EXPECT_NE(text.str().find("stride"), std::string::npos);
}

TEST(ConvQueries, CountProductsOfElementsOnly) {
  // Along 4 elements with one zero at either end, a kernel of 3 meets 2, 3, 3
  // and 2; batch 2, 5 input and 7 output channels in 3 groups.
  ConvParams params(HALF, 2, {4}, {3}, 5, 7, 3);
  params.inputTransform.paddingLower = params.inputTransform.paddingUpper = {1};
  const std::uint64_t flops = 2u * 10 * 2 * 5 * 7 * 3;
  EXPECT_EQ(poplin::getFwdFlops(params), flops);
  EXPECT_EQ(poplin::getBwdFlops(params), flops);
  EXPECT_EQ(poplin::getWuFlops(params), flops);
  // Half into half: 16 units of 4 elements on each of 10 tiles.
  EXPECT_DOUBLE_EQ(poplin::getFwdPerfectCycleCount(graphOf(10), params),
                   10. * 2 * 5 * 7 * 3 / (16 * 4 * 10));
}

TEST(ConvCreators, FollowTheParameters) {
  auto graph = graphOf(16);
  const ConvParams params(HALF, FLOAT, 2, {4, 5, 6}, {3, 2, 1}, 5, 7, 3);
  const auto weights = poplin::createWeights(graph, params, "w");
  EXPECT_EQ(weights.shape(), (Shape{3, 7, 5, 3, 2, 1}));
  EXPECT_EQ(weights.elementType(), HALF);
  EXPECT_EQ(poplin::createInput(graph, params, "x").shape(),
            (Shape{2, 15, 4, 5, 6}));
  const auto out = poplin::createConvOutput(graph, params, "y");
  EXPECT_EQ(out.shape(), (Shape{2, 21, 2, 4, 6}));
  EXPECT_EQ(out.elementType(), FLOAT);
  EXPECT_EQ(poplin::createBiases(graph, out).shape(), (Shape{21}));
  EXPECT_EQ(poplin::createBiases(graph, out, params).shape(), (Shape{21}));
  const std::vector<poplin::multiconv::CreateTensorArgs> args{
      {params, {}, "w"}};
  EXPECT_EQ(poplin::multiconv::createWeights(graph, args, 0).shape(),
            weights.shape());
  EXPECT_THROW(poplin::multiconv::createInput(graph, args, 1),
               poputil::poplibs_error);
}

TEST(Preplanning, TurnsProductsIntoConvolutions) {
  const auto graph = graphOf(16);
  const auto &target = graph.getTarget();
  const poplar::OptionFlags options{{"fullyConnectedPass", "TRAINING_FWD"},
                                    {"partialsType", "half"},
                                    {"inputRHSIsPreArranged", "true"}};
  const std::set<poplin::MatMulPlanParams> matmuls{
      {&target, poplin::MatMulParams{HALF, FLOAT, {2, 3, 4}, {2, 4, 5}},
       &options}};
  poplin::MatMulToConvOptions converted;
  const auto convs = poplin::matMulGetConvPlanParams(matmuls, converted);
  ASSERT_EQ(convs.size(), 1u);
  EXPECT_EQ(std::get<1>(*convs.begin()),
            ConvParams(HALF, FLOAT, 1, {3}, {1}, 4, 5, 2));
  EXPECT_EQ(*std::get<2>(*convs.begin()),
            (poplar::OptionFlags{{"pass", "FC_TRAINING_FWD"},
                                 {"partialsType", "half"}}));
  poplin::matmul::PlanningCache cache;
  EXPECT_NO_THROW(poplin::preplanMatMuls(matmuls, cache));
  EXPECT_NO_THROW(poplin::preplan(convs, matmuls, cache));
}

TEST(Preplanning, RejectsWhatCannotBeBuilt) {
  const auto graph = graphOf(16);
  const auto &target = graph.getTarget();
  poplin::PlanningCache cache;
  const poplar::OptionFlags options{{"passs", "NONE"}};
  const ConvParams params(FLOAT, 1, {4}, {5}, 1, 1, 1);
  EXPECT_THROW(poplin::preplanConvolutions({{&target, params, nullptr}}, cache),
               poputil::poplibs_error);
  const ConvParams valid(FLOAT, 1, {4}, {3}, 1, 1, 1);
  EXPECT_THROW(poplin::preplanConvolutions({{&target, valid, &options}}, cache),
               poplar::invalid_option);
  EXPECT_THROW(poplin::convolutionValidateOptions(options),
               poplar::invalid_option);
  EXPECT_THROW(poplin::matmulValidateOptions({{"pass", "NONE"}}),
               poplar::invalid_option);
}

TEST(Preplanning, NamesTheProductsOfFactorsAndSystems) {
  // Blocks of 4 rows in a matrix of 10: products follow the first two.
  const poplar::OptionFlags options{{"blockSize", "4"}};
  const auto factor = poplin::getCholeskyMatMulPrePlanParameters(
      FLOAT, {3, 10, 10}, true, options);
  ASSERT_EQ(factor.size(), 2u);
  EXPECT_EQ(factor[0].first.aShape, (Shape{3, 6, 4}));
  EXPECT_EQ(factor[1].first.bShape, (Shape{3, 4, 2}));
  const auto system = poplin::getTriangularSolveMatMulPrePlanParameters(
      FLOAT, FLOAT, {10, 10}, {10, 7}, true, true, options);
  ASSERT_EQ(system.size(), 2u);
  EXPECT_EQ(system[1].first.aShape, (Shape{1, 2, 4}));
  EXPECT_EQ(system[1].first.bShape, (Shape{1, 4, 7}));
}

TEST(Convolution, NeedsTheCodelets) {
  auto graph = graphOf(16);
  const ConvParams params(FLOAT, 1, {4}, {3}, 1, 1, 1);
  const auto x = poplin::createInput(graph, params, "x");
  const auto w = poplin::createWeights(graph, params, "w");
  poplar::program::Sequence prog;
  EXPECT_THROW(poplin::convolution(graph, x, w, params, false, prog),
               poplar::unknown_vertex_type);
  EXPECT_THROW(poplin::cholesky(graph, w.reshape({1, 3}), true, prog),
               poplar::unknown_vertex_type);
}

} // namespace
