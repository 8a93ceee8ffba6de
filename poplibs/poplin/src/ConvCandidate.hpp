// A transformed problem with a vertex for it: what the search cuts over tiles,
// and what each cut costs.
#pragma once

#include <poplin/internal/ConvPlan.hpp>

namespace poplin::internal {

// A tensor that is rearranged before or after: in all, over all tiles.
struct Rearranged {
  std::uint64_t elements = 0;
  DataType type = DataType::Float;
  std::uint64_t runLength = 1; // channels that stay side by side
};

struct ConvCandidate {
  ConvProblem problem; // transformed
  ConvGrouping grouping;
  ConvTransforms transforms;
  bool swapsOperands = false;
  // Input, weights, output; no elements when one stays as it is.
  std::array<Rearranged, 3> rearranged;

  std::uint64_t groupGroups() const;
  std::uint64_t inGroups() const;
  std::uint64_t outGroups() const;
  // Multiply-accumulates in a cycle of one tile, at best.
  double peakRate(const PlanLimits &limits) const;
  // Cycles of the vertices on the busiest of `tiles` tiles, at best.
  double leastCycles(const PlanLimits &limits) const;
};

// All that are worth trying, the most promising first.
std::vector<ConvCandidate> candidatesOf(const ConvProblem &problem,
                                        const PlanLimits &limits,
                                        bool isMatMul);

// The vertices that can do a problem (section 7.4).
std::vector<ConvGrouping> groupingsOf(const ConvProblem &problem,
                                      const PlanLimits &limits);

// What a tile handles along each dimension.
struct ConvExtent {
  std::uint64_t groupGroups; // of conv groups
  std::uint64_t batch;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t kernelRows;
  std::uint64_t inGroups;  // of channels
  std::uint64_t outGroups; // of channels
};
std::uint64_t vertexCycles(const ConvCandidate &candidate,
                           const PlanLimits &limits, const ConvExtent &extent);

// Share and cost of one split; the search calls it for every one.
ConvPlan evaluate(const ConvCandidate &candidate, const PlanLimits &limits,
                  const ConvSplit &split);

// The least that any cut of the field into n tiles can cost when the other
// splits are given: what the search prunes with.
struct FieldBound {
  double fixedCycles = 0;
  double weightCycles = 0; // of exchange, if they all came from elsewhere
  double fieldCycles = 0;  // of one tile with the whole field
  double fixedBytes = 0;
  double fieldBytes = 0;

  double cycles(std::uint64_t n) const {
    const double part = 1 / static_cast<double>(n);
    return fixedCycles + weightCycles * (1 - part) + fieldCycles * part;
  }
  double bytes(std::uint64_t n) const {
    return fixedBytes + fieldBytes / static_cast<double>(n);
  }
};
FieldBound fieldBound(const ConvCandidate &candidate, const PlanLimits &limits,
                      const ConvSplit &split);

// The plan of one pass when the three products of a fully-connected layer share
// a partition, where that is no slower than `alone` and the plans of the two
// others; nothing otherwise.
std::optional<ConvPlan> jointPlan(const ConvProblem &problem,
                                  const PlanLimits &limits,
                                  const ConvPlan &alone);

// One stage of the sum of partials.
struct ReduceStage {
  std::uint64_t fanIn;
  std::uint64_t outputs; // on a tile
  DataType type;         // of the outputs
  std::uint64_t exchangedBytes;
  std::uint64_t cycles;
  bool isSingleInput;
};
struct ReduceStages {
  std::array<ReduceStage, 3> stages;
  std::size_t count = 0;

  const ReduceStage *begin() const { return stages.data(); }
  const ReduceStage *end() const { return stages.data() + count; }
};
// Those that add up `depth` partials of each output; a tile made `partials`
// elements. None when there is nothing to add or to cast.
ReduceStages reduceStages(const ConvProblem &problem, const PlanLimits &limits,
                          std::uint64_t partials, std::uint64_t depth);

// How many partials each stage of the reduction of `depth` leaves to the next;
// the last is 1 (section 7.6).
std::array<std::uint64_t, 3> reduceDepths(std::uint64_t depth,
                                          bool allowMultiStage);

} // namespace poplin::internal
