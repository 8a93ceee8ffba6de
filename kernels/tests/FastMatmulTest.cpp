// Fast matrix products against the reference, and the ways in which one may be
// computed against the obvious loops.
#include "KernelTesting.hpp"

#include "fast/Product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace kernels::testing {
namespace {

constexpr auto F = DataType::Float;

// In the list of the kind.
constexpr std::size_t packedKernel = 0, plainKernel = 1;

Attributes matmulOf(bool bias = false, std::string activation = "") {
  return {{"bias", std::int64_t(bias)}, {"activation", std::move(activation)}};
}

TEST(FastMatmul, MatchesOnSizesAndTransposes) {
  const std::int64_t sizes[][3] = {{1, 1, 1},     {16, 972, 100}, {3, 5, 7},
                                   {65, 17, 130}, {1, 9, 4},      {9, 4, 1},
                                   {40, 10, 70},  {3, 300, 20},   {90, 33, 10}};
  for (const auto &[m, k, n] : sizes) {
    for (const bool transposesA : {false, true}) {
      for (const bool transposesB : {false, true}) {
        expectFastMatchesReference(
            {"matmul",
             matmulOf(),
             {{{F, {m, k}}, transposesA ? Strides{1, m} : Strides{k, 1}, {}},
              {{F, {k, n}}, transposesB ? Strides{1, k} : Strides{n, 1}, {}}}},
            1e-4);
      }
    }
  }
}

TEST(FastMatmul, AddsBiasAndActivation) {
  expectFastMatchesReference({"matmul",
                              matmulOf(true, "RELU"),
                              {{{F, {16, 100}}, {}, {}},
                               {{F, {100, 10}}, {1, 100}, {}},
                               {{F, {10}}, {}, {}}}},
                             1e-4);
  Call sharded("matmul", matmulOf(true, "RELU"),
               {{{F, {8, 300}}, {}, {}},
                {{F, {300, 1000}}, {}, {}},
                {{F, {1000}}, {}, {}}});
  EXPECT_GT(sharded.taskCount(plainKernel), 1u);
  expectFastMatchesReference(sharded, 1e-4);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(true),
       {{{F, {4, 6}}, {}, {}}, {{F, {6, 5}}, {}, {}}, {{F, {5}}, {0}, {}}}},
      1e-5);
}

// HALF through copies: where a transposed operand is dense its copy lies as it
// does, where it is not the copy is row-major.
TEST(FastMatmul, TakesHalfOperandsWhateverTheirStrides) {
  constexpr auto H = DataType::Half;
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{H, {40, 33}}, {1, 40}, {}}, {{H, {33, 20}}, {1, 33}, {}}}},
      2e-3);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{H, {3, 8, 9}}, {0, 100, 2}, {}}, {{H, {3, 9, 5}}, {45, 1, 9}, {}}}},
      2e-3);
  Call strided("matmul", matmulOf(),
               {{{H, {6, 7}}, {40, 3}, {}}, {{H, {7, 5}}, {2, 30}, {}}});
  strided.outputStrides(0, {2, 20});
  expectFastMatchesReference(strided, 2e-3);
  auto toFloat = matmulOf();
  toFloat.set("outType", static_cast<std::int64_t>(F));
  expectFastMatchesReference(
      {"matmul", toFloat, {{{H, {6, 70}}, {}, {}}, {{H, {70, 5}}, {}, {}}}},
      1e-5);
}

// Each part has six of twelve groups, of which the last is not the farthest.
TEST(FastMatmul, TakesTwoDimensionsOfGroups) {
  Call call("matmul", matmulOf(),
            {{{F, {3, 4, 64, 32}}, {32, 96, 384, 1}, {}},
             {{F, {3, 4, 32, 64}}, {3000, 0, 1, 32}, {}}});
  call.outputStrides(0, {64, 192, 768, 1});
  EXPECT_GT(call.taskCount(plainKernel), 1U);
  expectFastMatchesReference(call, 1e-5);
  expectFastMatchesReference({"matmul",
                              matmulOf(true, "RELU"),
                              {{{F, {16, 8, 40, 32}}, {}, {}},
                               {{F, {16, 8, 32, 40}}, {}, {}},
                               {{F, {40}}, {}, {}}}},
                             1e-4);
}

TEST(FastMatmul, TakesGroupsAndOddStrides) {
  expectFastMatchesReference({"matmul",
                              matmulOf(true, "RELU"),
                              {{{F, {2, 8, 9}}, {}, {}},
                               {{F, {2, 9, 5}}, {}, {}},
                               {{F, {5}}, {}, {}}}},
                             1e-5);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{F, {3, 8, 9}}, {}, {}}, {{F, {3, 9, 5}}, {45, 1, 9}, {}}}},
      1e-5);
  expectFastMatchesReference(
      {"matmul",
       matmulOf(),
       {{{F, {3, 8, 9}}, {0, 9, 1}, {}}, {{F, {3, 9, 5}}, {}, {}}}},
      1e-5);
  Call strided("matmul", matmulOf(),
               {{{F, {6, 7}}, {40, 3}, {}}, {{F, {7, 5}}, {2, 30}, {}}});
  strided.outputStrides(0, {1, 6});
  expectFastMatchesReference(strided, 1e-5);
}

// y = x * b + bias of an x whose rows are `apart` elements apart.
Call keptProduct(std::int64_t rows, std::int64_t depth, std::int64_t columns,
                 std::int64_t apart) {
  Call call("matmul", matmulOf(true, "RELU"),
            {{{F, {rows, depth}}, {apart, 1}, {}},
             {{F, {depth, columns}}, {1, depth}, {}},
             {{F, {columns}}, {}, {}}});
  return call.kept(1);
}

// Rows that fill no tile, columns that fill no vector and several panels, a
// depth of several blocks.
TEST(FastMatmul, TakesWeightsThatStayInColumnsOfSixteen) {
  const std::int64_t sizes[][3] = {{3, 2, 1},     {9, 7, 15},    {13, 40, 16},
                                   {31, 20, 49},  {33, 5, 100},  {64, 100, 97},
                                   {17, 1100, 3}, {34, 1030, 50}};
  for (const auto &[rows, depth, columns] : sizes) {
    Call call = keptProduct(rows, depth, columns, depth + 3);
    ASSERT_TRUE(call.isTaken(packedKernel));
    expectFastMatchesReference(call, 1e-4);
    call.outputStrides(0, {columns + 5, 1});
    expectFastMatchesReference(call, 1e-4);
  }
  EXPECT_FALSE(keptProduct(1, 70, 40, 70).isTaken(packedKernel));
  Call rowMajor("matmul", matmulOf(),
                {{{F, {64, 10}}, {}, {}}, {{F, {10, 20}}, {}, {}}});
  EXPECT_FALSE(rowMajor.kept(1).isTaken(packedKernel));
  Call transposed = keptProduct(64, 10, 20, 10);
  transposed.outputStrides(0, {1, 64});
  EXPECT_FALSE(transposed.isTaken(packedKernel));
}

// Equal parts of rows, or of columns where there are few rows.
TEST(FastMatmul, CutsProductsByWeightsThatStayIntoEqualParts) {
  EXPECT_EQ(keptProduct(64, 784, 256, 784).taskCount(packedKernel), 4u);
  EXPECT_EQ(keptProduct(48, 256, 256, 256).taskCount(packedKernel), 2u);
  EXPECT_EQ(keptProduct(16, 784, 256, 784).taskCount(packedKernel), 4u);
}

// Random matrices with room between their elements, as the strides say.
struct Storage {
  explicit Storage(const ProductShape &s)
      : a(1 + (s.rows - 1) * s.aRow + (s.depth - 1) * s.aDepth),
        b(1 + (s.depth - 1) * s.bDepth + (s.columns - 1) * s.bColumn),
        y(1 + (s.rows - 1) * s.yRow + (s.columns - 1) * s.yColumn),
        bias(2 * s.columns) {
    std::minstd_rand engine;
    std::uniform_real_distribution<float> values(-1, 1);
    for (auto *data : {&a, &b, &bias}) {
      std::generate(data->begin(), data->end(), [&] { return values(engine); });
    }
  }
  std::vector<float> a, b, y, bias;
};

// With a bias for every second element of its array, and the activation.
double largestError(const ProductShape &s) {
  Storage data(s);
  const Product product(s);
  std::vector<std::byte> workspace(product.workspaceBytes());
  product.run(
      {data.a.data(), data.b.data(), data.y.data(), data.bias.data(), 2, true},
      workspace.data());
  double worst = 0;
  for (std::int64_t row = 0; row < s.rows; ++row) {
    for (std::int64_t column = 0; column < s.columns; ++column) {
      double sum = data.bias[2 * column];
      for (std::int64_t k = 0; k < s.depth; ++k) {
        sum += double(data.a[row * s.aRow + k * s.aDepth]) *
               data.b[k * s.bDepth + column * s.bColumn];
      }
      const double y = data.y[row * s.yRow + column * s.yColumn];
      worst = std::max(worst, std::abs(y - std::max(sum, 0.0)));
    }
  }
  return worst;
}

TEST(FastProduct, AgreesForAllStrides) {
  const std::int64_t sizes[][3] = {{40, 70, 20}, {3, 150, 50},  {150, 3, 50},
                                   {17, 17, 1},  {50, 20, 100}, {7, 49, 33}};
  for (const auto &[m, n, k] : sizes) {
    const ProductShape asIn[] = {{m, n, k, k, 1, n, 1, n, 1},
                                 {m, n, k, 1, m, 1, k, 1, m},
                                 {m, n, k, k, 1, 1, k, n, 1},
                                 {m, n, k, 1, m, n, 1, n, 1},
                                 {m, n, k, k, 1, 1, k, 1, m},
                                 {m, n, k, k + 3, 1, n + 5, 1, n + 7, 1},
                                 {m, n, k, 2 * k, 2, 2 * n, 2, 3 * n, 3}};
    for (const auto &shape : asIn) {
      EXPECT_LT(largestError(shape), 2e-5) << m << " " << n << " " << k;
    }
  }
}

// Blocks of the depth and of columns, through the workspace.
TEST(FastProduct, AgreesWhereTheSecondMatrixIsLarge) {
  constexpr std::int64_t m = 100, n = 500, k = 1100;
  EXPECT_LT(largestError({m, n, k, k, 1, n, 1, n, 1}), 1e-4);
  EXPECT_LT(largestError({m, n, k, k, 1, 1, k, n, 1}), 1e-4);
  EXPECT_LT(largestError({n, m, k, 1, n, 1, k, 1, n}), 1e-4);
}

// Columns of the first matrix are copied tile by tile, rows of the second that
// are pages apart panel by panel; the last of each is not whole.
TEST(FastProduct, AgreesWhereBothMatricesAreRearranged) {
  constexpr std::int64_t m = 141, n = 150, k = 600, far = 1024;
  EXPECT_LT(largestError({m, n, k, 1, m, n, 1, n, 1}), 1e-4);
  EXPECT_LT(largestError({m, n, k, 1, far, far, 1, n, 1}), 1e-4);
  EXPECT_LT(largestError({m, n, k, 1, m, 1, k, n, 1}), 1e-4);
  EXPECT_LT(largestError({n, m, k, far, 1, 1, k, 1, n}), 1e-4);
}

TEST(FastProduct, AgreesWhereAShallowResultIsLarge) {
  constexpr std::int64_t m = 301, n = 501;
  for (const std::int64_t k : {1, 3}) {
    EXPECT_LT(largestError({m, n, k, k, 1, n, 1, n, 1}), 1e-5);
    EXPECT_LT(largestError({m, n, k, 1, m, 1, k, 1, m}), 1e-5);
  }
}

// Each part would take all of a large second matrix: parts are squares.
TEST(FastMatmul, CutsLargeProductsBothWays) {
  constexpr std::int64_t size = 64, depth = 33000;
  const Call call("matmul", matmulOf(),
                  {{{F, {size, depth}}, {}, {}}, {{F, {depth, size}}, {}, {}}});
  EXPECT_EQ(call.taskCount(plainKernel), 4u);
  const auto &a = call.inputValues(0);
  const auto &b = call.inputValues(1);
  const auto y = call.fast(plainKernel)[0];
  for (std::int64_t row = 0; row < size; row += 5) {
    for (std::int64_t column = 0; column < size; column += 3) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        sum += a[row * depth + k] * b[k * size + column];
      }
      EXPECT_NEAR(y[row * size + column], sum, 1e-3);
    }
  }
}

} // namespace
} // namespace kernels::testing
