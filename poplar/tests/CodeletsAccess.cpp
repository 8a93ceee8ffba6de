// Every way in which codelets use their fields, against values worked out by
// hand; half against the host's conversions.
#include "CodeletSource.hpp"

#include <support/Half.hpp>

#include <cmath>
#include <numeric>
#include <random>

namespace {

using poplar::internal::HostSpan;

class CodeletsAccess : public CodeletTest {};

TEST_F(CodeletsAccess, ScalarEdges) {
  const auto file = compile(R"(
#include <cmath>
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Scalars : Vertex {
  Input<float> x, y;
  Input<unsigned> n;
  Output<float> sum;
  Output<Vector<float>> out;
  InOut<unsigned> count;
  InOut<int> a, b;
  bool compute() {
    *sum = x + y;
    float best = x;
    out[0] = x;
    out[1] = best - y;
    out[2] = -x * 2.0f;
    out[3] = std::sqrt(y);
    out[4] = x < y ? 1 : 0;
    out[5] = (x == 2.0f) + (y != x) + (1 <= x) + (x >= y) + (y > 3.f);
    for (unsigned i = 0; i < n; ++i)
      count += 1;
    out[6] = count % 4u + (count & 1) + (count << 2);
    count--;
    ++count;
    a = b;
    b = 9;
    b *= a;
    b |= 1;
    if (count)
      a <<= 1;
    return x && !(n < 1u);
  }
};)");
  VertexObjects objects(typeOf(file, "Scalars"));
  float x = 2, y = 9, sum = 0;
  unsigned n = 3, count = 10;
  int a = 100, b = 4;
  std::vector<float> out(7);
  objects.set("x", &x);
  objects.set("y", &y);
  objects.set("n", &n);
  objects.set("sum", &sum);
  objects.setVector("out", out);
  objects.set("count", &count);
  objects.set("a", &a);
  objects.set("b", &b);
  EXPECT_TRUE(objects.run());
  EXPECT_EQ(sum, 11);
  EXPECT_EQ(count, 13u);
  EXPECT_EQ(a, 8);  // 4, then shifted
  EXPECT_EQ(b, 37); // 9 * 4 | 1
  EXPECT_EQ(out, (std::vector<float>{2, -7, -4, 3, 1, 4, 1 + 1 + 52}));
}

TEST_F(CodeletsAccess, VectorsAndLists) {
  const auto file = compile(R"(
#include <algorithm>
#include <cstring>
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Vectors : Vertex {
  Input<Vector<float>> in;
  Output<Vector<float, VectorLayout::ONE_PTR>> out;
  Vector<unsigned> state;
  const float table[2];
  Vector<Input<Vector<float>>> rows;
  Vector<Output<float>> results;
  InOut<VectorList<int, VectorListLayout::DELTANELEMENTS>> list;
  bool compute() {
    std::memcpy(&out[0], &in[0], in.size() * sizeof(float));
    float *raw = &out[in->size()];
    raw[0] = *std::max_element(in.begin(), in.end());
    raw[1] = in.front() + in.back() + (*in)[1];
    raw[2] = state[0] + state.size() + table[1];
    for (unsigned i = 0; i < rows.size(); ++i) {
      results[i] = 0;
      for (float value : rows[i])
        results[i] += value * rows[i].size();
    }
    for (auto &item : list)
      for (unsigned j = 0; j < item.size(); ++j)
        item[j] += 10 * j;
    return rows[1][0] == 5 && list.size() == 2 && list[1].size() == 1;
  }
};)");
  VertexObjects objects(typeOf(file, "Vectors"));
  std::vector<float> in = {3, 8, 1}, out(6), row0 = {1, 2}, row1 = {5};
  std::vector<unsigned> state = {7, 1};
  float results[2];
  std::vector<float *> resultPointers = {&results[0], &results[1]};
  std::vector<HostSpan> rows = {{row0.data(), 2}, {row1.data(), 1}};
  std::vector<int> item0 = {1, 2, 3}, item1 = {4};
  std::vector<HostSpan> list = {{item0.data(), 3}, {item1.data(), 1}};
  objects.setVector("in", in);
  objects.setVector("out", out);
  objects.setVector("state", state);
  objects.set("table", std::array<float, 2>{0.25f, 0.5f});
  objects.setVector("rows", rows);
  objects.setVector("results", resultPointers);
  objects.setVector("list", list);
  EXPECT_TRUE(objects.run());
  EXPECT_EQ(out, (std::vector<float>{3, 8, 1, 8, 12, 9.5f}));
  EXPECT_EQ(results[0], 6);
  EXPECT_EQ(results[1], 5);
  EXPECT_EQ(item0, (std::vector<int>{1, 12, 23}));
  EXPECT_EQ(item1, (std::vector<int>{4}));
}

TEST_F(CodeletsAccess, SumsAreTakenInOrderWithoutFusedOperations) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
struct Dot : poplar::Vertex {
  poplar::Input<poplar::Vector<float>> a, b;
  poplar::Output<float> out;
  bool compute() {
    float sum = 0;
    for (unsigned i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    *out = sum;
    return true;
  }
};)");
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> a(1003), b(1003);
  float expected = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = values(random);
    b[i] = values(random);
    const volatile float product = a[i] * b[i]; // rounded on its own
    expected += product;
  }
  VertexObjects objects(typeOf(file, "Dot"));
  float sum = 0;
  objects.setVector("a", a);
  objects.setVector("b", b);
  objects.set("out", &sum);
  EXPECT_TRUE(objects.run());
  EXPECT_EQ(sum, expected);
}

constexpr const char *halfSource = R"(
#include <limits>
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Arithmetic : Vertex {
  Input<Vector<half>> a, b;
  Vector<Output<Vector<half>>> out;
  bool compute() {
    for (unsigned i = 0; i < a.size(); ++i) {
      out[0][i] = a[i] + b[i];
      out[1][i] = a[i] - b[i];
      out[2][i] = a[i] * b[i];
      out[3][i] = a[i] / b[i];
      out[4][i] = float(a[i]);
      out[5][i] = double(a[i]) * 1.0009765625;
    }
    return true;
  }
};
struct Mixed : Vertex {
  Input<half> x;
  Output<half> y;
  Output<Vector<float>> out;
  bool compute() {
    float wide = x;
    half sum = x;
    sum += 1.0f / 3;
    *y = sum;
    out[0] = x + 0.1f;          // a float
    out[1] = x + 2049;          // a half: 2049 is between two of them
    out[2] = 2 * x;
    out[3] = x < 3 && x > half(1) && 2.5f == x && -x < wide && x != 3.0;
    out[4] = std::numeric_limits<half>::max();
    out[5] = std::numeric_limits<half>::epsilon();
    y *= x;
    return sizeof(half) == 2 && !std::numeric_limits<half>::is_integer;
  }
};)";

TEST_F(CodeletsAccess, HalvesRoundEveryResult) {
  for (const char *flags : {"", "-O0 -U__F16C__"}) {
    SCOPED_TRACE(flags);
    const auto file = compile(halfSource, flags);
    std::vector<std::uint16_t> a(1 << 16), b(a.size());
    std::iota(a.begin(), a.end(), std::uint16_t(0)); // every half there is
    std::mt19937 random(2);
    for (auto &bits : b) {
      bits = static_cast<std::uint16_t>(random());
    }
    std::vector<std::vector<std::uint16_t>> results(
        6, std::vector<std::uint16_t>(a.size()));
    std::vector<HostSpan> spans;
    spans.reserve(results.size());
    for (auto &result : results) {
      spans.push_back({result.data(), result.size()});
    }
    VertexObjects objects(typeOf(file, "Arithmetic"));
    objects.setVector("a", a);
    objects.setVector("b", b);
    objects.setVector("out", spans);
    EXPECT_TRUE(objects.run());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float x = support::halfBitsToFloat(a[i]);
      const float y = support::halfBitsToFloat(b[i]);
      // 1 + 2^-10 times an 11-bit number is exact in a float.
      const float expected[] = {x + y, x - y, x * y,
                                x / y, x,     x * 1.0009765625f};
      for (std::size_t j = 0; j < 6; ++j) {
        if (std::isnan(expected[j])) {
          EXPECT_TRUE(std::isnan(support::halfBitsToFloat(results[j][i])));
        } else {
          ASSERT_EQ(results[j][i], support::floatToHalfBits(expected[j]))
              << x << " " << y << " operation " << j;
        }
      }
    }
  }
}

TEST_F(CodeletsAccess, HalvesMixWithOtherTypes) {
  const auto file = compile(halfSource, "-Wall -Wextra -Werror");
  VertexObjects objects(typeOf(file, "Mixed"));
  std::uint16_t x = support::floatToHalfBits(2.5f), y = 0;
  std::vector<float> out(6);
  objects.set("x", &x);
  objects.set("y", &y);
  objects.setVector("out", out);
  EXPECT_TRUE(objects.run());
  // 2.5 + 1/3 in steps of 2^-9 is 2.833984375; times 2.5, in steps of 2^-8.
  EXPECT_EQ(support::halfBitsToFloat(y), 7.0859375f);
  EXPECT_EQ(out[0], 2.6f);
  EXPECT_EQ(out[1], 2050.0f); // 2.5 + 2048 = 2050.5, to the even neighbour
  EXPECT_EQ(out[2], 5.0f);
  EXPECT_EQ(out[3], 1.0f);
  EXPECT_EQ(out[4], 65504.0f);
  EXPECT_EQ(out[5], 0.0009765625f);
}

} // namespace
