// What replicas of several engines have, brought together: each engine sends
// its own through a stream of the host and receives that of all by another.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <string>

namespace poplar::compiler {

// Adds the two streams and a variable for what comes back to `graph`, and the
// transfers to `program`. `own` joins the views of the engine's replicas; the
// result has the elements of each of `replicas`, in their order.
internal::TensorView addExchange(internal::GraphData &graph,
                                 const internal::TensorView &own,
                                 unsigned replicas,
                                 const std::string &debugPath,
                                 internal::SequenceNode &program);

// One replica's elements of what addExchange returned.
internal::TensorView exchangedPart(const internal::TensorView &all,
                                   unsigned replica);

} // namespace poplar::compiler
