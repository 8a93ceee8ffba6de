#include <popops/Fill.hpp>

#include <popops/Zero.hpp>
#include <popops/internal/Kinds.hpp>

#include <poputil/internal/Emit.hpp>

namespace popops {

void detail::fill(poplar::Graph &graph, const poplar::Tensor &t,
                  poplar::program::Sequence &prog, double value,
                  const poplar::DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Fill");
  internal::fill(graph, t, value, prog, {debugContext, "Fill"});
}

void zero(poplar::Graph &graph, const poplar::Tensor &t,
          poplar::program::Sequence &prog,
          const poplar::DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Fill");
  internal::fill(graph, t, 0, prog, {debugContext, "Zero"});
}

} // namespace popops
