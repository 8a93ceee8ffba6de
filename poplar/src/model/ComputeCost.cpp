// Cycles of the vertices of a compute set on one tile.
#include "model/ComputeCost.hpp"

#include <algorithm>
#include <vector>

namespace poplar::model {

namespace {

// The work given to each worker context so far.
class Contexts {
public:
  explicit Contexts(unsigned count) : loads_(count, 0) {}

  void deal(std::uint64_t vertices, std::uint64_t cycles) {
    if (cycles == 0) {
      return;
    }
    // While the loads are further apart than one vertex, only some contexts
    // take part. After that every round gives one vertex to each.
    while (vertices > 0 && spread() > cycles) {
      dealOne(cycles);
      --vertices;
    }
    const std::uint64_t rounds = vertices / loads_.size();
    for (std::uint64_t &load : loads_) {
      load += rounds * cycles;
    }
    for (std::uint64_t rest = vertices % loads_.size(); rest > 0; --rest) {
      dealOne(cycles);
    }
  }

  std::uint64_t longest() const {
    return *std::max_element(loads_.begin(), loads_.end());
  }

private:
  void dealOne(std::uint64_t cycles) {
    *std::min_element(loads_.begin(), loads_.end()) += cycles;
  }
  std::uint64_t spread() const {
    const auto [least, most] =
        std::minmax_element(loads_.begin(), loads_.end());
    return *most - *least;
  }

  std::vector<std::uint64_t> loads_;
};

} // namespace

TileCompute tileCompute(std::span<const internal::TileRun *const> runs,
                        unsigned workerContexts) {
  TileCompute result;
  Contexts contexts(workerContexts);
  for (const internal::TileRun *run : runs) {
    for (const internal::VertexUse &use : run->vertices) {
      const std::uint64_t sum = use.count * use.cycles;
      result.threads += sum;
      if (use.isSupervisor) {
        result.cycles += sum;
      } else {
        contexts.deal(use.count, use.cycles);
      }
    }
  }
  result.cycles += workerContexts * contexts.longest();
  return result;
}

} // namespace poplar::model
