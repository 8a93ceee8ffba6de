#include <popops/internal/Passes.hpp>

#include <popops/internal/BroadcastVertex.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace popops::internal {

using poplar::Tensor;
using poputil::internal::supervisorVertex;

void PassList::elementwise(std::string name, std::string_view op,
                           const Tensor &like, bool isPerRow) {
  const auto *info = kernels::findElementwiseOp(op);
  const auto type = poplar::internal::tensorView(like).type;
  const auto columns =
      like.rank() == 0 ? std::uint64_t{1}
                       : std::max<std::uint64_t>(like.dim(like.rank() - 1), 1);
  pass(std::move(name), {}, like,
       [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
         if (info->arity == 1) {
           return supervisorVertex(
               fmt::format(
                   "popops::UnaryOp1DInPlace<popops::expr::UnaryOpType::{},{}>",
                   info->name, support::toString(type)),
               kernels::cost::unaryOp1D(tile, *info, type, n, true), 1, n);
         }
         return broadcastVertex(tile, *info, type,
                                isPerRow ? Repeat{Repeat::Kind::Outer, columns}
                                         : Repeat{},
                                n, true);
       });
}

void PassList::pass(std::string name, const std::vector<Tensor> &inputs,
                    const Tensor &like, const VertexForShare &vertex) {
  phases_.push_back(planPass(graph_, std::move(name), inputs, like, vertex));
}

void PassList::reduce(const std::string &name, std::string_view op,
                      const Tensor &from, std::uint64_t outputs, bool isInner) {
  const auto type = poplar::internal::tensorView(from).type;
  const auto results = std::max<std::uint64_t>(outputs, 1);
  const Reduction reduction{
      .op = op,
      .type = type,
      .outputType = type,
      .outputs = results,
      .partials = std::max<std::uint64_t>(from.numElements() / results, 1),
      .isInner = isInner};
  for (auto &phase : planReductionOf(graph_, name, reduction, from)) {
    phases_.push_back(std::move(phase));
  }
}

} // namespace popops::internal
