// What Scan's attributes say, by number of the input or output they are about.
#pragma once

#include <popart/graph.hpp>

#include <vector>

namespace popart {

struct ScanShape {
  // `inputs`: those of the operation's own, without captured tensors. Throws
  // popart::error for attributes that contradict them.
  ScanShape(const Graph &graph, const Graph &body, const Attributes &attributes,
            const std::vector<TensorId> &inputs);

  std::int64_t states; // the first inputs and outputs
  std::int64_t turns = 0;
  // Of what is scanned, counted from the front; a direction other than 0 is
  // backwards.
  Attributes::Ints inputAxes;
  Attributes::Ints outputAxes;
  Attributes::Ints inputDirections;
  Attributes::Ints outputDirections;
};

} // namespace popart
