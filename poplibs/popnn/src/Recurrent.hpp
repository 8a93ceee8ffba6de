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
