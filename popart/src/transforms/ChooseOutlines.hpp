// Which sequences of operations a program should have once only.
#pragma once

#include <popart/ir.hpp>

#include <utility>
#include <vector>

namespace popart {

// Equal sequences: operation by operation, and in how they hang together.
struct Outline {
  struct Place {
    std::vector<Op *> ops;        // in order
    std::vector<TensorId> inputs; // what they read, but for constants
  };
  std::vector<Place> places;
  // What is read after one of them, or changed by them: by operation of the
  // sequence and output of that.
  std::vector<std::pair<std::size_t, OutIndex>> outputs;
};

// Those that are worth it by the session's options; none overlap.
std::vector<Outline> chooseOutlines(const Ir &ir, const Graph &graph);

} // namespace popart
