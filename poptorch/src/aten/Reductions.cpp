// Reductions.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>
#include <cmath>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

void setReduced(CallLowering &call, const TensorId &y, std::size_t i = 0) {
  call.setResult(i, call.reshape(y, call.resultInfo(i).shape()));
}

// sum(x, dtype) and its like: everything.
void lowerReduceAll(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  setReduced(call, reducedOver(call, call.popartType().c_str(), x,
                               numbersTo(call.rank(x)), false));
}

// sum(x, dims, keepdim, dtype) and its like, also with a single dim.
void lowerReduceDims(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  setReduced(call, reducedOver(call, call.popartType().c_str(), x,
                               dimsOf(call, 1, call.rank(x)), false));
}

// What counts as true: 1 and 0 of INT32.
TensorId truths(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId isTrue =
      call.type(x) == DataType::BOOL
          ? x
          : call.add("NotEqual", {x, call.scalar(0, call.type(x))});
  return call.cast(isTrue, DataType::INT32);
}

// all and any, over everything or one dimension; count_nonzero over a list.
void lowerTruths(CallLowering &call) {
  TensorId x = truths(call);
  setReduced(call, reducedOver(call, call.popartType().c_str(), x,
                               dimsOf(call, 1, call.rank(x)), false));
}

// The variance, with the mean as a second result for ..._mean:
// var(x, dims, correction, keepdim).
void lowerVariance(CallLowering &call) {
  TensorId x = call.tensor(0);
  Ints dims = dimsOf(call, 1, call.rank(x));
  double correction = call.isNone(2) ? 1 : call.real(2);
  double count = 1;
  for (std::int64_t dim : dims) {
    count *= static_cast<double>(call.shape(x)[static_cast<std::size_t>(dim)]);
  }
  TensorId mean = reducedOver(call, "ReduceMean", x, dims, true);
  TensorId squares = call.add("Square", {call.add("Sub", {x, mean})});
  TensorId sum = reducedOver(call, "ReduceSum", squares, dims, false);
  TensorId y = call.times(sum, 1 / std::max(0.0, count - correction));
  bool isDeviation = call.call().op.starts_with("aten::std");
  setReduced(call, isDeviation ? call.add("Sqrt", {y}) : y);
  if (call.hasResult(1)) {
    setReduced(call, mean, 1);
  }
}

// norm(x, p, dims, keepdim, dtype) and its like; p is 2 where there is none.
void lowerNorm(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  double p = call.isNone(1) ? 2 : call.real(1);
  bool hasDims = call.call().op != "aten::norm.Scalar" &&
                 call.call().op != "aten::norm.ScalarOpt_dtype";
  Ints dims = hasDims ? dimsOf(call, 2, call.rank(x)) : numbersTo(call.rank(x));
  setReduced(call, normOver(call, x, p, dims, false));
}

// dist(a, b, p)
void lowerDist(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x =
      call.add("Sub", {call.tensorAs(0, type), call.tensorAs(1, type)});
  setReduced(call,
             normOver(call, x, call.real(2), numbersTo(call.rank(x)), false));
}

// linalg_matrix_norm(x, ord, dims, keepdim, dtype), ord being a number or a
// name.
void lowerMatrixNorm(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  Ints dims = dimsOf(call, 2, call.rank(x));
  if (call.call().op == "aten::linalg_matrix_norm.str_ord") {
    if (call.string(1) != "fro") {
      call.fail("Matrix nuclear norm is not supported.");
    }
    setReduced(call, normOver(call, x, 2, dims, false));
    return;
  }
  double order = call.real(1);
  if (std::abs(order) == 2) {
    call.fail("Matrix 2-norm is not supported.");
  }
  // The greatest sum of a column (1) or of a row (infinity); or the least.
  std::size_t inner = std::isinf(order) ? 1 : 0;
  TensorId sums =
      reducedOver(call, "ReduceSum", call.add("Abs", {x}), {dims[inner]}, true);
  setReduced(call, reducedOver(call, order > 0 ? "ReduceMax" : "ReduceMin",
                               sums, {dims[1 - inner]}, false));
}

// nansum(x, dims, keepdim, dtype)
void lowerNanSum(CallLowering &call) {
  TensorId x = call.tensor(0);
  DataType type = call.type(x);
  if (isFloat(type)) {
    x = chosen(call, call.add("IsNaN", {x}), call.scalar(0, type), x);
  }
  x = call.cast(x, call.resultInfo().dataType());
  setReduced(call, reducedOver(call, "ReduceSum", x,
                               dimsOf(call, 1, call.rank(x)), false));
}

} // namespace

std::vector<AtenRow> reductionRows() {
  return {
      {"aten::sum", lowerReduceAll, "ReduceSum"},
      {"aten::mean", lowerReduceAll, "ReduceMean"},
      {"aten::prod", lowerReduceAll, "ReduceProd"},
      {"aten::max", lowerReduceAll, "ReduceMax"},
      {"aten::min", lowerReduceAll, "ReduceMin"},
      {"aten::sum.dim_IntList", lowerReduceDims, "ReduceSum"},
      {"aten::mean.dim", lowerReduceDims, "ReduceMean"},
      {"aten::prod.dim_int", lowerReduceDims, "ReduceProd"},
      {"aten::amax", lowerReduceDims, "ReduceMax"},
      {"aten::amin", lowerReduceDims, "ReduceMin"},
      {"aten::logsumexp", lowerReduceDims, "ReduceLogSumExp"},
      {"aten::all", lowerTruths, "ReduceMin"},
      {"aten::all.dim", lowerTruths, "ReduceMin"},
      {"aten::any", lowerTruths, "ReduceMax"},
      {"aten::any.dim", lowerTruths, "ReduceMax"},
      {"aten::count_nonzero", lowerTruths, "ReduceSum"},
      {"aten::count_nonzero.dim_IntList", lowerTruths, "ReduceSum"},
      {"aten::var.correction", lowerVariance},
      {"aten::var_mean.correction", lowerVariance},
      {"aten::std.correction", lowerVariance},
      {"aten::std_mean.correction", lowerVariance},
      {"aten::norm.Scalar", lowerNorm},
      {"aten::norm.ScalarOpt_dim", lowerNorm},
      {"aten::norm.ScalarOpt_dim_dtype", lowerNorm},
      {"aten::norm.ScalarOpt_dtype", lowerNorm},
      {"aten::linalg_vector_norm", lowerNorm},
      {"aten::linalg_matrix_norm", lowerMatrixNorm},
      {"aten::linalg_matrix_norm.str_ord", lowerMatrixNorm},
      {"aten::dist", lowerDist},
      {"aten::nansum", lowerNanSum},
  };
}

} // namespace poptorch
