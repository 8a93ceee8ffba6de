// A collective between replicas as a function was asked for it, and the program
// that it becomes.
#pragma once

#include <gcl/Collectives.hpp>

#include <poplar/internal/Collective.hpp>

namespace gcl::internal {

using Tensors = std::vector<poplar::Tensor>;

struct Request {
  poplar::Graph &graph;
  const char *function;
  poplar::internal::CollectiveKind kind;
  CollectiveOperator op;
  poplar::program::Sequence &prog;
  const CommGroup &group;
  const poplar::DebugContext &debugContext;
  const poplar::OptionFlags &options;
  unsigned root = 0;
};

// Into new tensors, or into those given. Tensors of one type travel together,
// unless members get parts of them.
Tensors runToNew(const Request &request, const Tensors &datas);
void runTo(const Request &request, const Tensors &datas,
           const Tensors &destinations);

} // namespace gcl::internal
