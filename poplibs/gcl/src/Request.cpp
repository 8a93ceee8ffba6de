#include "Request.hpp"

#include "Plan.hpp"

#include <popops/internal/Kinds.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace gcl::internal {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::internal::CollectiveKind;
using poplar::internal::CollectivePlan;
using poputil::poplibs_error;
using support::requireUser;

namespace {

using Shape = std::vector<std::size_t>;

CollectivePlan planFor(const Request &request, const poplar::Type &type) {
  const bool isReduction = request.kind == CollectiveKind::AllReduce ||
                           request.kind == CollectiveKind::ReduceScatter;
  CollectivePlan plan;
  plan.kind = request.kind;
  plan.method = methodOf(request.options);
  if (isReduction) {
    plan.op = operatorOf(request.op, type, request.function);
  }
  plan.groups = groupsOf(request.graph.getReplicationFactor(), request.group);
  plan.root = request.root;
  requireUser<poplibs_error>(request.root < plan.groups[0].size(),
                             "[gcl::{}] replica {} is to send; a group has {}",
                             request.function, request.root,
                             plan.groups[0].size());
  return plan;
}

Shape resultShape(const Request &request, const Tensor &data,
                  std::size_t members) {
  Shape shape = data.shape();
  switch (request.kind) {
  case CollectiveKind::ReduceScatter:
    requireUser<poplibs_error>(data.rank() == 1,
                               "[gcl::{}] a tensor of shape {} given; rank 1 "
                               "is needed",
                               request.function, data.shapeToString());
    return {(shape[0] + members - 1) / members};
  case CollectiveKind::AllGather:
    shape.insert(shape.begin(), members);
    return shape;
  case CollectiveKind::AllToAll:
    requireUser<poplibs_error>(
        data.rank() > 0 && shape[0] == members,
        "[gcl::{}] a tensor of shape {} given; the first dimension must be the "
        "{} members of a group",
        request.function, data.shapeToString(), members);
    return shape;
  case CollectiveKind::AllReduce:
  case CollectiveKind::Broadcast:
    break;
  }
  return shape;
}

// A new tensor for the result: where the data lies, or all of its copies, or a
// part of it.
Tensor addResult(const Request &request, const Tensor &data,
                 const Shape &shape) {
  Graph &graph = request.graph;
  const DebugContext name{request.debugContext, "out"};
  if (request.kind == CollectiveKind::AllGather) {
    Tensors rows;
    for (std::size_t i = 0; i < shape[0]; ++i) {
      rows.push_back(graph.clone(data, name).expand({0}));
    }
    return poplar::concat(rows);
  }
  if (request.kind == CollectiveKind::ReduceScatter) {
    const Tensor part = graph.addVariable(data.elementType(), shape, name);
    poputil::mapTensorLinearly(graph, part);
    return part;
  }
  return graph.clone(data, name);
}

// A replica that is alone has nobody to exchange with.
void runTogether(const Request &request, const Tensor &from, const Tensor &to) {
  const DebugContext context{request.debugContext, request.function};
  const auto plan = planFor(request, from.elementType());
  if (request.graph.getReplicationFactor() > 1) {
    poplar::internal::addCollective(request.prog, plan, from, to, context);
  } else if (plan.op == poplar::internal::CollectiveOperator::SquareAdd) {
    const auto square = kernels::Expression::apply(
        kernels::ElementwiseOp::SQUARE, {kernels::Expression::input(0)});
    popops::internal::elementwiseWithOutput(request.graph, square, {from}, to,
                                            request.prog, context);
  } else {
    request.prog.add(poplar::program::Copy(from, to, false, context));
  }
}

void run(const Request &request, const Tensors &datas,
         const Tensors &destinations) {
  const bool isCut = request.kind == CollectiveKind::ReduceScatter ||
                     request.kind == CollectiveKind::AllToAll ||
                     request.kind == CollectiveKind::AllGather;
  std::vector<bool> isDone(datas.size());
  for (std::size_t first = 0; first < datas.size(); ++first) {
    const poplar::Type type = datas[first].elementType();
    Tensors from, to;
    for (std::size_t i = first; i < datas.size(); ++i) {
      if (!isDone[i] && datas[i].elementType() == type &&
          (from.empty() || !isCut)) {
        from.push_back(datas[i].flatten());
        to.push_back(destinations[i].flatten());
        isDone[i] = true;
      }
    }
    if (!from.empty()) {
      runTogether(request, poplar::concat(from), poplar::concat(to));
    }
  }
}

} // namespace

Tensors runToNew(const Request &request, const Tensors &datas) {
  Tensors results;
  for (const Tensor &data : datas) {
    const auto plan = planFor(request, data.elementType());
    results.push_back(addResult(
        request, data, resultShape(request, data, plan.groups[0].size())));
  }
  run(request, datas, results);
  return results;
}

void runTo(const Request &request, const Tensors &datas,
           const Tensors &destinations) {
  requireUser<poplibs_error>(datas.size() == destinations.size(),
                             "[gcl::{}] {} tensors and {} destinations given",
                             request.function, datas.size(),
                             destinations.size());
  for (std::size_t i = 0; i < datas.size(); ++i) {
    const auto plan = planFor(request, datas[i].elementType());
    const Shape shape = resultShape(request, datas[i], plan.groups[0].size());
    std::size_t elements = 1;
    for (std::size_t extent : shape) {
      elements *= extent;
    }
    requireUser<poplibs_error>(
        destinations[i].numElements() == elements &&
            destinations[i].elementType() == datas[i].elementType(),
        "[gcl::{}] a destination of {}{} given; {} elements of {} are needed",
        request.function,
        destinations[i].elementType().toString().cloneAsString(),
        destinations[i].shapeToString(), elements,
        datas[i].elementType().toString().cloneAsString());
  }
  run(request, datas, destinations);
}

} // namespace gcl::internal
