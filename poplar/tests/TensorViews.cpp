// Views against brute force: the same operations on a tensor and on an explicit
// list of its elements, for random chains of views.
#include <poplar/Graph.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace poplar;
using internal::tensorView;

namespace {

using Element = std::pair<unsigned, std::int64_t>; // variable, index
using Sizes = std::vector<std::size_t>;

// A tensor as a shape and all its elements in row-major order.
struct Listed {
  Sizes shape;
  std::vector<Element> elements;
};

std::size_t product(const Sizes &shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t(1),
                         std::multiplies<>());
}

std::size_t flatIndex(const Sizes &shape, const Sizes &index) {
  std::size_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    flat = flat * shape[d] + index[d];
  }
  return flat;
}

Sizes indexOf(const Sizes &shape, std::size_t flat) {
  Sizes index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

// The list of `shape` whose element at `index` is `source`'s at `from(index)`.
template <typename From>
Listed gather(const Listed &source, Sizes shape, From &&from) {
  Listed result{shape, {}};
  for (std::size_t i = 0; i < product(shape); ++i) {
    std::size_t at = flatIndex(source.shape, from(indexOf(shape, i)));
    result.elements.push_back(source.elements[at]);
  }
  return result;
}

Listed list(const Tensor &tensor) {
  Listed result{tensor.shape(), {}};
  for (const auto &piece : tensorView(tensor).pieces) {
    Sizes extents(piece.extents.begin(), piece.extents.end());
    for (std::size_t i = 0; i < product(extents); ++i) {
      Sizes index = indexOf(extents, i);
      std::int64_t element = piece.offset;
      for (std::size_t d = 0; d < index.size(); ++d) {
        element += std::int64_t(index[d]) * piece.strides[d];
      }
      result.elements.push_back({piece.variable.value, element});
    }
  }
  return result;
}

struct Pair {
  Tensor tensor;
  Listed listed;
};

class Chain {
public:
  explicit Chain(unsigned seed) : random_(seed) {}

  Pair start() {
    Sizes shape(pick(1, 4));
    for (auto &extent : shape) {
      extent = pick(1, 6);
    }
    return newVariable(shape);
  }

  Pair step(const Pair &from) {
    if (from.listed.shape.empty()) {
      return {from.tensor.expand({0}), {{1}, from.listed.elements}};
    }
    auto d = unsigned(pick(0, from.listed.shape.size() - 1));
    switch (pick(0, 9)) {
    case 0:
      return slice(from, d);
    case 1:
      return shuffle(from);
    case 2:
      return reverse(from, d);
    case 3:
      return subSample(from, d);
    case 4:
      return reshape(from);
    case 5:
      return broadcast(from, d);
    case 6:
      return upsample(from, d);
    case 7:
      return indexFirst(from);
    case 8:
      return rotate(from, d);
    default:
      return join(from, d);
    }
  }

private:
  std::size_t pick(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }

  Pair newVariable(const Sizes &shape) {
    Pair result{graph_.addVariable(FLOAT, shape), {shape, {}}};
    for (std::size_t i = 0; i < product(shape); ++i) {
      result.listed.elements.push_back({variables_, std::int64_t(i)});
    }
    ++variables_;
    return result;
  }

  Pair slice(const Pair &from, unsigned d) {
    Sizes shape = from.listed.shape;
    std::size_t begin = pick(0, shape[d] - 1);
    std::size_t end = pick(begin + 1, shape[d]);
    shape[d] = end - begin;
    return {from.tensor.slice(begin, end, d),
            gather(from.listed, shape, [&](Sizes index) {
              index[d] += begin;
              return index;
            })};
  }

  Pair shuffle(const Pair &from) {
    std::vector<unsigned> order(from.listed.shape.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random_);
    Sizes shape;
    for (unsigned d : order) {
      shape.push_back(from.listed.shape[d]);
    }
    return {from.tensor.dimShuffle(order),
            gather(from.listed, shape, [&](const Sizes &index) {
              Sizes source(index.size());
              for (std::size_t i = 0; i < order.size(); ++i) {
                source[order[i]] = index[i];
              }
              return source;
            })};
  }

  Pair reverse(const Pair &from, unsigned d) {
    std::size_t last = from.listed.shape[d] - 1;
    return {from.tensor.reverse(d),
            gather(from.listed, from.listed.shape, [&](Sizes index) {
              index[d] = last - index[d];
              return index;
            })};
  }

  Pair subSample(const Pair &from, unsigned d) {
    auto stride = unsigned(pick(1, 3));
    Sizes shape = from.listed.shape;
    shape[d] = (shape[d] + stride - 1) / stride;
    return {from.tensor.subSample(stride, d),
            gather(from.listed, shape, [&](Sizes index) {
              index[d] *= stride;
              return index;
            })};
  }

  Pair reshape(const Pair &from) {
    Sizes shape;
    std::size_t rest = from.listed.elements.size();
    while (rest > 1 && shape.size() < 4) {
      Sizes divisors;
      for (std::size_t i = 1; i <= rest; ++i) {
        if (rest % i == 0) {
          divisors.push_back(i);
        }
      }
      shape.push_back(divisors[pick(0, divisors.size() - 1)]);
      rest /= shape.back();
    }
    shape.push_back(rest);
    return {from.tensor.reshape(shape), {shape, from.listed.elements}};
  }

  Pair broadcast(const Pair &from, unsigned d) {
    Sizes shape = from.listed.shape;
    std::size_t extent = shape[d];
    shape[d] *= 2;
    return {from.tensor.broadcast(2, d),
            gather(from.listed, shape, [&](Sizes index) {
              index[d] %= extent;
              return index;
            })};
  }

  Pair upsample(const Pair &from, unsigned d) {
    Sizes shape = from.listed.shape;
    shape[d] *= 2;
    return {from.tensor.upsample(2, d),
            gather(from.listed, shape, [&](Sizes index) {
              index[d] /= 2;
              return index;
            })};
  }

  Pair indexFirst(const Pair &from) {
    std::size_t i = pick(0, from.listed.shape[0] - 1);
    Sizes shape(from.listed.shape.begin() + 1, from.listed.shape.end());
    return {from.tensor[i], gather(from.listed, shape, [&](Sizes index) {
              index.insert(index.begin(), i);
              return index;
            })};
  }

  // Cuts in two and joins the parts the other way round.
  Pair rotate(const Pair &from, unsigned d) {
    std::size_t extent = from.listed.shape[d];
    std::size_t cut = pick(0, extent);
    return {concat(from.tensor.slice(cut, extent, d),
                   from.tensor.slice(0, cut, d), d),
            gather(from.listed, from.listed.shape, [&](Sizes index) {
              index[d] = (index[d] + cut) % extent;
              return index;
            })};
  }

  // Joins with another variable of the same shape but for dimension d.
  Pair join(const Pair &from, unsigned d) {
    Sizes shape = from.listed.shape;
    std::size_t extent = shape[d];
    shape[d] = pick(1, 3);
    Pair other = newVariable(shape);
    shape[d] += extent;
    Listed joined{shape, {}};
    for (std::size_t i = 0; i < product(shape); ++i) {
      Sizes index = indexOf(shape, i);
      bool isOther = index[d] >= extent;
      index[d] -= isOther ? extent : 0;
      const Listed &source = isOther ? other.listed : from.listed;
      joined.elements.push_back(
          source.elements[flatIndex(source.shape, index)]);
    }
    return {concat({from.tensor, other.tensor}, d), joined};
  }

  Graph graph_{Target::createIPUTarget(1, "ipu2")};
  std::mt19937 random_;
  unsigned variables_ = 0;
};

std::vector<Interval> runsOf(const Listed &listed) {
  std::vector<Interval> runs;
  const auto &elements = listed.elements;
  for (std::size_t i = 0; i < elements.size();) {
    std::size_t end = i + 1;
    while (end < elements.size() && elements[end].first == elements[i].first &&
           elements[end].second == elements[end - 1].second + 1) {
      ++end;
    }
    runs.emplace_back(i, end);
    i = end;
  }
  return runs;
}

bool repeats(std::vector<Element> elements) {
  std::sort(elements.begin(), elements.end());
  return std::adjacent_find(elements.begin(), elements.end()) != elements.end();
}

// toAffine() claims only what the list confirms.
void expectAffineMatches(const Pair &pair) {
  internal::AffineView affine;
  if (!internal::toAffine(tensorView(pair.tensor), affine)) {
    return;
  }
  ASSERT_EQ(affine.shape.size(), pair.listed.shape.size());
  for (std::size_t i = 0; i < pair.listed.elements.size(); ++i) {
    Sizes index = indexOf(pair.listed.shape, i);
    std::int64_t element = affine.offset;
    for (std::size_t d = 0; d < index.size(); ++d) {
      element += std::int64_t(index[d]) * affine.strides[d];
    }
    ASSERT_EQ(Element(affine.variable.value, element), pair.listed.elements[i]);
  }
}

TEST(TensorViews, RandomChainsMatchTheListOfElements) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Chain chain(seed);
    Pair pair = chain.start();
    for (int i = 0; i < 6 && pair.listed.elements.size() < 3000; ++i) {
      pair = chain.step(pair);
      Listed actual = list(pair.tensor);
      ASSERT_EQ(actual.shape, pair.listed.shape) << "seed " << seed;
      ASSERT_EQ(actual.elements, pair.listed.elements) << "seed " << seed;
      ASSERT_EQ(pair.tensor.getContiguousRegions(), runsOf(pair.listed));
      ASSERT_EQ(pair.tensor.isContiguous(), runsOf(pair.listed).size() == 1);
      ASSERT_EQ(pair.tensor.containsAliases(), repeats(pair.listed.elements))
          << "seed " << seed;
      expectAffineMatches(pair);
    }
  }
}

TEST(TensorViews, IntersectionMatchesTheListOfElements) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Chain chain(seed);
    Pair root = chain.start();
    Pair a = chain.step(chain.step(root));
    Pair b = chain.step(chain.step(root));
    std::set<Element> elements(a.listed.elements.begin(),
                               a.listed.elements.end());
    bool expected = std::any_of(
        b.listed.elements.begin(), b.listed.elements.end(),
        [&](const Element &element) { return elements.count(element) > 0; });
    ASSERT_EQ(a.tensor.intersectsWith(b.tensor), expected) << "seed " << seed;
  }
}

class TensorPieces : public testing::Test {
protected:
  static std::size_t pieces(const Tensor &tensor) {
    return tensorView(tensor).pieces.size();
  }
  Graph graph{Target::createIPUTarget(1, "ipu2")};
  Tensor matrix = graph.addVariable(FLOAT, {1000, 1000});
};

TEST_F(TensorPieces, StayOneForLargeAffineViews) {
  EXPECT_EQ(pieces(matrix.transpose()), 1U);
  EXPECT_EQ(pieces(matrix.transpose().flatten()), 1U);
  EXPECT_EQ(pieces(matrix.slice({10, 20}, {900, 800}).transpose()), 1U);
  EXPECT_EQ(pieces(matrix.broadcast(7, 0).broadcast(3, 1)), 1U);
  Tensor split = matrix.transpose().flatten().reshape({10, 100, 1000});
  EXPECT_EQ(pieces(split.dimShuffle({2, 0, 1})), 1U);
  EXPECT_EQ(pieces(matrix.reverse(0).subSample(3, 1)), 1U);
}

TEST_F(TensorPieces, JoinAgainWhenSlicesMeet) {
  for (unsigned d : {0U, 1U}) {
    Tensor joined = concat({matrix.slice(0, 300, d), matrix.slice(300, 301, d),
                            matrix.slice(301, 1000, d)},
                           d);
    EXPECT_EQ(joined, matrix) << "dimension " << d;
  }
  Tensor columns = matrix.slice(0, 1, 1);
  for (std::size_t i = 1; i < 50; ++i) {
    columns = concat(columns, matrix.slice(i, i + 1, 1), 1);
  }
  EXPECT_EQ(columns, matrix.slice(0, 50, 1));
}

TEST_F(TensorPieces, AreThreeForASliceThatCutsTwoRows) {
  Tensor slice = matrix.transpose().flatten().slice(1500, 3500);
  EXPECT_EQ(pieces(slice), 3U); // half a column, one whole, half a column
}

TEST_F(TensorPieces, SeparateWhatWasJoinedAlongAnInnerDimension) {
  Tensor other = graph.addVariable(FLOAT, {1000, 5});
  Tensor joined = concat(matrix, other, 1);
  EXPECT_EQ(joined.slice(0, 1000, 1), matrix);
  EXPECT_EQ(joined.slice(1000, 1005, 1), other);
}

TEST(TensorAffine, RowMajorTensorsHaveRowMajorStrides) {
  Graph graph(Target::createIPUTarget(1, "ipu2"));
  for (const support::Shape &shape :
       {support::Shape{}, support::Shape{1}, support::Shape{3, 1, 4},
        support::Shape{1, 2, 3}, support::Shape{2, 1}}) {
    Sizes sizes(shape.begin(), shape.end());
    internal::AffineView affine;
    ASSERT_TRUE(
        internal::toAffine(tensorView(graph.addVariable(INT, sizes)), affine));
    EXPECT_EQ(affine.strides, support::rowMajorStrides(shape));
  }
}

TEST(TensorAffine, FailsWhenPiecesCutAcrossDimensions) {
  Graph graph(Target::createIPUTarget(1, "ipu2"));
  Tensor t = graph.addVariable(FLOAT, {2, 3}).transpose().reshape({2, 3});
  internal::AffineView affine;
  EXPECT_FALSE(internal::toAffine(tensorView(t), affine));
  EXPECT_TRUE(internal::toAffine(tensorView(t.reshape({3, 2})), affine));
  EXPECT_EQ(affine.strides, (support::Strides{1, 3}));
}

} // namespace
