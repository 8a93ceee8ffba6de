// Memory that is read next, brought into the second-level cache in small steps
// while something else is multiplied: whoever reads it first would otherwise
// wait for all of it.
#pragma once

#include <cstdint>

namespace kernels::loops::LOOPS_LEVEL {

class Ahead {
public:
  // Lines of sixteen floats from `at` on, in so many calls of fetch().
  Ahead(const float *at, std::int64_t lines, std::int64_t calls)
      : at_(at), left_(lines),
        perCall_(lines == 0 ? 0 : (lines + calls - 1) / calls) {}

  void fetch() {
    const std::int64_t lines = left_ < perCall_ ? left_ : perCall_;
    for (std::int64_t line = 0; line < lines; ++line) {
      __builtin_prefetch(at_ + line * 16, 0, 2);
    }
    at_ += lines * 16;
    left_ -= lines;
  }

private:
  const float *at_;
  std::int64_t left_, perCall_;
};

} // namespace kernels::loops::LOOPS_LEVEL
