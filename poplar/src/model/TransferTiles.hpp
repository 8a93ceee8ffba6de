// Tiles that run no vertices, on IPUs that run some: while they move data to or
// from the host, the others compute. That is what I/O tiles are for.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::model {

class TransferTiles {
public:
  explicit TransferTiles(const internal::GraphData &graph);

  // Whether anything lies on such tiles alone. If not, every lane is Compute.
  bool areUsed() const { return areUsed_; }
  // Which tiles of its IPUs the node's steps occupy.
  Lane laneOf(const internal::ProgramNode &node) const;

private:
  struct Tiles {
    unsigned begin = 0;
    unsigned end = 0;
  };
  void findComputeTiles();
  bool isApart(const internal::Variable &variable) const;

  const internal::GraphData &graph_;
  std::vector<Tiles> compute_; // disjoint, ascending; IPUs without vertices too
  // By variable: whether all of it lies on tiles without vertices. One that
  // only partly does belongs to the computation.
  std::vector<bool> isApart_;
  bool areUsed_ = false;
};

} // namespace poplar::model
