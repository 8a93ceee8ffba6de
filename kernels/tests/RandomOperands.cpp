#include "RandomOperands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace kernels::testing {

std::int64_t RandomOperands::between(std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
}

std::int64_t RandomOperands::extent(std::int64_t most) {
  constexpr std::int64_t few = 9;
  if (most <= few || oneIn(2)) {
    return between(1, std::min(most, few));
  }
  std::int64_t power = 16;
  while (2 * power <= most && !oneIn(5)) {
    power *= 2;
  }
  return std::clamp<std::int64_t>(power + between(-2, 2), 1, most);
}

Shape RandomOperands::shape(std::size_t rank, std::int64_t mostElements,
                            bool mayBeEmpty) {
  Shape shape(rank, 1);
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), engine_);
  for (const std::size_t d : order) {
    shape[d] = extent(mostElements);
    mostElements /= shape[d];
  }
  if (mayBeEmpty && rank > 0 && oneIn(20)) {
    shape[order[0]] = 0;
  }
  return shape;
}

Strides RandomOperands::strides(const Shape &shape, bool mayRepeat) {
  if (oneIn(3)) {
    return support::rowMajorStrides(shape);
  }
  std::vector<std::size_t> order(shape.size()); // innermost first
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (oneIn(2)) {
    std::shuffle(order.begin(), order.end(), engine_);
  }
  Strides strides(shape.size());
  std::int64_t next = 1;
  for (const std::size_t d : order) {
    if (mayRepeat && oneIn(6)) {
      continue;
    }
    next += oneIn(6) ? between(1, 3) : 0;
    strides[d] = oneIn(10) ? -next : next;
    next *= std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

Input RandomOperands::view(DataType type, const Shape &shape) {
  return {{type, shape}, strides(shape, true), {}};
}

void forRandomCalls(int count,
                    const std::function<void(RandomOperands &)> &check) {
  if (const char *calls = std::getenv("RANDOM_CALLS")) {
    count = std::atoi(calls);
  }
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOperands random(static_cast<std::uint32_t>(seed));
    check(random);
  }
}

} // namespace kernels::testing
