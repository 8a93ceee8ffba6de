// Random shapes and views for tests of fast kernels: extents that lie on both
// sides of the sizes at which kernels change their ways, and views of all
// sorts. RANDOM_CALLS says how many calls each test makes; make test-full makes
// more than make test.
#pragma once

#include "KernelTesting.hpp"

#include <functional>
#include <random>
#include <vector>

namespace kernels::testing {

class RandomOperands {
public:
  explicit RandomOperands(std::uint32_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t least, std::int64_t most);
  bool oneIn(std::int64_t times) { return between(1, times) == 1; }
  template <typename T> T oneOf(const std::vector<T> &choices) {
    return choices[static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }

  // From 1 to `most`: a few, or about a power of two.
  std::int64_t extent(std::int64_t most);
  // At most so many elements; now and then none, if `mayBeEmpty`.
  Shape shape(std::size_t rank, std::int64_t mostElements,
              bool mayBeEmpty = false);
  // Row-major, or with dimensions exchanged, turned around, apart from each
  // other, and, if `mayRepeat`, broadcast.
  Strides strides(const Shape &shape, bool mayRepeat);
  Input view(DataType type, const Shape &shape);

private:
  std::mt19937 engine_;
};

// Calls check(random) for each of `count` seeds, or of RANDOM_CALLS, until one
// fails.
void forRandomCalls(int count,
                    const std::function<void(RandomOperands &)> &check);

} // namespace kernels::testing
