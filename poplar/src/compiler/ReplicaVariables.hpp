// The variables of a replicated graph, once for each replica that an engine
// runs, and views of them.
#pragma once

#include "compiler/ExpandReplicas.hpp"

#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace poplar::compiler {

class ReplicaVariables {
public:
  // Adds them to the graph: those of the first replica keep their ids, and
  // constants are shared, save for the replica's number.
  ReplicaVariables(internal::GraphData &graph, const RuntimeReplicas &runtime);

  // Replicas count from the first that is run.
  internal::VariableId of(internal::VariableId variable,
                          unsigned replica) const {
    return ids_[replica][variable.index()];
  }
  internal::TensorView viewOf(internal::TensorView view,
                              unsigned replica) const;
  // The views of all replicas after each other.
  internal::TensorView joinAll(const internal::TensorView &view) const;

private:
  std::vector<std::vector<internal::VariableId>> ids_; // by replica, variable
};

// Views like `view` after each other; `partOf(i)` is one of them.
internal::TensorView
joinViews(const internal::TensorView &view, std::size_t count,
          const std::function<internal::TensorView(std::size_t)> &partOf);

} // namespace poplar::compiler
