// What one user vertex takes on its tile: bytes of state and cycles.
#pragma once

#include <poplar/internal/VertexTable.hpp>

#include <cstdint>

namespace poplar::model {

// Bytes of the fields on the machine, in order and aligned, without the data
// that they point to.
std::uint32_t stateBytes(const internal::VertexType &type);

// What lies beside the state.
struct VertexExtras {
  std::uint64_t listBytes = 0;  // pointers and counts of the entries of lists
  std::uint64_t fieldBytes = 0; // contents of Vector<T> fields
};
bool hasExtras(const internal::VertexType &type);
VertexExtras extrasOf(const internal::VertexTable &table,
                      internal::VertexId vertex);

// The user's estimate or, without one, a guess by the elements of its edges:
// worker cycles of a Vertex, tile cycles of the others.
std::uint64_t cyclesOf(const internal::VertexTable &table,
                       internal::VertexId vertex, unsigned workerContexts);

} // namespace poplar::model
