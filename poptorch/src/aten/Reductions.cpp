// Reductions.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

#include <numeric>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::TensorId;

Attributes reduceAttributes(CallLowering &call, const TensorId &x,
                            std::vector<std::int64_t> axes) {
  popart::Rank rank = call.rank(x);
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::int64_t &axis : axes) {
    axis = CallLowering::normalise(axis, rank);
  }
  return Attributes().set("axes", axes).set("keepdims", Attributes::Int{0});
}

// sum(x, dtype) and mean(x, dtype): everything.
void lowerReduceAll(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  call.setResult(
      0, call.add(call.popartType(), {x}, reduceAttributes(call, x, {})));
}

// sum(x, dims, keepdim, dtype), mean(x, dims, keepdim, dtype)
void lowerReduceDims(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  auto axes = call.isNone(1) ? std::vector<std::int64_t>() : call.integers(1);
  TensorId y =
      call.add(call.popartType(), {x}, reduceAttributes(call, x, axes));
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

} // namespace

std::vector<AtenRow> reductionRows() {
  return {
      {"aten::sum", lowerReduceAll, "ReduceSum"},
      {"aten::mean", lowerReduceAll, "ReduceMean"},
      {"aten::sum.dim_IntList", lowerReduceDims, "ReduceSum"},
      {"aten::mean.dim", lowerReduceDims, "ReduceMean"},
  };
}

} // namespace poptorch
