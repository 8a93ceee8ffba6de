// The shapes of a GRU layer's operands, and the checks of every call.
#pragma once

#include <popnn/Gru.hpp>

#include <vector>

namespace popnn::gru {

constexpr std::size_t units = BASIC_GRU_CELL_NUM_UNITS;

// Throws for options that are not documented and for sizes that make no layer.
void checkCall(const poplar::Graph &graph, const GruParams &params,
               const poplar::OptionFlags &options);

std::vector<std::size_t> biasShape(const GruParams &params);

} // namespace popnn::gru
