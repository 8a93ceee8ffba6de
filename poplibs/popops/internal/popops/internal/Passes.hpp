// A kind as a list of element-wise passes and reductions over its tensors: how
// PopLibs composes norms, softmaxes and losses.
#pragma once

#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/ReducePlan.hpp>
#include <poputil/internal/Emit.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace popops::internal {

class PassList {
public:
  explicit PassList(const poplar::Graph &graph) : graph_(graph) {}

  // One operator over all of `like`, whose mapping it follows: "SUBTRACT" with
  // a value per row of the innermost dimension when `isPerRow`.
  void elementwise(std::string name, std::string_view op,
                   const poplar::Tensor &like, bool isPerRow = false);

  // Any vertex, on the tiles of `like`; the inputs that lie elsewhere are
  // exchanged in.
  void pass(std::string name, const std::vector<poplar::Tensor> &inputs,
            const poplar::Tensor &like, const VertexForShare &vertex);

  // All of `from` to `outputs` results.
  void reduce(const std::string &name, std::string_view op,
              const poplar::Tensor &from, std::uint64_t outputs, bool isInner);

  std::vector<poplar::internal::GroupPhase> take() {
    return std::move(phases_);
  }

private:
  const poplar::Graph &graph_;
  std::vector<poplar::internal::GroupPhase> phases_;
};

} // namespace popops::internal
