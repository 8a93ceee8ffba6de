// What the replicas of a graph get from one host stream.
#pragma once

namespace poplar {

enum class ReplicatedStreamMode {
  REPLICATE, // each replica its own data
  BROADCAST, // all replicas the same data
};

} // namespace poplar
