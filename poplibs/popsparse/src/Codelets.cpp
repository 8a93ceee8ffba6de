#include <popsparse/codelets.hpp>

#include <poputil/internal/Emit.hpp>

namespace popsparse {

void addCodelets(poplar::Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "popsparse");
}

} // namespace popsparse
