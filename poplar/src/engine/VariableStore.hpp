// The row-major storage of variables that live longer than one run of one
// program, and the packing and unpacking of views over it. What no program
// reads where it lies needs none: the graph has its initial value, and the host
// may lend what it wrote.
#pragma once

#include "engine/AlignedBuffer.hpp"

#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace poplar::engine {

class VariableStore {
public:
  // `isStored[v]` says whether variable v has storage from the start.
  VariableStore(const internal::GraphData &graph,
                const std::vector<bool> &isStored);

  // Gives every variable of the graph its initial value, or zeros.
  void reset();

  // Storage for a variable that is not of the graph.
  internal::VariableId add(std::size_t bytes);

  // Storage for a variable of the graph, with the value that it has; for good:
  // programs may know its address.
  void store(internal::VariableId variable);

  // Storage for zeros, where nobody has the variable's value.
  void requireValue(internal::VariableId variable);

  // Its storage or, where it has none, whoever has its value: that may not be
  // written and is aligned for its elements alone. Null for zeros.
  std::byte *data(internal::VariableId variable) const;

  std::size_t bytes() const { return bytes_; } // of all that is stored

  // Copies the elements of a view, in its row-major order, out of and into the
  // variables.
  void pack(const internal::TensorView &view, std::byte *packed) const;
  void unpack(const std::byte *packed, const internal::TensorView &view);

  // The same as unpacking, but variables that need no storage give it up for
  // what is lent, which nobody changes any more.
  void lend(const std::shared_ptr<const std::byte> &packed,
            const internal::TensorView &view);

  // Whether the elements of a view lie there, as what was lent.
  bool isAt(const std::byte *packed, const internal::TensorView &view) const;

private:
  struct Place {
    AlignedBuffer own;
    std::shared_ptr<const std::byte> lent;
    bool isForGood = false;
  };

  std::byte *own(internal::VariableId variable);
  void leave(Place &place); // its storage

  const internal::GraphData &graph_;
  std::vector<Place> places_;
  std::size_t bytes_ = 0;
};

} // namespace poplar::engine
