// Updates of elements by indices along one dimension.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// x, dim, indices and source of scatter(x, dim, indices, source, ...). torch
// takes as much of the source as there are indices.
struct Scatter {
  TensorId x;
  std::int64_t dim;
  TensorId indices;
  TensorId source;
};

Scatter scatterOf(CallLowering &call) {
  Scatter scatter;
  scatter.x = withDims(call, updatable(call, call.tensor(0)));
  scatter.dim = dimOf(call, 1, call.rank(scatter.x));
  scatter.indices = withDims(call, call.tensorAs(2, DataType::INT32));
  popart::Shape shape = call.shape(scatter.indices);
  scatter.source = call.tensorAs(3, call.type(scatter.x));
  if (call.rank(scatter.source) == 0) {
    scatter.source = expanded(call, scatter.source, shape);
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    scatter.source =
        sliced(call, scatter.source, static_cast<std::int64_t>(d), 0, shape[d]);
  }
  return scatter;
}

TensorId sumOf(CallLowering &call, const Scatter &scatter) {
  return scattered(call, scatter.x, scatter.indices, scatter.source,
                   scatter.dim, true);
}

void lowerScatter(CallLowering &call) {
  Scatter scatter = scatterOf(call);
  call.setResult(0, scattered(call, scatter.x, scatter.indices, scatter.source,
                              scatter.dim, false));
}

void lowerScatterAdd(CallLowering &call) {
  call.setResult(0, sumOf(call, scatterOf(call)));
}

// How many updates each element of x gets.
TensorId countsOf(CallLowering &call, const Scatter &scatter) {
  DataType type = call.type(scatter.x);
  TensorId zeros =
      call.filled(0, popart::TensorInfo(type, call.shape(scatter.x)));
  TensorId ones =
      call.filled(1, popart::TensorInfo(type, call.shape(scatter.indices)));
  return scattered(call, zeros, scatter.indices, ones, scatter.dim, true);
}

// The first elements of x in its dimensions from `first` on.
TensorId cornerOf(CallLowering &call, TensorId x, const popart::Shape &shape,
                  std::size_t first) {
  for (std::size_t d = first; d < shape.size(); ++d) {
    x = sliced(call, x, static_cast<std::int64_t>(d), 0, shape[d]);
  }
  return x;
}

// x with the elements of `corner` in place of its first ones.
TensorId withCorner(CallLowering &call, const TensorId &x, TensorId corner) {
  const popart::Shape shape = call.shape(corner);
  const popart::Shape whole = call.shape(x);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < whole[d]) {
      auto dim = static_cast<std::int64_t>(d);
      TensorId rest = cornerOf(call, x, shape, d + 1);
      corner = joined(
          call, {corner, sliced(call, rest, dim, shape[d], whole[d])}, dim);
    }
  }
  return corner;
}

// The reduction with x itself among what is reduced.
TensorId reduced(CallLowering &call, const Scatter &scatter,
                 const std::string &reduction) {
  if (reduction == "sum" || reduction == "add" || reduction == "mean") {
    return sumOf(call, scatter);
  }
  // PopART's numbers of the others.
  const std::pair<const char *, Attributes::Int> kinds[] = {
      {"amax", 1}, {"amin", 2}, {"prod", 3}, {"multiply", 3}};
  const auto *kind = std::find_if(
      std::begin(kinds), std::end(kinds),
      [&](const auto &candidate) { return candidate.first == reduction; });
  if (kind == std::end(kinds)) {
    call.fail("reduction " + reduction + " is not supported");
  }
  auto size = call.shape(scatter.x)[static_cast<std::size_t>(scatter.dim)];
  popart::Shape covered = call.shape(scatter.indices);
  covered[static_cast<std::size_t>(scatter.dim)] = size;
  TensorId part = cornerOf(call, scatter.x, covered, 0);
  part = call.addGraphcore("ScatterReduce",
                           {scatter.source, scatter.indices, part},
                           Attributes()
                               .set("axis", scatter.dim)
                               .set("axis_size", size)
                               .set("reduction", kind->second));
  return withCorner(call, scatter.x, part);
}

// What x holds where an update arrives, if x itself does not count.
double neutralOf(const std::string &reduction, DataType type) {
  double most = isFloat(type)
                    ? double{std::numeric_limits<float>::infinity()}
                    : double{std::numeric_limits<std::int32_t>::max()};
  return reduction == "prod"   ? 1
         : reduction == "amax" ? -most
         : reduction == "amin" ? most
                               : 0;
}

// scatter(x, dim, indices, source, reduce)
void lowerScatterReduce(CallLowering &call) {
  call.setResult(0, reduced(call, scatterOf(call), call.string(4)));
}

// With `isSelfIn` what x holds is among what is reduced.
void setReduced(CallLowering &call, Scatter scatter,
                const std::string &reduction, bool isSelfIn) {
  bool isMean = reduction == "mean";
  DataType type = call.type(scatter.x);
  TensorId counts = isMean || !isSelfIn ? countsOf(call, scatter) : TensorId();
  if (!isSelfIn) {
    TensorId isHit = call.add("Greater", {counts, call.scalar(0, type)});
    scatter.x = chosen(
        call, isHit, call.scalar(neutralOf(reduction, type), type), scatter.x);
  }
  TensorId y = reduced(call, scatter, reduction);
  if (isMean) {
    TensorId divisor = isSelfIn
                           ? call.plus(counts, 1)
                           : call.add("Max", {counts, call.scalar(1, type)});
    y = isFloat(type) ? call.add("Div", {y, divisor})
                      : flooredQuotient(call, y, divisor);
  }
  call.setResult(0, y);
}

// scatter_reduce(x, dim, indices, source, reduce, include_self)
void lowerScatterReduceTwo(CallLowering &call) {
  setReduced(call, scatterOf(call), call.string(4), call.boolean(5));
}

// index_reduce(x, dim, indices, source, reduce, include_self): whole entries.
void lowerIndexReduce(CallLowering &call) {
  Scatter scatter;
  scatter.x = withDims(call, updatable(call, call.tensor(0)));
  scatter.dim = dimOf(call, 1, call.rank(scatter.x));
  scatter.source = withDims(call, call.tensorAs(3, call.type(scatter.x)));
  popart::Shape along(call.shape(scatter.x).size(), 1);
  TensorId indices = call.tensorAs(2, DataType::INT32);
  along[static_cast<std::size_t>(scatter.dim)] = call.info(indices).nelms();
  scatter.indices =
      expanded(call, call.reshape(indices, along), call.shape(scatter.source));
  setReduced(call, scatter, call.string(4), call.boolean(5));
}

} // namespace

std::vector<AtenRow> scatterRows() {
  return {
      {"aten::scatter.src", lowerScatter},
      {"aten::scatter.value", lowerScatter},
      {"aten::scatter.reduce", lowerScatterReduce},
      {"aten::scatter.value_reduce", lowerScatterReduce},
      {"aten::scatter_add", lowerScatterAdd},
      {"aten::scatter_reduce.two", lowerScatterReduceTwo},
      {"aten::index_reduce", lowerIndexReduce},
  };
}

} // namespace poptorch
