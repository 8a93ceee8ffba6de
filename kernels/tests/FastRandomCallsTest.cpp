// Fast kernels against the references over random shapes and views: on both
// sides of the sizes at which they change their ways, and empty ones.
#include "RandomOperands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace kernels::testing {
namespace {

using enum DataType;
using Ints = Attributes::Ints;

// Room for what sums of `count` products lose.
double toleranceOf(DataType type, std::int64_t count = 1) {
  return (type == Half ? 4e-3 : 2e-5) + 1e-6 * static_cast<double>(count);
}

// Calls that the kind does not allow are left out.
void checkCalls(int count, double tolerance,
                const std::function<Call(RandomOperands &)> &make) {
  forRandomCalls(count, [&](RandomOperands &random) {
    try {
      expectTakersMatchReference(make(random), tolerance);
    } catch (const std::invalid_argument &) {
    }
  });
}

// Mostly row-major, as most kernels want it.
Input operand(RandomOperands &random, DataType type, const Shape &shape) {
  return random.oneIn(4) ? random.view(type, shape)
                         : Input{{type, shape}, {}, {}};
}
std::int64_t flag(RandomOperands &random) {
  return random.between(0, 1);
}

TEST(FastRandomCalls, MatchForSoftmax) {
  for (const auto type : {Float, Half}) {
    for (const std::string kind : {"softmax", "logSoftmax"}) {
      checkCalls(20, toleranceOf(type), [&](RandomOperands &random) {
        const Shape shape = random.shape(
            static_cast<std::size_t>(random.between(1, 4)), 1 << 14, true);
        if (random.oneIn(2)) {
          return Call(kind, {}, {operand(random, type, shape)});
        }
        // Probabilities, or their logarithms.
        Input y{{type, shape}, {}, {0.25, 0.01, 0.5}};
        return Call(kind + "Grad", {}, {operand(random, type, shape), y});
      });
    }
  }
}

TEST(FastRandomCalls, MatchForCumulate) {
  checkCalls(200, 4e-3, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Half, Int, UnsignedInt});
    const auto rank = random.between(1, 4);
    const Shape shape =
        random.shape(static_cast<std::size_t>(rank), 1 << 14, true);
    return Call("cumulate",
                {{"dim", random.between(0, rank - 1)},
                 {"op", random.oneOf<std::string>({"ADD", "MUL"})},
                 {"exclusive", flag(random)},
                 {"reverse", flag(random)}},
                {operand(random, type, shape)});
  });
}

TEST(FastRandomCalls, MatchForTopK) {
  checkCalls(200, 0, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Half, Int, UnsignedInt});
    const Shape shape = random.shape(
        static_cast<std::size_t>(random.between(1, 3)), 1 << 14, true);
    const auto payload =
        random.oneOf<std::string>({"permutation", "values", "none"});
    std::vector<Input> inputs{operand(random, type, shape)};
    if (payload == "values") {
      inputs.push_back({{Half, shape}, {}, {}});
    }
    return Call(
        "topK",
        {{"k", std::min(random.extent(1 << 12), shape.back())},
         {"largest", flag(random)},
         {"order", random.oneOf<std::string>({"ASCENDING", "DESCENDING"})},
         {"payload", payload}},
        inputs);
  });
}

TEST(FastRandomCalls, MatchForSlicesAndUpdates) {
  checkCalls(100, 4e-3, [](RandomOperands &random) {
    const auto type =
        random.oneOf<DataType>({Float, Half, Int, UnsignedInt, Bool});
    const auto rank = static_cast<std::size_t>(random.between(1, 4));
    Shape t = random.shape(rank + 1, 1 << 13, true); // groups first
    const auto count = random.extent(200);
    Ints dims, sizes;
    Shape slices{t[0], count};
    for (std::size_t d = 0; d < rank; ++d) {
      const auto extent = t[d + 1];
      slices.push_back(extent);
      if (random.oneIn(2)) {
        dims.push_back(static_cast<std::int64_t>(d));
        sizes.push_back(random.between(0, std::min<std::int64_t>(extent, 5)));
        slices.back() = sizes.back();
      }
    }
    if (support::elementCount(slices) > 1 << 17) {
      throw std::invalid_argument("too many for the reference");
    }
    const Shape offsetShape{t[0], count,
                            static_cast<std::int64_t>(dims.size())};
    const Input offsets{
        {random.oneOf<DataType>({Int, UnsignedInt}), offsetShape},
        {},
        {0, 1, 2, 5, 17, 100, 4294967295.0}};
    Attributes attributes{
        {"dims", dims},
        {"sizes", sizes},
        {"outOfRange",
         random.oneOf<std::string>({"skip", "first", "clamp", "window"})},
        {"missing", random.oneOf<std::string>({"zero", "nan"})}};
    if (random.oneIn(2)) {
      return Call("dynamicSlice", attributes,
                  {operand(random, type, t), offsets});
    }
    attributes.set("op", random.oneOf<std::string>({"COPY", "ADD", "MAX"}));
    attributes.set("scaled", std::int64_t{0});
    return Call(
        "dynamicUpdate", attributes,
        {operand(random, type, t), {{type, slices}, {}, {0, 1}}, offsets});
  });
}

TEST(FastRandomCalls, MatchForProducts) {
  checkCalls(80, toleranceOf(Half, 2000), [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Float, Half});
    const bool hasBias = random.oneIn(2);
    Shape a, b;
    std::int64_t left = 1 << 18;
    for (auto groups = random.between(0, 2); groups > 0; --groups) {
      a.push_back(random.extent(5));
      left /= a.back();
    }
    b = a;
    const auto m = random.oneIn(20) ? 0 : random.extent(700);
    const auto k = random.oneIn(20)
                       ? 0
                       : random.extent(std::min<std::int64_t>(
                             1100, left / std::max<std::int64_t>(m, 1) + 1));
    const auto n = random.extent(std::min<std::int64_t>(
        700, left / std::max<std::int64_t>(m * k, 1) + 1));
    a.insert(a.end(), {m, k});
    b.insert(b.end(), {k, n});
    std::vector<Input> inputs{random.view(type, a), random.view(type, b)};
    if (hasBias) {
      inputs.push_back(random.view(type, {n}));
    }
    Call call("matmul",
              {{"bias", std::int64_t{hasBias}},
               {"activation", random.oneOf<std::string>({"", "RELU"})}},
              inputs);
    call.outputStrides(0, random.strides(call.outputTypes()[0].shape, false));
    return random.oneIn(3) ? call.kept(1) : call;
  });
}

TEST(FastRandomCalls, MatchForPools) {
  checkCalls(150, 4e-3, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Float, Half});
    const bool isField = random.oneIn(2);
    const auto dims =
        isField ? static_cast<std::size_t>(random.between(1, 3)) : 2;
    const Shape x = random.shape(2 + dims, 1 << 13, true);
    Ints kernel, strides, lower, upper;
    for (std::size_t d = 0; d < dims; ++d) {
      kernel.push_back(
          random.between(1, std::clamp<std::int64_t>(x[2 + d], 1, 7)));
      strides.push_back(random.between(1, 4));
      lower.push_back(random.between(0, kernel.back() - 1));
      upper.push_back(random.between(0, kernel.back() - 1));
    }
    Attributes attributes{{"kernel", kernel},
                          {"strides", strides},
                          {"padLower", lower},
                          {"padUpper", upper},
                          {"inputShape", x}};
    if (isField) {
      attributes.set("poolingType",
                     random.oneOf<std::string>({"MAX", "AVG", "SUM"}));
      attributes.set("scaled", flag(random));
      return Call("pool", attributes, {operand(random, type, x)});
    }
    attributes.set("activation", random.oneOf<std::string>({"", "RELU"}));
    const Call pool("maxPool", attributes, {operand(random, type, x)});
    if (random.oneIn(2)) {
      return pool;
    }
    const auto &result = pool.outputTypes()[0];
    return Call("maxPoolGrad", attributes,
                {operand(random, type, result.shape),
                 {{UnsignedChar, result.shape}, {}, pool.reference()[1]}});
  });
}

TEST(FastRandomCalls, MatchForNorms) {
  checkCalls(150, 4e-2, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Float, Half});
    const Shape shape = random.shape(4, 1 << 14, true);
    const Attributes epsilon{{"epsilon", 0.1}, {"unbiased", std::int64_t{0}}};
    const Input acts = operand(random, type, shape);
    const Input statistics{{type, {shape[0], shape[2]}}, {}, {}};
    switch (random.between(0, 5)) {
    case 0:
      return Call("normStatistics", epsilon, {acts});
    case 1:
      return Call("normStatisticsGrad", {}, {acts, acts, statistics});
    case 2:
      return Call("normParamGrad", {}, {acts, acts});
    default:
      break;
    }
    const Input channel{{type, {shape[1]}}, {}, {}};
    if (random.oneIn(2)) {
      return random.oneIn(2)
                 ? Call("batchNorm", epsilon, {acts, channel, channel})
                 : Call("batchNormGrad", {},
                        {acts, acts, channel, channel, channel});
    }
    const auto groups = random.oneOf<std::int64_t>({1, 2, 3, shape[1]});
    Attributes grouped = epsilon;
    grouped.set("groups", groups);
    const Input ofGroups{{type, {shape[0], groups}}, {}, {}};
    return random.oneIn(2)
               ? Call("groupNorm", grouped, {acts, channel, channel})
               : Call("groupNormGrad", grouped,
                      {acts, acts, channel, ofGroups, ofGroups});
  });
}

TEST(FastRandomCalls, MatchForConvolutions) {
  checkCalls(80, 2e-2, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Float, Float, Half});
    const auto dims = static_cast<std::size_t>(random.between(1, 3));
    const auto groups = random.oneIn(4) ? random.between(1, 4) : 1;
    Shape x{random.oneIn(20) ? 0 : random.extent(33),
            groups * random.extent(34)};
    Shape w{groups * random.extent(34), x[1] / groups};
    Ints strides, dilations, lower, upper, kernel;
    for (std::size_t d = 0; d < dims; ++d) {
      x.push_back(random.between(1, dims == 3 ? 5 : 14));
      kernel.push_back(random.between(1, dims == 3 ? 3 : 5));
      w.push_back(kernel.back());
      strides.push_back(random.oneIn(2) ? 1 : random.between(1, 3));
      dilations.push_back(random.oneIn(3) ? 2 : 1);
      lower.push_back(random.between(0, 3));
      upper.push_back(random.between(0, 3));
    }
    if (support::elementCount(x) * support::elementCount(w) > 1 << 24) {
      throw std::invalid_argument("too large for the reference");
    }
    const bool hasBias = random.oneIn(2);
    Attributes attributes{
        {"strides", strides},
        {"padLower", lower},
        {"padUpper", upper},
        {"dilations", dilations},
        {"groups", groups},
        {"bias", std::int64_t{hasBias}},
        {"activation", random.oneOf<std::string>({"", "RELU"})}};
    const Input image = operand(random, type, x),
                weights = operand(random, type, w);
    std::vector<Input> inputs{image, weights};
    if (hasBias) {
      inputs.push_back({{type, {w[0]}}, {}, {}});
    }
    Call forward("convolution", attributes, inputs);
    const Input dy = operand(random, type, forward.outputTypes()[0].shape);
    attributes.set("inputShape", x);
    attributes.set("kernelShape", kernel);
    switch (random.between(0, 3)) {
    case 0:
      return Call("convolutionDataGrad", attributes, {dy, weights});
    case 1:
      return Call("convolutionWeightGrad", attributes, {dy, image});
    default:
      return random.oneIn(2) ? forward.kept(1) : forward;
    }
  });
}

TEST(FastRandomCalls, MatchForLossesAndMasks) {
  checkCalls(150, 4e-3, [](RandomOperands &random) {
    const auto type = random.oneOf<DataType>({Float, Half});
    const Shape shape = random.shape(2, 1 << 13, true);
    const Input labels{{Int, {shape[0]}}, {}, {0, 1, 3, 2, 7, 1000, 5}};
    switch (random.between(0, 4)) {
    case 0:
      return Call(
          "nllLoss",
          {{"reduction", random.oneOf<std::string>({"mean", "sum", "none"})},
           {"ignoreIndex", random.oneOf<std::int64_t>({-1, 0, 2})}},
          {operand(random, type, shape), labels});
    case 1:
      return Call("labelLoss",
                  {{"loss", random.oneOf<std::string>(
                                {"CROSS_ENTROPY", "SUM_SQUARED"})},
                   {"hasScales", std::int64_t{0}},
                   {"epsilon", 0.0}},
                  {{{type, shape}, {}, {0.25, 0.01, 0.5}}, labels});
    case 2:
      return Call("oneHot", {{"classes", random.extent(300)}},
                  {labels, {{type, {}}, {}, {1}}, {{type, {}}, {}, {0.5}}});
    case 3:
      return Call("hasNan", {{"orInf", flag(random)}},
                  {operand(random, type, shape)});
    default: {
      Shape squares = random.shape(3, 1 << 10, true);
      squares[2] = squares[1];
      return Call("triangularMask",
                  {{"lower", flag(random)}, {"unitDiagonal", flag(random)}},
                  {operand(random, type, squares)});
    }
    }
  });
}

TEST(FastRandomCalls, MatchForAttention) {
  checkCalls(50, 1e-4, [](RandomOperands &random) {
    const auto groups = random.extent(4);
    const auto m = random.oneIn(20) ? 0 : random.extent(140);
    const auto n = random.extent(300), d = random.extent(40),
               e = random.extent(40);
    const bool hasMask = random.oneIn(2);
    std::vector<Input> inputs{random.view(Float, {groups, m, d}),
                              random.view(Float, {groups, n, d}),
                              random.view(Float, {groups, n, e})};
    if (hasMask) {
      inputs.push_back(random.view(Float, {groups, m, n}));
    }
    return Call("attention",
                {{"scaling", std::string()}, {"mask", std::int64_t{hasMask}}},
                inputs);
  });
}

} // namespace
} // namespace kernels::testing
