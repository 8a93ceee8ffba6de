// What programs compute of variables that they leave alone: folded into the
// weights of convolutions, kept from run to run, and computed again when the
// variables have changed.
#include "LiftedProgram.hpp"

#include "compiler/Pipeline.hpp"
#include "compiler/SplitConstants.hpp"
#include "compiler/Verify.hpp"
#include "compiler/passes/FoldChannelFactors.hpp"
#include "compiler/passes/FuseEpilogues.hpp"
#include "engine/EngineOptions.hpp"
#include "engine/FastExecutor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace {

using namespace poplar;
using namespace poplar::compiler;
using poplar::test::EngineProgram;
using poplar::test::lifted;
using Values = EngineProgram::Values;
using Ints = kernels::Attributes::Ints;

// y = relu((convolution of x by w + given - mean) * scale + shift), where there
// is a given bias only if asked for. All numbers are small integers, so that
// every way to compute it has the same bits.
class ScaledConvolution : public EngineProgram {
public:
  explicit ScaledConvolution(bool hasBias = false)
      : x(addHostVariable("x", {2, 32, 4, 4}, 1)),
        w(addHostVariable("w", {32, 32, 3, 3}, 2)),
        mean(addHostVariable("mean", {32}, 3)),
        scale(addHostVariable("scale", {32}, 4)),
        shift(addHostVariable("shift", {32}, 5)),
        given(addHostVariable("given", {32}, 6)),
        y(addHostVariable("y", {2, 32, 4, 4}, 0)) {
    product = addTemporary("product", {2, 32, 4, 4});
    const Tensor scaled = addTemporary("scaled", {2, 32, 4, 4});
    add("convolution",
        {{"strides", Ints{1, 1}},
         {"padLower", Ints{1, 1}},
         {"padUpper", Ints{1, 1}},
         {"dilations", Ints{1, 1}},
         {"groups", std::int64_t{1}},
         {"bias", std::int64_t{0}},
         {"activation", std::string()}},
        {x, w}, {product});
    if (hasBias) {
      elementwise("a+b", {product, overImages(given)}, product);
    }
    elementwise(
        "(a-b)*c+d",
        {product, overImages(mean), overImages(scale), overImages(shift)},
        scaled);
    elementwise("relu(a)", {scaled}, y);
  }

  static Tensor overImages(const Tensor &perChannel) {
    return perChannel.reshape({1, 32, 1, 1})
        .broadcast(2, 0)
        .broadcast(4, 2)
        .broadcast(4, 3);
  }

  // The kinds of what is left after the pass and those around it.
  std::vector<std::string_view> folded() const {
    ValueProgram values = lifted(*this);
    fuseEpilogues(values);
    foldChannelFactors(values);
    verify(values, "foldChannelFactors");
    fuseEpilogues(values);
    std::vector<std::string_view> kinds;
    for (const Node &node : values.body.nodes) {
      kinds.push_back(node.kind->name);
    }
    return kinds;
  }

  Tensor x, w, mean, scale, shift, given, y, product;
};

void writeWeights(Engine &engine) {
  std::vector<float> weights(32 * 32 * 9);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i % 7) - 3;
  }
  engine.writeTensor("w/write", weights.data(),
                     weights.data() + weights.size());
}

TEST(PassFoldChannelFactors, ScalesWeightsInPlaceOfResults) {
  const std::vector<std::string_view> expected = {"elementwise", "elementwise",
                                                  "convolution"};
  EXPECT_EQ(ScaledConvolution(false).folded(), expected);
  EXPECT_EQ(ScaledConvolution(true).folded(), expected);
}

TEST(PassFoldChannelFactors, LeavesWhatElseIsReadOrChanges) {
  ScaledConvolution isRead;
  const Tensor z = isRead.addHostVariable("z", {2, 32, 4, 4}, 0);
  isRead.elementwise("a*2", {isRead.product}, z);
  EXPECT_EQ(isRead.folded()[0], "convolution");

  ScaledConvolution isChanged;
  isChanged.elementwise("a+1", {isChanged.scale}, isChanged.scale);
  EXPECT_EQ(isChanged.folded()[0], "convolution");
}

TEST(SplitConstants, TakesOutWhatVariablesGiveThatStay) {
  ValueProgram rest = lifted(ScaledConvolution());
  PipelineOptions options;
  runPasses(rest, options);
  const std::size_t before = rest.body.nodes.size();
  std::size_t bytes = 0;
  const auto part = splitConstants(rest, [&](std::size_t size) {
    bytes += size;
    return internal::VariableId(100);
  });
  ASSERT_TRUE(part);
  EXPECT_EQ(part->program.body.nodes.size() + rest.body.nodes.size(), before);
  // The scaled weights, the bias and x in blocks of channels.
  EXPECT_EQ(bytes, (32 * 32 * 9 + 32 + 2 * 32 * 4 * 4) * sizeof(float));
  for (const Node &node : rest.body.nodes) {
    EXPECT_NE(node.kind, &kernels::findKind("elementwise"));
  }
}

TEST(SplitConstants, LeavesWhatOtherStretchesChange) {
  ValueProgram program = lifted(ScaledConvolution());
  for (Binding &binding : program.bindings) {
    binding.isChangedElsewhere = true;
  }
  runPasses(program, {});
  EXPECT_FALSE(splitConstants(
      program, [](std::size_t) { return internal::VariableId(100); }));
}

TEST(EngineConstants, FollowWhatTheHostWrites) {
  for (const bool hasBias : {false, true}) {
    const ScaledConvolution p(hasBias);
    const auto runTwice = [](Engine &engine) {
      engine.run(0);
      writeWeights(engine);
    };
    const Values expected = p.run("reference", 1, runTwice);
    EXPECT_NE(expected.back(), p.run("reference", 1).back());
    for (const unsigned threads : {1U, 2U}) {
      EXPECT_EQ(p.run("fast", threads, runTwice), expected);
    }
  }
}

TEST(EngineConstants, FollowWhatOtherProgramsWriteAndLoads) {
  Values results[2][3];
  for (const bool isFast : {false, true}) {
    ScaledConvolution p;
    const program::Sequence infer = p.program;
    p.program = program::Sequence();
    p.elementwise("a+1", {p.w}, p.w);
    const test::Environment executor("ASPEN_EXECUTOR",
                                     isFast ? "fast" : "reference");
    Engine engine(p.graph, {infer, p.program});
    engine.load(p.device());
    engine.run(0);
    results[isFast][0] = p.read(engine);
    engine.run(1);
    engine.run(0);
    results[isFast][1] = p.read(engine);
    engine.load(p.device());
    engine.run(0);
    results[isFast][2] = p.read(engine);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results[1][i], results[0][i]) << i;
  }
  EXPECT_NE(results[1][1], results[1][0]);
  EXPECT_EQ(results[1][2], results[1][0]);
}

// y = x * w^T three times, of an x that changes; 37 columns fill no vector.
class RepeatedProduct : public EngineProgram {
public:
  RepeatedProduct()
      : x(addHostVariable("x", {64, 40}, 1)),
        w(addHostVariable("w", {37, 40}, 2)),
        y(addHostVariable("y", {64, 37}, 3)) {
    repeat(3, [&] {
      matmul(x, w.dimShuffle({1, 0}), y);
      elementwise("1-a", {x}, x);
    });
  }

  Tensor x, w, y;
};

TEST(EngineConstants, HoldTheWeightsOfProductsAsTheirKernelsReadThem) {
  const RepeatedProduct p;
  ValueProgram values = lifted(p);
  runPasses(values, {});
  std::size_t bytes = 0;
  EXPECT_TRUE(splitConstants(values, [&](std::size_t size) {
    bytes += size;
    return internal::VariableId(100);
  }));
  EXPECT_EQ(bytes, 40 * 48 * sizeof(float));

  const auto runAndWrite = [](Engine &engine) {
    engine.run(0);
    const std::vector<float> weights(37 * 40, 2);
    engine.writeTensor("w/write", weights.data(),
                       weights.data() + weights.size());
  };
  const Values expected = p.run("reference", 1, runAndWrite);
  EXPECT_NE(expected.back(), p.run("reference", 1).back());
  for (const unsigned threads : {1U, 2U}) {
    EXPECT_EQ(p.run("fast", threads, runAndWrite), expected);
  }
}

// y = x * w three times, where two variables make up w and x changes.
class ProductByParts : public EngineProgram {
public:
  explicit ProductByParts(bool isHalfRead = false)
      : x(addHostVariable("x", {64, 40}, 1)),
        upper(addHostVariable("upper", {37, 16}, 2)),
        lower(addHostVariable("lower", {37, 24}, 3)),
        y(addHostVariable("y", {64, 37}, 4)) {
    const Tensor w = addTemporary("w", {37, 40});
    program.add(program::Copy(upper, w.slice(0, 16, 1)));
    if (isHalfRead) {
      elementwise("a*2", {w.slice(0, 16, 1)}, upper);
    }
    program.add(program::Copy(lower, w.slice(16, 40, 1)));
    repeat(3, [&] {
      matmul(x, w.dimShuffle({1, 0}), y);
      elementwise("1-a", {x}, x);
    });
  }

  std::size_t keptBytes() const {
    ValueProgram values = lifted(*this);
    runPasses(values, {});
    std::size_t bytes = 0;
    splitConstants(values, [&](std::size_t size) {
      bytes += size;
      return internal::VariableId(100);
    });
    verify(values, "splitConstants");
    return bytes;
  }

  Tensor x, upper, lower, y;
};

TEST(EngineConstants, HoldWhatIsPutTogetherOfSeveral) {
  EXPECT_EQ(ProductByParts().keptBytes(), 40 * 48 * sizeof(float));
  EXPECT_EQ(ProductByParts(true).keptBytes(), 0u);
  const auto runAndWrite = [](Engine &engine) {
    engine.run(0);
    const std::vector<float> weights(37 * 24, 2);
    engine.writeTensor("lower/write", weights.data(),
                       weights.data() + weights.size());
  };
  for (const bool isHalfRead : {false, true}) {
    const ProductByParts p(isHalfRead);
    const Values expected = p.run("reference", 1, runAndWrite);
    EXPECT_NE(expected.back(), p.run("reference", 1).back());
    for (const unsigned threads : {1U, 2U}) {
      EXPECT_EQ(p.run("fast", threads, runAndWrite), expected);
    }
  }
}

TEST(EngineConstants, DoNotReadWhatStaysInTheProgram) {
  EngineProgram p;
  const Tensor a = p.addHostVariable("a", {4, 4}, 1);
  const Tensor b = p.addHostVariable("b", {4, 4}, 2);
  const Tensor x = p.addHostVariable("x", {4}, 3);
  const Tensor product = p.addTemporary("product", {4, 4});
  const Tensor sums = p.addTemporary("sums", {4});
  p.matmul(a, b, product);
  p.program.add(program::PrintTensor("product", product));
  p.sum(product, 1, sums);
  p.elementwise("a+b", {sums, x}, x);
  std::ostringstream printed[2];
  const auto runIn = [&](const char *executor, std::ostringstream &text) {
    return p.run(executor, 1,
                 [&](Engine &engine) { engine.setPrintTensorStream(text); });
  };
  EXPECT_EQ(runIn("fast", printed[0]), runIn("reference", printed[1]));
  EXPECT_EQ(printed[0].str(), printed[1].str());
}

// The graph has their values; programs read the weights in blocks.
TEST(EngineConstants, AreStoredOnlyAsProgramsReadThem) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {2, 32, 4, 4}, 1);
  const Tensor y = p.addHostVariable("y", {2, 32, 4, 4}, 0);
  std::vector<float> weights(32 * 32 * 9);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i % 5) - 2;
  }
  const Tensor w =
      p.graph.addConstant<float>(FLOAT, {32, 32, 3, 3}, weights, "w");
  p.graph.setTileMapping(w, 0);
  p.graph.createHostRead("w", w);
  p.elementwise("a+1", {x}, x);
  p.add("convolution",
        {{"strides", Ints{1, 1}},
         {"padLower", Ints{1, 1}},
         {"padUpper", Ints{1, 1}},
         {"dilations", Ints{1, 1}},
         {"groups", std::int64_t{1}},
         {"bias", std::int64_t{0}},
         {"activation", std::string()}},
        {x, w}, {y});
  std::vector<float> found(weights.size());
  const auto readWeights = [&](Engine &engine) {
    engine.run(0);
    engine.readTensor("w", found.data(), found.data() + found.size());
  };
  EXPECT_EQ(p.run("fast", 2, readWeights), p.run("reference", 1, readWeights));
  EXPECT_EQ(found, weights);

  const internal::GraphData &graph = internal::graphData(p.graph);
  engine::HostServices host(graph, engine::resolveOptions({}));
  const engine::FastExecutor executor(graph, {internal::programNode(p.program)},
                                      host, 1, true);
  EXPECT_EQ(executor.variables().bytes(),
            (2 * x.numElements() + weights.size()) * sizeof(float));
}

} // namespace
