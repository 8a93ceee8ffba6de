// What a vertex costs on the machine, by its author's own estimate.
#pragma once

#include <cstdint>
#include <functional>

namespace poplar {

class Target;
class VertexIntrospector;

struct VertexPerfEstimate {
  VertexPerfEstimate() = default;
  VertexPerfEstimate(std::uint64_t cycleCount, std::uint64_t flopCount = 0)
      : cycles(cycleCount), flops(flopCount) {}

  std::uint64_t cycles = 0;
  std::uint64_t flops = 0;

  friend bool operator==(const VertexPerfEstimate &a,
                         const VertexPerfEstimate &b) {
    return a.cycles == b.cycles && a.flops == b.flops;
  }
  friend bool operator!=(const VertexPerfEstimate &a,
                         const VertexPerfEstimate &b) {
    return !(a == b);
  }
};

// Estimates a vertex from the sizes and values of its fields.
using PerfEstimateFunc = std::function<VertexPerfEstimate(
    const VertexIntrospector &, const Target &)>;

} // namespace poplar
