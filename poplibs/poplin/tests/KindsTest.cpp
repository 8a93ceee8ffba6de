// Matrix products and convolutions against naive loops.
#include <poplin/internal/Kinds.hpp>

#include "../../testing/TestProgram.hpp"

#include <poplar/internal/Access.hpp>
#include <poputil/TileMapping.hpp>

#include <gtest/gtest.h>

namespace {

using kernels::Attributes;
using Ints = Attributes::Ints;

const Attributes plainMatMul{{"bias", std::int64_t{0}},
                             {"activation", std::string()}};

TEST(MatMulKind, MatchesTheDefinition) {
  constexpr std::size_t m = 5, k = 7, n = 3;
  TestProgram p;
  const auto a = TestProgram::pattern(m * k);
  const auto b = TestProgram::pattern(k * n, 2);
  const auto y = poplin::internal::matMul(
      p.graph, plainMatMul, {p.input({m, k}, a), p.input({k, n}, b)}, p.prog,
      "mm", {});
  std::vector<float> expected(m * n, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < k; ++l) {
        expected[i * n + j] += a[i * k + l] * b[l * n + j];
      }
    }
  }
  EXPECT_VALUES_NEAR(p.run<float>(y.front()), expected, 1e-5);
}

TEST(MatMulKind, PlansConvolveAndReduceOnTheOperandsIpu) {
  poplar::Graph graph(poplar::Target::createIPUTarget(2, 1472, "ipu2"));
  const auto a = graph.addVariable(poplar::FLOAT, {64, 512}, "a");
  const auto b = graph.addVariable(poplar::FLOAT, {512, 64}, "b");
  graph.setTileMapping(a, 1472);
  graph.setTileMapping(b, 1473);
  poplar::program::Sequence prog;
  const auto y =
      poplin::internal::matMul(graph, plainMatMul, {a, b}, prog, "mm", {});
  const auto &data = poplar::internal::graphData(graph);
  const auto &phases = data.computeSets[0].groups[0].phases;
  ASSERT_GE(phases.size(), 2u);
  EXPECT_EQ(phases[0].name, "Conv_1x1/Convolve");
  EXPECT_EQ(phases[1].name, "Conv_1x1/Reduce");
  std::uint64_t flops = 0;
  for (const auto &run : phases[0].runs) {
    EXPECT_GE(run.firstTile, 1472u);
    for (const auto &vertex : run.vertices) {
      EXPECT_EQ(vertex.type,
                "poplin::ConvPartial1x1Out<float,float,true,false>");
      flops += vertex.flops * run.tileCount;
    }
  }
  EXPECT_GE(flops, 2u * 64 * 512 * 64);
  const auto mapping = graph.getTileMapping(y.front());
  EXPECT_TRUE(mapping[0].empty());
  EXPECT_FALSE(mapping[1472].empty());
}

// The phases of a [4, k] times b [k, n], perhaps a view of its transpose, with
// blocks of 8 x 8 channels on so many tiles.
std::vector<poplar::internal::GroupPhase>
phasesOf(std::size_t k, std::size_t n, bool isTransposed, unsigned tiles) {
  poplar::Graph graph(poplar::Target::createIPUTarget(1, tiles, "ipu2"));
  const auto a = graph.addVariable(poplar::FLOAT, {4, k}, "a");
  auto b = graph.addVariable(
      poplar::FLOAT, isTransposed ? std::vector{n, k} : std::vector{k, n}, "b");
  poputil::mapTensorLinearly(graph, a);
  poputil::mapTensorLinearly(graph, b);
  b = isTransposed ? b.transpose() : b;
  poplar::program::Sequence prog;
  const char *plan = R"({"method": {"type": "AMP"}, "inChansPerGroup": 8,
                         "partialChansPerGroup": 8,
                         "0": {"transform": {"swapOperands": false}}})";
  poplin::internal::matMul(graph, plainMatMul, {a, b}, prog, "mm",
                           {{"planConstraints", plan}});
  return poplar::internal::graphData(graph).computeSets[0].groups[0].phases;
}

TEST(MatMulKind, RearrangesRowsOfABlockOfChannels) {
  // A tile takes 512 x 16 / 4 elements: 8 channels with 256 of a row each.
  const auto wide = phasesOf(512, 16, true, 4);
  EXPECT_EQ(wide[0].name, "Conv_1x1/Transpose");
  for (const auto &run : wide[0].runs) {
    EXPECT_EQ(run.bytesIn, 4u * 2048);
    EXPECT_EQ(run.fragmentsIn, 8u);
  }
  // 16 x 512 / 4 elements are 128 whole rows of 16.
  const auto narrow = phasesOf(16, 512, true, 4);
  EXPECT_EQ(narrow[0].name, "Conv_1x1/Transpose");
  EXPECT_EQ(narrow[0].runs[0].fragmentsIn, 128u);
}

TEST(MatMulKind, NeedsNoBuffersForWhatIsOnItsTile) {
  // On one tile: 4 x 8 partials beside the operands.
  const auto plain = phasesOf(16, 8, false, 1);
  EXPECT_EQ(plain[0].name, "Conv_1x1/Convolve");
  EXPECT_EQ(plain[0].runs[0].temporaryBytes, 4u * 4 * 8);
  // And the 16 x 8 weights, if they are made for this product.
  const auto turned = phasesOf(16, 8, true, 1);
  EXPECT_EQ(turned[1].name, "Conv_1x1/Convolve");
  EXPECT_EQ(turned[1].runs[0].temporaryBytes, 4u * (4 * 8 + 16 * 8));
}

TEST(MatMulKind, RejectsUnknownOptions) {
  TestProgram p;
  const auto a = p.input({1, 1}, {1});
  EXPECT_THROW(poplin::internal::matMul(p.graph, plainMatMul, {a, a}, p.prog,
                                        "mm", {{"partialsType", "double"}}),
               poplar::invalid_option);
}

struct Conv {
  std::size_t n = 2, c = 3, h = 6, w = 5, o = 4, k = 3;
  std::size_t stride = 2, pad = 1;
  std::size_t oh() const { return (h + 2 * pad - k) / stride + 1; }
  std::size_t ow() const { return (w + 2 * pad - k) / stride + 1; }

  Attributes attributes() const {
    const auto s = static_cast<std::int64_t>(stride);
    const auto p = static_cast<std::int64_t>(pad);
    return {{"strides", Ints{s, s}},
            {"padLower", Ints{p, p}},
            {"padUpper", Ints{p, p}},
            {"dilations", Ints{1, 1}},
            {"groups", std::int64_t{1}}};
  }

  // Calls f(x index, w index, y index) for every product.
  template <typename F> void forEachProduct(F &&f) const {
    for (std::size_t b = 0; b < n; ++b)
      for (std::size_t q = 0; q < o; ++q)
        for (std::size_t r = 0; r < c; ++r)
          for (std::size_t i = 0; i < oh(); ++i)
            for (std::size_t j = 0; j < ow(); ++j)
              for (std::size_t u = 0; u < k; ++u)
                for (std::size_t v = 0; v < k; ++v) {
                  const auto y = i * stride + u, x = j * stride + v;
                  if (y < pad || x < pad || y >= h + pad || x >= w + pad)
                    continue;
                  f(((b * c + r) * h + y - pad) * w + x - pad,
                    ((q * c + r) * k + u) * k + v,
                    ((b * o + q) * oh() + i) * ow() + j);
                }
  }
};

TEST(ConvolutionKind, MatchesTheDefinition) {
  const Conv conv;
  TestProgram p;
  const auto x = TestProgram::pattern(conv.n * conv.c * conv.h * conv.w);
  const auto w = TestProgram::pattern(conv.o * conv.c * 9, 0.5f);
  const auto bias = TestProgram::pattern(conv.o);
  auto attributes = conv.attributes();
  attributes.set("bias", std::int64_t{1});
  attributes.set("activation", std::string("RELU"));
  const auto y = poplin::internal::convolution(
      p.graph, attributes,
      {p.input({conv.n, conv.c, conv.h, conv.w}, x),
       p.input({conv.o, conv.c, 3, 3}, w), p.input({conv.o}, bias)},
      p.prog, "conv", {});
  std::vector<float> expected(conv.n * conv.o * conv.oh() * conv.ow());
  conv.forEachProduct([&](std::size_t xi, std::size_t wi, std::size_t yi) {
    expected[yi] += x[xi] * w[wi];
  });
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto channel = i / (conv.oh() * conv.ow()) % conv.o;
    expected[i] = std::max(0.0f, expected[i] + bias[channel]);
  }
  EXPECT_VALUES_NEAR(p.run<float>(y.front()), expected, 1e-4);
}

TEST(ConvolutionKind, GradientsAreTransposes) {
  const Conv conv;
  TestProgram p;
  const auto x = TestProgram::pattern(conv.n * conv.c * conv.h * conv.w);
  const auto w = TestProgram::pattern(conv.o * conv.c * 9, 0.5f);
  const auto dy =
      TestProgram::pattern(conv.n * conv.o * conv.oh() * conv.ow(), 3);
  const auto xTensor = p.input({conv.n, conv.c, conv.h, conv.w}, x);
  const auto dyTensor = p.input({conv.n, conv.o, conv.oh(), conv.ow()}, dy);
  auto attributes = conv.attributes();
  attributes.set("inputShape", Ints{2, 3, 6, 5});
  const auto dx = poplin::internal::convolutionDataGrad(
      p.graph, attributes, {dyTensor, p.input({conv.o, conv.c, 3, 3}, w)},
      p.prog, "bwd", {});
  attributes.set("kernelShape", Ints{3, 3});
  const auto dw = poplin::internal::convolutionWeightGrad(
      p.graph, attributes, {dyTensor, xTensor}, p.prog, "wu", {});
  std::vector<float> expected(x.size() + w.size());
  conv.forEachProduct([&](std::size_t xi, std::size_t wi, std::size_t yi) {
    expected[xi] += dy[yi] * w[wi];
    expected[x.size() + wi] += dy[yi] * x[xi];
  });
  EXPECT_VALUES_NEAR(
      p.run<float>(concat(dx.front().flatten(), dw.front().flatten())),
      expected, 2e-4);
}

} // namespace
