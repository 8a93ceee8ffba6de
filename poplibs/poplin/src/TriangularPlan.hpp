// How a triangular factorisation or solution is cut into blocks, and what that
// costs: one tile per matrix works on a block of the diagonal, the rest of the
// matrix follows by a product.
#pragma once

#include <poplin/MatMul.hpp>
#include <poplin/internal/ConvOptions.hpp>

#include <poplar/internal/VertexGroup.hpp>
#include <poputil/internal/Tiles.hpp>

#include <string>
#include <utility>
#include <vector>

namespace poplin::internal {

struct TriangularOptions {
  std::size_t blockSize = 64;
  poplar::OptionFlags matMul; // the others
};

// Throws poplar::invalid_option for a name or value that is not documented.
TriangularOptions parseTriangularOptions(const poplar::OptionFlags &options);

struct TriangularProblem {
  std::size_t groups = 1;
  std::size_t side = 1;    // of the triangular matrix
  std::size_t columns = 0; // of the right-hand side; 0: a factorisation
};

// The product after each block, [groups, m, k] times [groups, k, n].
std::vector<std::pair<MatMulParams, poplar::OptionFlags>>
triangularProducts(const TriangularProblem &problem, const poplar::Type &type,
                   const TriangularOptions &options);

// Phases "<name>/Diagonal" with vertices of type `vertex`, each followed by
// those of its product.
std::vector<poplar::internal::GroupPhase>
triangularPhases(poplar::Graph &graph, const std::string &name,
                 const std::string &vertex, const TriangularProblem &problem,
                 const TriangularOptions &options,
                 poputil::internal::TileRange tiles, const poplar::Tensor &a,
                 const poplar::Tensor &b);

} // namespace poplin::internal
