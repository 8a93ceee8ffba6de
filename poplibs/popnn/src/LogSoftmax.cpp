#include <popnn/LogSoftmax.hpp>

#include <popnn/codelets.hpp>
#include <popnn/internal/Kinds.hpp>

#include <popops/codelets.hpp>
#include <poputil/internal/Emit.hpp>

namespace popnn {

poplar::Tensor logSoftmax(poplar::Graph &graph, poplar::Tensor t,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popnn", "popnn::LogSoftmax");
  return internal::logSoftmax(graph, {}, {t}, prog,
                              {debugContext, "LogSoftmax"}, {})
      .front();
}

void logSoftmaxInPlace(poplar::Graph &graph, poplar::Tensor t,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext) {
  const auto out = logSoftmax(graph, t, prog, debugContext);
  prog.add(poplar::program::Copy(out, t, false, debugContext));
}

void addCodelets(poplar::Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "popnn");
  // Its operations reduce and map with the vertices of popops.
  popops::addCodelets(graph);
}

} // namespace popnn
