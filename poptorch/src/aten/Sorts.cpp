// Elements in order, where they are, and running totals.
#include "AtenTable.hpp"
#include "Parts.hpp"

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// The k first along a dimension and where they are.
std::vector<TensorId> firsts(CallLowering &call, const TensorId &x,
                             std::int64_t dim, std::int64_t k, bool isLargest) {
  return call.addSeveral("ai.onnx", "TopK", {x}, 2,
                         Attributes()
                             .set("axis", dim)
                             .set("k", k)
                             .set("largest", std::int64_t{isLargest}));
}

void setBoth(CallLowering &call, const std::vector<TensorId> &results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (call.hasResult(i)) {
      call.setResult(i, call.reshape(results[i], call.resultInfo(i).shape()));
    }
  }
}

// topk(x, k, dim, largest)
void lowerTopK(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  setBoth(call, firsts(call, x, dimOf(call, 2, call.rank(x)), call.integer(1),
                       call.boolean(3)));
}

// sort(x, dim, descending) and sort(x, stable, dim, descending)
void lowerSort(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  std::size_t first = call.call().op == "aten::sort.stable" ? 2 : 1;
  auto dim = dimOf(call, first, call.rank(x));
  setBoth(call,
          firsts(call, x, dim, call.shape(x)[static_cast<std::size_t>(dim)],
                 call.boolean(first + 1)));
}

void lowerArgsort(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  auto dim = dimOf(call, 2, call.rank(x));
  setBoth(call,
          {firsts(call, x, dim, call.shape(x)[static_cast<std::size_t>(dim)],
                  call.boolean(3))[1]});
}

// max(x, dim, keepdim): the value and its place.
void lowerMaxDim(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  setBoth(call, firsts(call, x, dimOf(call, 1, call.rank(x)), 1, true));
}

// min(x, dim, keepdim). NaN counts as the greatest in order, but comes first
// here, too: so the least is the greatest of what is negated.
void lowerMinDim(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  auto dim = dimOf(call, 1, call.rank(x));
  if (!isFloat(call.type(x))) {
    setBoth(call, firsts(call, x, dim, 1, false));
    return;
  }
  auto both = firsts(call, call.add("Neg", {x}), dim, 1, true);
  both[0] = call.add("Neg", {both[0]});
  setBoth(call, both);
}

// aminmax(x, dim?)
void lowerAminmax(CallLowering &call) {
  TensorId x = call.tensor(0);
  Ints dims = dimsOf(call, 1, call.rank(x));
  setBoth(call, {reducedOver(call, "ReduceMin", x, dims, false),
                 reducedOver(call, "ReduceMax", x, dims, false)});
}

// argmax(x, dim?, keepdim) and argmin: without a dim, in the flattened tensor.
// NaN counts as the greatest and as the least.
void lowerArg(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  std::string type = call.popartType();
  if (type == "ArgMin" && isFloat(call.type(x))) {
    x = call.add("Neg", {x});
    type = "ArgMax";
  }
  std::int64_t dim = 0;
  if (call.isNone(1)) {
    x = call.reshape(x, {call.info(x).nelms()});
  } else {
    dim = dimOf(call, 1, call.rank(x));
  }
  setBoth(
      call,
      {call.add(
          type, {x},
          Attributes().set("axis", dim).set("keepdims", Attributes::Int{0}))});
}

// The k-th smallest along a dimension, counted from 1, and where it is.
std::vector<TensorId> kth(CallLowering &call, const TensorId &x,
                          std::int64_t dim, std::int64_t k) {
  auto both = firsts(call, x, dim, k, false);
  for (TensorId &result : both) {
    result = sliced(call, result, dim, k - 1, k);
  }
  return both;
}

// kthvalue(x, k, dim)
void lowerKthValue(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  setBoth(call, kth(call, x, dimOf(call, 2, call.rank(x)), call.integer(1)));
}

// median(x) and median(x, dim): the lower of two in the middle, or NaN where
// there is one.
void lowerMedian(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  std::int64_t dim = 0;
  if (call.call().op == "aten::median") {
    x = call.reshape(x, {call.info(x).nelms()});
  } else {
    dim = dimOf(call, 1, call.rank(x));
  }
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  auto both = kth(call, x, dim, (size + 1) / 2);
  if (isFloat(call.type(x))) {
    auto greatest = firsts(call, x, dim, 1, true);
    TensorId isNan = call.add("IsNaN", {greatest[0]});
    for (std::size_t i = 0; i < both.size(); ++i) {
      both[i] = chosen(call, isNan, greatest[i], both[i]);
    }
  }
  setBoth(call, both);
}

// cumsum(x, dim, dtype)
void lowerCumSum(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  if (call.rank(x) > 0) {
    x = call.add("CumSum", {x},
                 Attributes().set("axis", dimOf(call, 1, call.rank(x))));
  }
  call.setResult(0, x);
}

// cumprod(x, dim, dtype): for each place the product of what lies before,
// chosen by a triangle.
void lowerCumProd(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
  popart::Rank rank = call.rank(x);
  if (rank == 0) {
    call.setResult(0, x);
    return;
  }
  auto dim = dimOf(call, 1, rank);
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  std::vector<double> isBefore;
  for (std::int64_t place = 0; place < size; ++place) {
    for (std::int64_t i = 0; i < size; ++i) {
      isBefore.push_back(i <= place ? 1 : 0);
    }
  }
  TensorId mask =
      call.constant(isBefore, popart::TensorInfo(DataType::BOOL, {size, size}));
  TensorId last = moved(call, x, dim, rank - 1);
  popart::Shape rows = call.shape(last);
  rows.insert(rows.end() - 1, 1);
  TensorId factors = chosen(call, mask, call.reshape(last, rows),
                            call.scalar(1, call.type(x)));
  TensorId products = reducedOver(call, "ReduceProd", factors,
                                  {static_cast<std::int64_t>(rank)}, false);
  call.setResult(0, moved(call, products, rank - 1, dim));
}

} // namespace

std::vector<AtenRow> sortRows() {
  return {
      {"aten::topk", lowerTopK},
      {"aten::sort", lowerSort},
      {"aten::sort.stable", lowerSort},
      {"aten::argsort.stable", lowerArgsort},
      {"aten::max.dim", lowerMaxDim},
      {"aten::min.dim", lowerMinDim},
      {"aten::aminmax", lowerAminmax},
      {"aten::argmax", lowerArg, "ArgMax"},
      {"aten::argmin", lowerArg, "ArgMin"},
      {"aten::kthvalue", lowerKthValue},
      {"aten::median", lowerMedian},
      {"aten::median.dim", lowerMedian},
      {"aten::cumsum", lowerCumSum},
      {"aten::cumprod", lowerCumProd},
  };
}

} // namespace poptorch
