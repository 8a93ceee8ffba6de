// How many replicas of a graph run side by side, as an argument of Graph.
#pragma once

namespace poplar {

struct replication_factor {
  explicit replication_factor(unsigned v) : value(v) {}
  unsigned value;
};

} // namespace poplar
