// Where values change their layout: around loops rather than in them, and not
// at all for weights that a training loop updates.
#include "EngineProgram.hpp"

#include "compiler/Coverage.hpp"
#include "compiler/Lift.hpp"
#include "compiler/Pipeline.hpp"
#include "compiler/Rewrite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using kernels::Layout;
using poplar::test::EngineProgram;

using Ints = kernels::Attributes::Ints;

kernels::Attributes geometry() {
  return {{"strides", Ints{1, 1}},
          {"padLower", Ints{1, 1}},
          {"padUpper", Ints{1, 1}},
          {"dilations", Ints{1, 1}},
          {"groups", std::int64_t{1}}};
}

// A network of convolutions from 32 to 32 channels.
class LayoutProgram : public EngineProgram {
public:
  const std::vector<std::size_t> image{2, 32, 5, 5};
  const std::vector<std::size_t> kernel{32, 32, 3, 3};

  void convolve(const Tensor &x, const Tensor &w, const Tensor &y) {
    auto attributes = geometry();
    attributes.set("bias", std::int64_t{0});
    attributes.set("activation", std::string());
    add("convolution", attributes, {x, w}, {y});
  }
  void dataGrad(const Tensor &dy, const Tensor &w, const Tensor &dx) {
    auto attributes = geometry();
    const auto shape = dx.shape();
    attributes.set("inputShape", Ints(shape.begin(), shape.end()));
    add("convolutionDataGrad", attributes, {dy, w}, {dx});
  }
  void weightGrad(const Tensor &dy, const Tensor &x, const Tensor &dw) {
    auto attributes = geometry();
    attributes.set("kernelShape", Ints{3, 3});
    add("convolutionWeightGrad", attributes, {dy, x}, {dw});
  }
  void update(const Tensor &w, const Tensor &dw, const Tensor &state) {
    add("sgdUpdate",
        {{"momentum", std::int64_t{1}},
         {"nesterov", std::int64_t{0}},
         {"gradientScale", 1.0}},
        {w, dw, number(1e-6f), number(0), state, number(0.5f), number(0)},
        {w, state});
  }

  // `step` counts the updates.
  void adam(const Tensor &w, const Tensor &dw, const Tensor &first,
            const Tensor &second, const Tensor &step) {
    add("adamUpdate",
        {{"gradientScale", 1.0},
         {"decoupledDecay", std::int64_t{1}},
         {"biasCorrection", std::int64_t{1}}},
        {w, dw, first, second, step, number(1e-3f), number(0.9f), number(0.99f),
         number(1e-3f), number(0.01f)},
        {w, first, second, step});
  }

  // The program after all passes: its nodes in order, loops in brackets.
  std::string planned() { return textOf(plan().body); }

  // Whether some operation has no kernel but the reference.
  bool usesReference() {
    ValueProgram values = plan();
    bool isFound = false;
    forEachNode(values.body, [&](const Node &node) {
      isFound = isFound || std::string_view(node.kernelName) == "reference";
    });
    return isFound;
  }

private:
  ValueProgram plan() {
    const internal::GraphData &data = internal::graphData(graph);
    const internal::ProgramPtr &node = internal::programNode(program);
    ValueProgram values =
        lift(data, node, findRoles(data, cutPrograms(data, {node})));
    PipelineOptions options;
    options.isVerified = true;
    runPasses(values, options);
    return values;
  }

  Tensor number(float value) {
    const Tensor tensor = graph.addConstant<float>(FLOAT, {}, value);
    graph.setTileMapping(tensor, 0);
    return tensor;
  }

  static std::string textOf(const Region &region) {
    std::string text;
    for (const Node &node : region.nodes) {
      if (node.op == NodeOp::Loop) {
        text += "( " + textOf(node.loop->body) + ") ";
      } else {
        text += node.op == NodeOp::Kernel ? std::string(node.kind->name)
                                          : std::string("copy");
        text += " ";
      }
    }
    return text;
  }
};

void expectSameValues(const LayoutProgram &p) {
  const auto expected = p.run("reference", 1);
  const auto got = p.run("fast", 2);
  EXPECT_EQ(p.run("fast", 1), got);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double size = 0, difference = 0;
    for (std::size_t e = 0; e < expected[i].size(); ++e) {
      size = std::max<double>(size, std::abs(expected[i][e]));
      difference =
          std::max<double>(difference, std::abs(expected[i][e] - got[i][e]));
    }
    EXPECT_LE(difference, 1e-5 * size) << i;
  }
}

// The images, the weights and the result are copied once.
TEST(PassLayouts, ReorderAroundALoop) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", p.image, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor y = p.addHostVariable("y", p.image, 3);
  p.repeat(3, [&] { p.convolve(x, w, y); });
  EXPECT_EQ(p.planned(), "copy copy ( convolution ) copy ");
  expectSameValues(p);
}

// A part of one image: the number of images has a stride that means nothing.
TEST(PassLayouts, HaveKernelsForPartsOfOneImage) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", {1, 32, 5, 5}, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor y = p.addHostVariable("y", {1, 64, 5, 5}, 3);
  p.convolve(x, w, y.slice(0, 32, 1));
  p.convolve(x, w, y.slice(32, 64, 1));
  EXPECT_FALSE(p.usesReference());
  expectSameValues(p);
}

TEST(PassLayouts, StayBetweenConvolutionsAndWhatLiesBetweenThem) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", p.image, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor y = p.addTemporary("y", p.image);
  const Tensor z = p.addTemporary("z", p.image);
  const Tensor sums = p.addHostVariable("sums", {32}, 3);
  p.convolve(x, w, y);
  p.elementwise("a*0.5", {y}, y);
  p.convolve(y, w, z);
  p.add("reduce",
        {{"op", std::string("ADD")}, {"dims", Ints{0, 2, 3}}, {"scale", 0.5}},
        {z}, {sums});
  EXPECT_EQ(p.planned(),
            "copy copy convolution elementwise convolution reduce ");
  expectSameValues(p);
}

// The first convolution makes `y` with samples side by side; the second has it
// copied into blocks of channels, where `dx` lies too.
TEST(PassLayouts, MeetWhereAllOperandsHaveAForm) {
  const std::vector<std::size_t> few{16, 16, 5, 5};
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", {16, 8, 5, 5}, 1);
  const Tensor w = p.addHostVariable("w", {16, 8, 3, 3}, 2);
  const Tensor v = p.addHostVariable("v", {64, 16, 3, 3}, 3);
  const Tensor y = p.addTemporary("y", few);
  const Tensor z = p.addTemporary("z", {16, 64, 5, 5});
  const Tensor dx = p.addTemporary("dx", few);
  const Tensor product = p.addHostVariable("product", few, 4);
  p.convolve(x, w, y);
  p.convolve(y, v, z);
  p.dataGrad(z, v, dx);
  p.elementwise("a*b", {dx, y}, product);
  EXPECT_EQ(p.planned(), "copy convolution copy copy convolution copy "
                         "convolutionDataGrad elementwise copy ");
  expectSameValues(p);
}

TEST(PassLayouts, PoolWhereImagesLieInBlocksAlready) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", p.image, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor dx = p.addHostVariable("dx", p.image, 4);
  const Tensor y = p.addTemporary("y", p.image);
  const Tensor pooled = p.addTemporary("pooled", {2, 32, 2, 2});
  const Tensor indices =
      p.graph.addVariable(UNSIGNED_CHAR, {2, 32, 2, 2}, "indices");
  p.graph.setTileMapping(indices, 0);
  const kernels::Attributes attributes{{"kernel", Ints{2, 2}},
                                       {"strides", Ints{2, 2}},
                                       {"padLower", Ints{0, 0}},
                                       {"padUpper", Ints{0, 0}},
                                       {"activation", std::string()}};
  auto gradient = attributes;
  gradient.set("inputShape", Ints{2, 32, 5, 5});
  p.convolve(x, w, y);
  p.add("maxPool", attributes, {y}, {pooled, indices});
  p.add("maxPoolGrad", gradient, {pooled, indices}, {dx});
  EXPECT_EQ(p.planned(), "copy copy convolution maxPool maxPoolGrad copy ");
  expectSameValues(p);
}

// The data gradient wants the weights another way round; all else is copied
// before and after the loop.
TEST(PassLayouts, StayFromStepToStepOfTraining) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", p.image, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor state = p.addHostVariable("state", p.kernel, 3);
  const Tensor y = p.addTemporary("y", p.image);
  const Tensor dx = p.addTemporary("dx", p.image);
  const Tensor dw = p.addTemporary("dw", p.kernel);
  p.repeat(3, [&] {
    p.convolve(x, w, y);
    p.dataGrad(y, w, dx);
    p.weightGrad(dx, x, dw);
    p.update(w, dw, state);
  });
  EXPECT_EQ(p.planned(), "copy copy copy ( convolution copy "
                         "convolutionDataGrad convolutionWeightGrad sgdUpdate "
                         ") copy copy ");
  expectSameValues(p);
}

// The scalar that is carried along stays what it is.
TEST(PassLayouts, StayWithAllStateOfTheOptimiser) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", p.image, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor first = p.addHostVariable("first", p.kernel, 3);
  const Tensor second = p.addTemporary("second", p.kernel);
  const Tensor step = p.addHostVariable("step", {}, 0);
  const Tensor y = p.addTemporary("y", p.image);
  const Tensor dw = p.addTemporary("dw", p.kernel);
  p.fill(1, second);
  p.fill(0, step);
  p.repeat(3, [&] {
    p.convolve(x, w, y);
    p.weightGrad(y, x, dw);
    p.adam(w, dw, first, second, step);
  });
  EXPECT_EQ(p.planned(), "fill fill copy copy copy copy ( convolution "
                         "convolutionWeightGrad adamUpdate ) copy copy ");
  expectSameValues(p);
}

// Something else looks at the weights in every step.
TEST(PassLayouts, GiveWayToReadersOfThePlainValue) {
  LayoutProgram p;
  const Tensor x = p.addHostVariable("x", p.image, 1);
  const Tensor w = p.addHostVariable("w", p.kernel, 2);
  const Tensor state = p.addHostVariable("state", p.kernel, 3);
  const Tensor part = p.addHostVariable("part", {32}, 3);
  const Tensor y = p.addTemporary("y", p.image);
  const Tensor dw = p.addTemporary("dw", p.kernel);
  p.repeat(3, [&] {
    p.convolve(x, w, y);
    p.weightGrad(y, x, dw);
    p.elementwise("a+b", {part, w[0].flatten().slice(0, 32)}, part);
    p.update(w, dw, state);
  });
  expectSameValues(p);
}

} // namespace
