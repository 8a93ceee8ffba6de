// Collectives between replicas, for the library that offers them to users
// (gcl): what can be asked for, and the program that does it.
#pragma once

#include <cstdint>
#include <vector>

namespace kernels {
enum class ElementwiseOp : std::uint16_t;
} // namespace kernels

namespace poplar {

class DebugContext;
class Tensor;
namespace program {
class Sequence;
} // namespace program

namespace internal {

// Of a group of k replicas, each with a tensor of n elements:
enum class CollectiveKind : std::uint8_t {
  ReduceScatter, // member i gets part i of the combination: n / k, rounded up
  AllGather,     // every member gets the tensors of all: k * n
  AllReduce,     // every member gets the combination: n
  AllToAll,      // member i gets part i of every tensor: n, a multiple of k
  Broadcast,     // every member gets the tensor of one: n
};

enum class CollectiveMethod : std::uint8_t {
  Auto,
  ClockwiseRing,
  AnticlockwiseRing,
  BidirectionalRingPair, // half of the data each way round
  MeetInMiddleRing,      // each part half way round both ways: fewer steps
  QuadDirectionalRing,   // two rings that share no links, each both ways
};

// How elements are combined, from the first member of the group to the last.
enum class CollectiveOperator : std::uint8_t {
  Add,
  Mean,
  Mul,
  Min,
  Max,
  LogicalAnd,
  LogicalOr,
  SquareAdd,
  Local, // not at all: each member keeps its own
};

// Which operator joins two elements, squares having been taken before; ADD for
// Mean, the quotient being taken after.
kernels::ElementwiseOp joiningOp(CollectiveOperator op);

struct CollectivePlan {
  CollectiveKind kind = CollectiveKind::AllReduce;
  CollectiveMethod method = CollectiveMethod::Auto;
  CollectiveOperator op = CollectiveOperator::Add;
  // The replicas of each group; every replica is in one.
  std::vector<std::vector<unsigned>> groups = {};
  unsigned root = 0; // of a broadcast: which member of each group sends
};

// Appends a collective that reads all of `source`, then writes `destination`.
void addCollective(program::Sequence &program, const CollectivePlan &plan,
                   const Tensor &source, const Tensor &destination,
                   const DebugContext &debugContext);

} // namespace internal
} // namespace poplar
