#include "compiler/ReplicaVariables.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

namespace poplar::compiler {

using internal::GraphData;
using internal::TensorView;
using internal::Variable;
using internal::VariableId;

ReplicaVariables::ReplicaVariables(GraphData &graph,
                                   const RuntimeReplicas &runtime) {
  const std::size_t count = graph.variables.size();
  ids_.resize(runtime.count, std::vector<VariableId>(count));
  for (std::size_t v = 0; v < count; ++v) {
    const bool isIndex = graph.variables[v].isReplicaIndex;
    const bool isShared = graph.variables[v].isConstant && !isIndex;
    for (unsigned r = 0; r < runtime.count; ++r) {
      const bool isNew = r > 0 && !isShared;
      ids_[r][v] = VariableId(isNew ? graph.variables.size() : v);
      if (isNew) {
        Variable copy = graph.variables[v];
        graph.variables.push_back(std::move(copy));
      }
      if (isIndex) {
        const std::uint32_t index = runtime.first + r;
        auto &data = graph.variables[ids_[r][v].index()].initialData;
        std::memcpy(data.data(), &index, sizeof(index));
      }
    }
  }
}

TensorView ReplicaVariables::viewOf(TensorView view, unsigned replica) const {
  for (internal::Piece &piece : view.pieces) {
    piece.variable = of(piece.variable, replica);
  }
  return view;
}

TensorView ReplicaVariables::joinAll(const TensorView &view) const {
  return joinViews(view, ids_.size(), [&](std::size_t replica) {
    return viewOf(view, static_cast<unsigned>(replica));
  });
}

TensorView joinViews(const TensorView &view, std::size_t count,
                     const std::function<TensorView(std::size_t)> &partOf) {
  TensorView joined = view;
  joined.pieces.clear();
  joined.shape.insert(joined.shape.begin(), static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const TensorView part = partOf(i);
    joined.pieces.insert(joined.pieces.end(), part.pieces.begin(),
                         part.pieces.end());
  }
  return joined;
}

} // namespace poplar::compiler
