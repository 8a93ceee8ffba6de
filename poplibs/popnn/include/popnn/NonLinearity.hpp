// Non-linearities and their gradients. Softmax runs over the innermost
// dimension.
#pragma once

#include <popnn/NonLinearityDef.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popnn {

poplar::Tensor nonLinearity(poplar::Graph &graph,
                            NonLinearityType nonLinearityType, poplar::Tensor t,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {});
// `nonLinearityScaling` is what the result was multiplied by: 1 but for
// SOFTMAX_SCALED.
poplar::Tensor nonLinearity(poplar::Graph &graph,
                            NonLinearityType nonLinearityType, poplar::Tensor t,
                            float &nonLinearityScaling,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {});

void nonLinearityInPlace(poplar::Graph &graph,
                         NonLinearityType nonLinearityType, poplar::Tensor t,
                         poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {});
void nonLinearityInPlace(poplar::Graph &graph,
                         NonLinearityType nonLinearityType, poplar::Tensor t,
                         float &nonLinearityScaling,
                         poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {});
// Softmax needs several compute sets and is not taken.
void nonLinearityInPlace(poplar::Graph &graph,
                         NonLinearityType nonLinearityType, poplar::Tensor t,
                         poplar::ComputeSet &computeSet,
                         const poplar::DebugContext &debugContext = {});

// `act` is the output of the non-linearity, but its input for GELU, GELU_ERF
// and SWISH.
poplar::Tensor nonLinearityInputGradient(
    poplar::Graph &graph, NonLinearityType nonLinearityType, poplar::Tensor act,
    poplar::Tensor outGradient, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {});
poplar::Tensor nonLinearityInputGradient(
    poplar::Graph &graph, NonLinearityType nonLinearityType, poplar::Tensor act,
    poplar::Tensor outGradient, poplar::ComputeSet &computeSet,
    const poplar::DebugContext &debugContext = {});

// sigmoid(), sigmoidInPlace() and so on.
#define POPNN_NON_LINEARITY(function, TYPE)                                    \
  inline poplar::Tensor function(                                              \
      poplar::Graph &graph, poplar::Tensor t, poplar::program::Sequence &prog, \
      const poplar::DebugContext &debugContext = {}) {                         \
    return nonLinearity(graph, NonLinearityType::TYPE, t, prog, debugContext); \
  }                                                                            \
  inline void function##InPlace(                                               \
      poplar::Graph &graph, poplar::Tensor t, poplar::program::Sequence &prog, \
      const poplar::DebugContext &debugContext = {}) {                         \
    nonLinearityInPlace(graph, NonLinearityType::TYPE, t, prog, debugContext); \
  }
POPNN_NON_LINEARITY(sigmoid, SIGMOID)
POPNN_NON_LINEARITY(relu, RELU)
POPNN_NON_LINEARITY(tanh, TANH)
POPNN_NON_LINEARITY(gelu, GELU)
POPNN_NON_LINEARITY(geluErf, GELU_ERF)
POPNN_NON_LINEARITY(swish, SWISH)
POPNN_NON_LINEARITY(softmax, SOFTMAX)
POPNN_NON_LINEARITY(softmaxStable, SOFTMAX_STABLE)
#undef POPNN_NON_LINEARITY

inline poplar::Tensor
scaledSoftmaxStable(poplar::Graph &graph, poplar::Tensor t,
                    float &nonLinearityScaling, poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {}) {
  return nonLinearity(graph, NonLinearityType::SOFTMAX_SCALED, t,
                      nonLinearityScaling, prog, debugContext);
}

} // namespace popnn
