// Tensors of random numbers, and dropout.
//
// Every function takes a seed: a tensor of two UNSIGNED_INT elements, and a
// number that modifies it. Equal seeds, modifiers and shapes give equal
// numbers, whatever the tile mapping, the type of executor or the number of
// threads. Without a seed (nullptr) the hardware seeds of the tile that holds
// the first element are used (poplar/RandomSeed.hpp), and each use moves them
// on.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cmath>
#include <cstdint>

namespace poprand {

// A new tensor like `reference` (shape and mapping) of `outType`, with numbers
// between the bounds: FLOAT and HALF in [minVal, maxVal), up to the rounding of
// the type; INT with both bounds included.
poplar::Tensor uniform(poplar::Graph &graph, const poplar::Tensor *seed,
                       std::uint32_t seedModifier,
                       const poplar::Tensor &reference,
                       const poplar::Type &outType, double minVal,
                       double maxVal, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {});

// FLOAT or HALF.
poplar::Tensor normal(poplar::Graph &graph, const poplar::Tensor *seed,
                      std::uint32_t seedModifier,
                      const poplar::Tensor &reference,
                      const poplar::Type &outType, double mean, double stdDev,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {});

// The normal distribution between mean - alpha * stdDev and mean + alpha *
// stdDev: FLOAT or HALF.
poplar::Tensor truncatedNormal(poplar::Graph &graph, const poplar::Tensor *seed,
                               std::uint32_t seedModifier,
                               const poplar::Tensor &reference,
                               const poplar::Type &outType, double mean,
                               double stdDev, double alpha,
                               poplar::program::Sequence &prog,
                               const poplar::DebugContext &debugContext = {});

// 1 with probability `prob`, else 0: FLOAT, HALF or INT.
poplar::Tensor bernoulli(poplar::Graph &graph, const poplar::Tensor *seed,
                         std::uint32_t seedModifier,
                         const poplar::Tensor &reference,
                         const poplar::Type &outType, double prob,
                         poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {});

// Numbers whose logarithm is uniform, from minVal (above 0) to maxVal. Which
// base the logarithm has makes no difference to them. FLOAT, HALF or INT.
poplar::Tensor logUniform(poplar::Graph &graph, const poplar::Tensor *seed,
                          std::uint32_t seedModifier,
                          const poplar::Tensor &reference,
                          const poplar::Type &outType, double minVal,
                          double maxVal, poplar::program::Sequence &prog,
                          double base = M_E,
                          const poplar::DebugContext &debugContext = {});

// Each element times `scale` with probability `keepProbability`, else 0. The
// same seed gives the same mask: apply it to the gradient for the backward
// pass. The result is laid out as the input, or as `reference` if
// `outputClonesRef`.
poplar::Tensor dropout(poplar::Graph &graph, const poplar::Tensor *seed,
                       std::uint32_t seedModifier, const poplar::Tensor &input,
                       const poplar::Tensor &reference, double keepProbability,
                       double scale, bool outputClonesRef,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {});
poplar::Tensor dropout(poplar::Graph &graph, const poplar::Tensor *seed,
                       std::uint32_t seedModifier, const poplar::Tensor &input,
                       const poplar::Tensor &reference, double keepProbability,
                       double scale, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {});

// The same with one decision for each element of `reference`, whose shape is
// broadcast to that of the input.
poplar::Tensor shapedDropout(poplar::Graph &graph, const poplar::Tensor *seed,
                             std::uint32_t seedModifier,
                             const poplar::Tensor &input,
                             const poplar::Tensor &reference,
                             double keepProbability, double scale,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {});

// Sets the hardware seeds of all tiles from a seed.
void setSeed(poplar::Graph &graph, const poplar::Tensor &masterSeed,
             std::uint32_t seedModifier, poplar::program::Sequence &prog,
             const poplar::DebugContext &debugContext = {});

} // namespace poprand
