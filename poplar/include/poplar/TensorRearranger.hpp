// An order of a tensor's elements that is simpler in memory, and the way back.
#pragma once

#include <poplar/Tensor.hpp>

#include <memory>

namespace poplar {

namespace internal {
class ElementOrder;
} // namespace internal

class TensorRearranger {
public:
  TensorRearranger() = default; // keeps every order

  // Tensors have as many elements as the one that this was made for; results
  // are flat.
  Tensor rearrange(const Tensor &tensor) const;
  Tensor undoRearrangement(const Tensor &tensor) const;

private:
  friend class Graph;
  explicit TensorRearranger(std::shared_ptr<const internal::ElementOrder> order)
      : order_(std::move(order)) {}

  std::shared_ptr<const internal::ElementOrder> order_;
};

} // namespace poplar
