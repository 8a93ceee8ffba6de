// The row-major storage of variables that live longer than one run of one
// program, and the packing and unpacking of views over it.
#pragma once

#include "engine/AlignedBuffer.hpp"

#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <vector>

namespace poplar::engine {

class VariableStore {
public:
  // `isStored[v]` says whether variable v has storage here.
  VariableStore(const internal::GraphData &graph,
                const std::vector<bool> &isStored);

  // Gives every stored variable of the graph its initial value, or zeros.
  void reset();

  // Storage for a variable that is not of the graph.
  internal::VariableId add(std::size_t bytes);

  // Storage for a variable of the graph that has none yet.
  void store(internal::VariableId variable);

  // Its storage. A constant without any is read where the graph has its value,
  // aligned for its elements alone.
  std::byte *data(internal::VariableId variable) const;

  std::size_t bytes() const; // of all that is stored

  // Copies the elements of a view, in its row-major order, out of and into the
  // variables.
  void pack(const internal::TensorView &view, std::byte *packed) const;
  void unpack(const std::byte *packed, const internal::TensorView &view) const;

private:
  const internal::GraphData &graph_;
  std::vector<AlignedBuffer> buffers_;
};

} // namespace poplar::engine
