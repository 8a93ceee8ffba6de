// The rules and references of convolutions, pooling, normalisation and losses
// against figures worked out by hand, and their gradients against differences.
#include "KernelTesting.hpp"
#include "ReferenceTesting.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

constexpr auto I32 = DataType::Int;
using Ints = Attributes::Ints;

Input random(Shape shape) {
  return {{F, std::move(shape)}, {}, {}};
}

Attributes convolutionOf(std::int64_t stride, std::int64_t pad,
                         std::int64_t dilation, std::int64_t groups) {
  return {{"strides", Ints{stride, stride}},
          {"padLower", Ints{pad, pad}},
          {"padUpper", Ints{pad, pad}},
          {"dilations", Ints{dilation, dilation}},
          {"groups", groups}};
}
Attributes forwardOf(Attributes attributes, bool bias = false,
                     std::string activation = "") {
  attributes.set("bias", std::int64_t(bias));
  attributes.set("activation", std::move(activation));
  return attributes;
}

TEST(ConvolutionReference, MatchesHandComputedValues) {
  const Values image{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Values kernel{1, 0, 0, -1};
  const Call valid("convolution", forwardOf(convolutionOf(1, 0, 1, 1)),
                   {given({1, 1, 3, 3}, image), given({1, 1, 2, 2}, kernel)});
  expectNear(valid.reference()[0], {-4, -4, -4, -4});
  const Call padded("convolution",
                    forwardOf(convolutionOf(2, 1, 1, 1), true, "RELU"),
                    {given({1, 1, 3, 3}, image), given({1, 1, 2, 2}, kernel),
                     given({1}, {2})});
  // Windows start at -1 and 1: bottom right minus what is above left.
  expectNear(padded.reference()[0], {1, 0, 0, 0});
  const Call dilated("convolution", forwardOf(convolutionOf(1, 0, 2, 1)),
                     {given({1, 1, 3, 3}, image), given({1, 1, 2, 2}, kernel)});
  expectNear(dilated.reference()[0], {1 - 9});
  const Call grouped(
      "convolution", forwardOf(convolutionOf(1, 0, 1, 2)),
      {given({1, 2, 1, 1}, {3, 5}), given({2, 1, 1, 1}, {10, 100})});
  expectNear(grouped.reference()[0], {30, 500});
}

TEST(ConvolutionGradients, AreDerivativesOfTheConvolution) {
  for (const auto &attributes :
       {convolutionOf(1, 0, 1, 1), convolutionOf(2, 1, 1, 1),
        convolutionOf(1, 2, 2, 2)}) {
    const auto groups = attributes.getInt("groups");
    const Shape x{2, 2, 5, 4};
    const Shape w{2, 2 / groups, 2, 2};
    const Call forward("convolution", forwardOf(attributes),
                       {random(x), random(w)});
    const Input dy{forward.outputTypes()[0], {}, {}};
    auto byData = attributes;
    byData.set("inputShape", x);
    const Call dataGrad("convolutionDataGrad", byData,
                        {dy, given(w, forward.inputValues(1))});
    expectGradient(forward, dataGrad.inputValues(0), 0, dataGrad.reference()[0],
                   1e-3);
    auto byWeights = attributes;
    byWeights.set("kernelShape", Ints{2, 2});
    const Call weightGrad("convolutionWeightGrad", byWeights,
                          {dy, given(x, forward.inputValues(0))});
    expectGradient(forward, weightGrad.inputValues(0), 1,
                   weightGrad.reference()[0], 2e-3);
  }
}

TEST(ConvolutionRules, SayWhatDoesNotFit) {
  EXPECT_EQ(errorOf("convolution", forwardOf(convolutionOf(1, 0, 1, 1)),
                    {{F, {1, 3, 4, 4}}, {F, {2, 4, 3, 3}}}),
            "[convolution] w has shape {2,4,3,3}; its dimension 1 must be 3, "
            "the input channels of a group");
  EXPECT_EQ(errorOf("convolution", forwardOf(convolutionOf(1, 0, 1, 1)),
                    {{F, {1, 3, 2, 4}}, {F, {2, 3, 3, 3}}}),
            "[convolution] the kernel spans 3 in spatial dimension 0; the "
            "padded input has 2");
}

Attributes poolOf(std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                  std::string activation = "") {
  return {{"kernel", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"padLower", Ints{pad, pad}},
          {"padUpper", Ints{pad, pad}},
          {"activation", std::move(activation)}};
}

TEST(MaxPoolReference, RemembersTheFirstMaximum) {
  const Call call("maxPool", poolOf(2, 2, 0),
                  {given({1, 1, 2, 4}, {1, 3, 7, 7, 2, 3, 7, 0})});
  const auto results = call.reference();
  expectNear(results[0], {3, 7});
  expectNear(results[1], {1, 0});
}

TEST(MaxPoolReference, MarksWindowsThatAReluKills) {
  const Call call("maxPool", poolOf(2, 2, 0, "RELU"),
                  {given({1, 1, 2, 4}, {-1, -3, 1, 2, -2, -3, 3, 0})});
  const auto results = call.reference();
  expectNear(results[0], {0, 3});
  expectNear(results[1], {255, 2});
  auto attributes = poolOf(2, 2, 0, "RELU");
  attributes.set("inputShape", Ints{1, 1, 2, 4});
  const Call grad("maxPoolGrad", attributes,
                  {given({1, 1, 1, 2}, {5, 6}),
                   given({1, 1, 1, 2}, {255, 2}, DataType::UnsignedChar)});
  expectNear(grad.reference()[0], {0, 0, 0, 0, 0, 0, 6, 0});
}

TEST(MaxPoolGradient, IsTheDerivativeOfPooling) {
  // Distances between the values are far above the step of the differences.
  Values values;
  for (int i = 0; i < 50; ++i) {
    values.push_back(((i * 37) % 50 - 25) * 0.1);
  }
  const auto attributes = poolOf(3, 2, 1);
  const Call forward("maxPool", attributes, {given({1, 2, 5, 5}, values)});
  const auto types = forward.outputTypes();
  auto gradAttributes = attributes;
  gradAttributes.set("inputShape", Ints{1, 2, 5, 5});
  const Call grad("maxPoolGrad", gradAttributes,
                  {{types[0], {}, {}}, {types[1], {}, forward.reference()[1]}});
  expectGradient(forward, grad.inputValues(0), 0, grad.reference()[0], 1e-3);
}

TEST(GroupNormReference, BringsGroupsToMeanZeroAndVarianceOne) {
  const Call call("groupNorm", {{"groups", std::int64_t(2)}, {"epsilon", 0.0}},
                  {given({1, 2, 2}, {1, 3, 10, 30}), given({2}, {1, 2}),
                   given({2}, {0, 5})});
  const auto results = call.reference();
  expectNear(results[0], {-1, 1, 3, 7});
  expectNear(results[1], {2, 20});
  expectNear(results[2], {1, 0.1});
}

TEST(GroupNormGradient, IsTheDerivativeByAllInputs) {
  const Shape x{2, 4, 3};
  const Call forward("groupNorm",
                     {{"groups", std::int64_t(2)}, {"epsilon", 1e-3}},
                     {random(x), random({4}), random({4})});
  const auto results = forward.reference();
  const Call grad("groupNormGrad", {{"groups", std::int64_t(2)}},
                  {random(x), given(x, forward.inputValues(0)),
                   given({4}, forward.inputValues(1)),
                   given({2, 2}, results[1]), given({2, 2}, results[2])});
  const auto gradients = grad.reference();
  for (std::size_t input = 0; input < 3; ++input) {
    expectGradient(forward, grad.inputValues(0), input, gradients[input], 5e-3);
  }
}

TEST(SoftmaxReference, MatchesHandComputedValues) {
  const Input x = given({1, 2}, {0, std::log(3.0)});
  expectNear(Call("softmax", {}, {x}).reference()[0], {0.25, 0.75});
  expectNear(Call("logSoftmax", {}, {x}).reference()[0],
             {std::log(0.25), std::log(0.75)});
  // Large inputs must not overflow.
  expectNear(Call("softmax", {}, {given({1, 2}, {1000, 1000})}).reference()[0],
             {0.5, 0.5});
}

TEST(SoftmaxGradients, AreDerivatives) {
  for (const auto *kind : {"softmax", "logSoftmax"}) {
    const Shape shape{2, 5};
    const Call forward(kind, {}, {random(shape)});
    const Call grad(std::string(kind) + "Grad", {},
                    {random(shape), given(shape, forward.reference()[0])});
    expectGradient(forward, grad.inputValues(0), 0, grad.reference()[0], 1e-3);
  }
}

Attributes lossOf(std::string reduction, std::int64_t ignoreIndex) {
  return {{"reduction", std::move(reduction)}, {"ignoreIndex", ignoreIndex}};
}

TEST(NllLossReference, AveragesOverTheLabelsThatCount) {
  const Input logp = given({3, 2}, {-1, -2, -3, -4, -5, -6});
  const Input labels = given({3}, {0, 1, 1}, I32);
  const auto loss = [&](std::string reduction, std::int64_t ignoreIndex) {
    return Call("nllLoss", lossOf(std::move(reduction), ignoreIndex),
                {logp, labels})
        .reference()[0];
  };
  expectNear(loss("none", -1), {1, 4, 6});
  expectNear(loss("sum", -1), {11});
  expectNear(loss("mean", -1), {11.0 / 3});
  expectNear(loss("mean", 0), {5});
}

TEST(NllLossReference, IsZeroWhereNoLabelCounts) {
  const Input labels = given({2}, {-100, -100}, I32);
  const Input logp = given({2, 2}, {-1, -2, -3, -4});
  for (const auto *reduction : {"mean", "sum"}) {
    auto attributes = lossOf(reduction, -100);
    const Call forward("nllLoss", attributes, {logp, labels});
    expectNear(forward.reference()[0], {0});
    attributes.set("classes", std::int64_t(2));
    const Call grad("nllLossGrad", attributes, {given({}, {1}), labels});
    expectNear(grad.reference()[0], {0, 0, 0, 0});
  }
}

TEST(NllLossGradient, IsTheDerivativeOfTheLoss) {
  for (const auto *reduction : {"mean", "sum", "none"}) {
    auto attributes = lossOf(reduction, 2);
    const Input labels = given({4}, {0, 2, 1, 0}, I32);
    const Call forward("nllLoss", attributes, {random({4, 3}), labels});
    attributes.set("classes", std::int64_t(3));
    const Call grad("nllLossGrad", attributes,
                    {{forward.outputTypes()[0], {}, {}}, labels});
    expectGradient(forward, grad.inputValues(0), 0, grad.reference()[0], 1e-3);
  }
}

} // namespace
} // namespace kernels::testing
