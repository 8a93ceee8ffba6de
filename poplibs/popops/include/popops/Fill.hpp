// Setting every element of a tensor to a value.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <type_traits>

namespace popops {

namespace detail {
void fill(poplar::Graph &graph, const poplar::Tensor &t,
          poplar::program::Sequence &prog, double value,
          const poplar::DebugContext &debugContext);
} // namespace detail

template <typename FillValueType>
typename std::enable_if<std::is_arithmetic<FillValueType>::value>::type
fill(poplar::Graph &graph, const poplar::Tensor &t,
     poplar::program::Sequence &prog, FillValueType value,
     const poplar::DebugContext &debugContext = {}) {
  detail::fill(graph, t, prog, static_cast<double>(value), debugContext);
}

} // namespace popops
