// The indices of XLA's gather and scatter, and the order of dimensions that
// they ask for.
#pragma once

#include <poplar/Tensor.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace popops::internal {

struct IndexVectors {
  poplar::Tensor starts;          // [windows, entries]
  std::vector<std::size_t> batch; // what the windows' dimension is made of
};

// Each run of `entries` along `indexVectorDim` is where a window starts; that
// dimension may be missing at the end, when there is one entry.
IndexVectors indexVectors(std::string_view function,
                          const poplar::Tensor &indices,
                          std::size_t indexVectorDim, std::size_t entries);

// [batch..., window...] from [windows, window...], with the dimensions of the
// window moved to `windowDims`, and back.
poplar::Tensor placeWindowDims(std::string_view function,
                               const poplar::Tensor &windows,
                               const std::vector<std::size_t> &batch,
                               const std::vector<std::size_t> &windowDims);
poplar::Tensor windowsFirst(std::string_view function,
                            const poplar::Tensor &updates,
                            const std::vector<std::size_t> &batch,
                            const std::vector<std::size_t> &windowDims);

} // namespace popops::internal
