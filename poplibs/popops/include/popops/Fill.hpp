// Setting every element of a tensor to a value.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <type_traits>
#include <vector>

namespace popops {

namespace detail {
void fill(poplar::Graph &graph, const poplar::Tensor &t,
          poplar::program::Sequence &prog, double value,
          const poplar::DebugContext &debugContext);
void fill(poplar::Graph &graph, const poplar::Tensor &t,
          const std::vector<std::vector<poplar::Interval>> &mapping,
          poplar::ComputeSet cs, double value);
std::vector<std::vector<poplar::Interval>>
onTile(const std::vector<poplar::Interval> &regions, unsigned tile);
} // namespace detail

template <typename FillValueType>
typename std::enable_if<std::is_arithmetic<FillValueType>::value>::type
fill(poplar::Graph &graph, const poplar::Tensor &t,
     poplar::program::Sequence &prog, FillValueType value,
     const poplar::DebugContext &debugContext = {}) {
  detail::fill(graph, t, prog, static_cast<double>(value), debugContext);
}

// As vertices of a compute set: on each tile its regions of the flattened
// tensor; on one tile some regions, or everything.
template <typename FillValueType>
typename std::enable_if<std::is_arithmetic<FillValueType>::value>::type
fill(poplar::Graph &graph, const poplar::Tensor &t,
     const std::vector<std::vector<poplar::Interval>> &mapping,
     poplar::ComputeSet cs, FillValueType value) {
  detail::fill(graph, t, mapping, cs, static_cast<double>(value));
}
template <typename FillValueType>
typename std::enable_if<std::is_arithmetic<FillValueType>::value>::type
fill(poplar::Graph &graph, poplar::Tensor t,
     const std::vector<poplar::Interval> &tileRegions, unsigned tile,
     poplar::ComputeSet cs, FillValueType value) {
  detail::fill(graph, t, detail::onTile(tileRegions, tile), cs,
               static_cast<double>(value));
}
template <typename FillValueType>
typename std::enable_if<std::is_arithmetic<FillValueType>::value>::type
fill(poplar::Graph &graph, const poplar::Tensor &t, unsigned tile,
     poplar::ComputeSet cs, FillValueType value) {
  fill(graph, t, {poplar::Interval(0, t.numElements())}, tile, cs, value);
}

} // namespace popops
