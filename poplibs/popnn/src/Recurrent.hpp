// What LSTM and GRU layers share in front of their kinds.
#pragma once

#include <popnn/NonLinearityDef.hpp>
#include <popnn/Rnn.hpp>

#include <kernels/Attributes.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplin/MatMul.hpp>

#include <string>
#include <utility>
#include <vector>

namespace popnn::internal {

// The name of a non-linearity that a cell may have; throws poplibs_error for
// another.
std::string gateFunctionName(const char *layer, NonLinearityType type);

// Where each unit's weights are, from the units in the order of the weights.
// Throws poplibs_error unless every unit is there once.
template <typename Unit>
kernels::Attributes::Ints gatePositions(const char *layer,
                                        const std::vector<Unit> &order,
                                        std::size_t units);
kernels::Attributes::Ints gatePositions(const char *layer,
                                        const std::vector<unsigned> &order,
                                        std::size_t units);

template <typename Unit>
kernels::Attributes::Ints gatePositions(const char *layer,
                                        const std::vector<Unit> &order,
                                        std::size_t units) {
  return gatePositions(layer, std::vector<unsigned>(order.begin(), order.end()),
                       units);
}

// Throws poplibs_error unless there are an input and an output size.
void checkSizes(const char *layer, const rnn::RnnParams &params);
void requireShape(const char *layer, const char *name,
                  const poplar::Tensor &tensor,
                  const std::vector<std::size_t> &shape);

// The shapes of a layer's state, of a sequence of vectors of `size`, and of the
// weights of `units` gates; what a call is given must have them.
std::vector<std::size_t> stateShape(const rnn::RnnParams &params);
std::vector<std::size_t> sequenceShape(const rnn::RnnParams &params,
                                       std::size_t size);
void requireOperands(const char *layer, const rnn::RnnParams &params,
                     std::size_t units, const poplar::Tensor &in,
                     const poplar::Tensor &inputWeights,
                     const poplar::Tensor &outputWeights);

// Operations of one pass's products, and elements of all steps' states.
std::uint64_t productFlops(const rnn::RnnParams &params, std::size_t units,
                           bool withInput);
std::uint64_t stateElements(const rnn::RnnParams &params);

// The input weights and the output weights.
std::pair<poplar::Tensor, poplar::Tensor>
addWeights(poplar::Graph &graph, const rnn::RnnParams &params,
           std::size_t units, const poplar::DebugContext &debugContext);

// The products of all passes of a layer with so many units, and the options of
// theirs among the layer's.
std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>>
layerProducts(const rnn::RnnParams &params, std::size_t units,
              const poplar::OptionFlags &options);

// A variable spread linearly.
poplar::Tensor addOperand(poplar::Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape,
                          const poplar::DebugContext &debugContext);

} // namespace popnn::internal
