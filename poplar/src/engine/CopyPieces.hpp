// Between the elements of a view and packed memory, without allocating.
#pragma once

#include <poplar/internal/TensorView.hpp>

#include <cstddef>

namespace poplar::engine {

// `variables[v]` is element 0 of variable v, stored row-major.
void gather(const internal::TensorView &view, std::byte *const *variables,
            std::byte *packed);
void scatter(const std::byte *packed, const internal::TensorView &view,
             std::byte *const *variables);

} // namespace poplar::engine
