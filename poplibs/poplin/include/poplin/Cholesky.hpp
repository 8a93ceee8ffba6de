// Cholesky factors of symmetric positive definite matrices. Options as for
// matrix products, and blockSize (64): rows that a step of the plan takes.
#pragma once

#include <poplin/MatMul.hpp>
#include <poplin/PlanningCache.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <utility>
#include <vector>

namespace poplin {

// The products that a factor of this shape takes.
std::vector<std::pair<MatMulParams, poplar::OptionFlags>>
getCholeskyMatMulPrePlanParameters(const poplar::Type &type,
                                   const std::vector<std::size_t> &shape,
                                   bool lower, poplar::OptionFlags options);

// [..., n, n], mapped to suit the factorisation.
poplar::Tensor createCholeskyInput(poplar::Graph &graph,
                                   const poplar::Type &type,
                                   const std::vector<std::size_t> &shape,
                                   bool lower,
                                   const poplar::DebugContext &debugContext,
                                   const poplar::OptionFlags &options = {},
                                   PlanningCache *cache = nullptr);

// The factor L with L * L' = a, or U with U' * U = a; zeros beyond the
// triangle. Of `a` only that triangle is read. NaN where `a` is not positive
// definite.
poplar::Tensor cholesky(poplar::Graph &graph, const poplar::Tensor &a,
                        bool lower, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext = {},
                        poplar::OptionFlags options = {},
                        PlanningCache *cache = nullptr);
void choleskyInPlace(poplar::Graph &graph, const poplar::Tensor &a, bool lower,
                     poplar::program::Sequence &prog,
                     const poplar::DebugContext &debugContext = {},
                     poplar::OptionFlags options = {},
                     PlanningCache *cache = nullptr);

} // namespace poplin
