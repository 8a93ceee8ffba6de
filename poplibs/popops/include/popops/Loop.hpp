// Loops that count.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <functional>

namespace popops {

using CountedLoopBodyType =
    std::function<poplar::program::Program(const poplar::Tensor &)>;

// Runs the body for each number from `begin` on, below `end`. The body is built
// once, with the UNSIGNED_INT tensor of one element that holds the number.
poplar::program::Sequence
countedLoop(poplar::Graph &graph, std::size_t begin, std::size_t end,
            std::size_t step, const CountedLoopBodyType &body,
            const poplar::DebugContext &debugContext = {});
poplar::program::Sequence
countedLoop(poplar::Graph &graph, std::size_t count,
            const CountedLoopBodyType &body,
            const poplar::DebugContext &debugContext = {});

// for (count = initialCount; count != countLimit; count += countStep) body.
// The count, INT or UNSIGNED_INT, is the caller's, or one of the loop's own.
poplar::program::Sequence
countedForLoop(poplar::Graph &graph, const poplar::Tensor &count,
               int initialCount, const poplar::Tensor &countLimit,
               int countStep, const poplar::program::Program &body,
               const poplar::DebugContext &debugContext = {});
poplar::program::Sequence
countedForLoop(poplar::Graph &graph, int initialCount,
               const poplar::Tensor &countLimit, int countStep,
               const poplar::program::Program &body,
               const poplar::DebugContext &debugContext = {});

// Adds countStep to the count on a tile; the result is whether it is not yet
// the limit.
poplar::Tensor
addForLoopCounterVertex(poplar::Graph &graph, const poplar::Tensor &count,
                        const poplar::Tensor &countLimit, int countStep,
                        unsigned tile, poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext);

} // namespace popops
