#include <popsparse/codelets.hpp>

#include <poplin/codelets.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/internal/Emit.hpp>

namespace popsparse {

void addCodelets(poplar::Graph &graph) {
  // Sparse operations are made of theirs.
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  popnn::addCodelets(graph);
  poputil::internal::addLibraryCodelets(graph, "popsparse");
}

} // namespace popsparse
