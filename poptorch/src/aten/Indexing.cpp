// Elements by indices: looked up, replaced and added to.
#include "AtenTable.hpp"
#include "Masks.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// index_select(x, dim, indices)
void lowerIndexSelect(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  TensorId y = gathered(call, x, call.tensor(2), dimOf(call, 1, call.rank(x)));
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

// gather(x, dim, indices)
void lowerGather(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  call.setResult(0, gatheredElements(call, x, withDims(call, call.tensor(2)),
                                     dimOf(call, 1, call.rank(x))));
}

// embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse): the
// padding's row gets no gradient.
void lowerEmbedding(CallLowering &call) {
  if (call.boolean(3) || call.boolean(4)) {
    call.fail("Unsupported aten::embedding operation");
  }
  TensorId indices = call.tensorAs(1, DataType::INT32);
  TensorId y = gathered(call, call.tensor(0), indices, 0);
  auto padding = call.integer(2);
  if (padding >= 0 && call.isTraining()) {
    TensorId isPadding = call.add(
        "Equal",
        {indices, call.scalar(static_cast<double>(padding), DataType::INT32)});
    popart::Shape shape = call.shape(indices);
    shape.push_back(1);
    y = chosen(call, call.reshape(isPadding, shape),
               call.addGraphcore("Detach", {y}), y);
  }
  call.setResult(0, y);
}

// one_hot(indices, classes)
void lowerOneHot(CallLowering &call) {
  if (call.integer(1) < 0) {
    call.fail("OneHot num classes must be specified and must be constant.");
  }
  DataType type = DataType::INT32;
  call.setResult(
      0, call.add("OneHot",
                  {call.tensorAs(0, type),
                   call.scalar(static_cast<double>(call.integer(1)), type),
                   call.constant(Ints{0, 1}, {2})},
                  Attributes().set("axis", Attributes::Int{-1})));
}

// What x[a, :, b] looks at: the indexed dimensions brought to the front as one,
// [entries, elements of one], and where the indices point there.
struct Entries {
  TensorId rows;
  TensorId places;     // of the indices' common shape
  popart::Shape front; // of x with the indexed dimensions first
  Ints order;          // that brought them there
  Ints dims;           // the indexed ones
};

std::size_t at(std::int64_t dim) {
  return static_cast<std::size_t>(dim);
}

TensorId positive(CallLowering &call, const TensorId &indices,
                  std::int64_t size) {
  TensorId isNegative =
      call.add("Less", {indices, call.scalar(0, DataType::INT32)});
  return chosen(call, isNegative, call.plus(indices, static_cast<double>(size)),
                indices);
}

Entries entriesOf(CallLowering &call, const TensorId &x) {
  auto indices = call.tensors(1);
  popart::Shape shape = call.shape(x);
  Entries entries;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (indices[d].empty()) {
      continue;
    }
    if (call.type(indices[d]) == DataType::BOOL) {
      call.fail("indices that are a mask give a result of unknown size");
    }
    auto size = shape[d];
    entries.dims.push_back(static_cast<std::int64_t>(d));
    TensorId own = call.cast(indices[d], DataType::INT32);
    own = positive(call, own, size);
    entries.places =
        entries.places.empty()
            ? own
            : call.add(
                  "Add",
                  {call.times(entries.places, static_cast<double>(size)), own});
  }
  entries.order = entries.dims;
  for (std::int64_t d : numbersTo(call.rank(x))) {
    if (std::find(entries.dims.begin(), entries.dims.end(), d) ==
        entries.dims.end()) {
      entries.order.push_back(d);
    }
  }
  TensorId front = call.transpose(x, entries.order);
  entries.front = call.shape(front);
  std::int64_t count = 1;
  for (std::size_t d = 0; d < entries.dims.size(); ++d) {
    count *= entries.front[d];
  }
  entries.rows = call.reshape(front, {count, call.info(x).nelms() / count});
  return entries;
}

// The shape of what is looked up, the indices' dimensions first.
popart::Shape lookedUp(CallLowering &call, const Entries &entries) {
  popart::Shape shape = call.shape(entries.places);
  auto begin =
      entries.front.begin() + static_cast<std::ptrdiff_t>(entries.dims.size());
  shape.insert(shape.end(), begin, entries.front.end());
  return shape;
}

// torch leaves the indices' dimensions where the indexed ones were if those
// were next to each other. The order that brings them there.
Ints orderOfResult(const Entries &entries, popart::Rank indexRank,
                   popart::Rank rank) {
  bool isTogether = entries.dims.back() - entries.dims.front() + 1 ==
                    static_cast<std::int64_t>(entries.dims.size());
  Ints order = numbersTo(rank);
  if (isTogether) {
    std::rotate(order.begin(), order.begin() + indexRank,
                order.begin() + indexRank + entries.dims.front());
  }
  return order;
}

// index(x, indices), of which some may be absent.
void lowerIndex(CallLowering &call) {
  Entries entries = entriesOf(call, call.tensor(0));
  TensorId y = call.reshape(gathered(call, entries.rows, entries.places, 0),
                            lookedUp(call, entries));
  call.setResult(
      0, call.transpose(y, orderOfResult(entries, call.rank(entries.places),
                                         call.rank(y))));
}

Ints inverseOf(const Ints &order) {
  Ints inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    inverse[at(order[d])] = static_cast<std::int64_t>(d);
  }
  return inverse;
}

// index_put(x, indices, values, accumulate)
void lowerIndexPut(CallLowering &call) {
  if (isMaskedPut(call)) {
    lowerMaskedPut(call);
    return;
  }
  TensorId x = call.tensor(0);
  Entries entries = entriesOf(call, x);
  popart::Shape shape = lookedUp(call, entries);
  Ints order = orderOfResult(entries, call.rank(entries.places),
                             static_cast<popart::Rank>(shape.size()));
  popart::Shape asGiven;
  for (std::int64_t d : order) {
    asGiven.push_back(shape[at(d)]);
  }
  TensorId values = expanded(call, call.tensorAs(2, call.type(x)), asGiven);
  values = call.transpose(values, inverseOf(order));
  popart::Shape rows = {call.info(entries.places).nelms(),
                        call.shape(entries.rows)[1]};
  TensorId places =
      expanded(call, call.reshape(entries.places, {rows[0], 1}), rows);
  TensorId y = scattered(call, entries.rows, places, call.reshape(values, rows),
                         0, call.boolean(3));
  y = call.reshape(y, entries.front);
  call.setResult(0, call.transpose(y, inverseOf(entries.order)));
}

// Indices of one dimension as they meet `shape`.
TensorId alongDim(CallLowering &call, const TensorId &indices, std::int64_t dim,
                  const popart::Shape &shape) {
  popart::Shape along(shape.size(), 1);
  along[at(dim)] = shape[at(dim)];
  return expanded(call, call.reshape(indices, along), shape);
}

// index_fill(x, dim, indices, value)
void lowerIndexFill(CallLowering &call) {
  TensorId x = withDims(call, call.tensor(0));
  auto dim = dimOf(call, 1, call.rank(x));
  TensorId indices = call.tensor(2);
  popart::Shape shape =
      withSize(call.shape(x), dim, call.info(indices).nelms());
  TensorId value = call.tensorAs(3, call.type(x));
  call.setResult(0, scattered(call, x, alongDim(call, indices, dim, shape),
                              expanded(call, call.reshape(value, {}), shape),
                              dim, false));
}

// index_add(x, dim, indices, source, alpha) and index_copy without alpha
void lowerIndexUpdate(CallLowering &call) {
  DataType type = arithmeticType(call.resultInfo().dataType());
  TensorId x = withDims(call, call.tensorAs(0, type));
  auto dim = dimOf(call, 1, call.rank(x));
  TensorId source = withDims(call, call.tensorAs(3, type));
  bool isSum = call.call().op == "aten::index_add";
  if (isSum && !call.isNone(4)) {
    source = call.times(source, call.real(4));
  }
  TensorId indices = alongDim(call, call.tensor(2), dim, call.shape(source));
  call.setResult(0, scattered(call, x, indices, source, dim, isSum));
}

// bincount(x, weights, minlength)
void lowerBincount(CallLowering &call) {
  auto count = call.integer(2);
  if (count == 0) {
    call.fail("the number of bins must be given as minlength");
  }
  TensorId x = call.tensorAs(0, DataType::INT32);
  TensorId isThere =
      call.add("Equal", {call.reshape(x, {1, call.info(x).nelms()}),
                         call.constant(numbersTo(count), {count, 1})});
  TensorId terms = call.cast(isThere, call.resultInfo().dataType());
  if (call.isTensor(1)) {
    terms = call.add("Mul", {terms, call.tensorAs(1, call.type(terms))});
  }
  TensorId sums = reducedOver(call, "ReduceSum", terms, {1}, false);
  TensorId isOutside = call.add(
      "Or",
      {call.add("Less", {x, call.scalar(0, DataType::INT32)}),
       call.add("GreaterOrEqual", {x, call.scalar(static_cast<double>(count),
                                                  DataType::INT32)})});
  call.setResult(
      0,
      required(call, sums, isOutside,
               fmt::format("a value is negative or not below minlength ({}), "
                           "which is the number of bins on the IPU; give a "
                           "larger minlength",
                           count)));
}

// bucketize(x, boundaries, out_int32, right): how many boundaries lie below.
void lowerBucketize(CallLowering &call) {
  TensorId boundaries = call.tensor(1);
  TensorId x = call.tensorAs(0, call.type(boundaries));
  popart::Shape shape = call.shape(x);
  shape.push_back(1);
  TensorId isAbove = call.add(call.boolean(3) ? "GreaterOrEqual" : "Greater",
                              {call.reshape(x, shape), boundaries});
  call.setResult(0, reducedOver(call, "ReduceSum",
                                call.cast(isAbove, DataType::INT32),
                                {call.rank(x)}, false));
}

} // namespace

std::vector<AtenRow> indexingRows() {
  return {
      {"aten::index_select", lowerIndexSelect},
      {"aten::gather", lowerGather},
      {"aten::embedding", lowerEmbedding},
      {"aten::one_hot", lowerOneHot},
      {"aten::index.Tensor", lowerIndex},
      {"aten::index_put", lowerIndexPut},
      {"aten::_index_put_impl", lowerIndexPut},
      {"aten::index_fill.int_Scalar", lowerIndexFill},
      {"aten::index_fill.int_Tensor", lowerIndexFill},
      {"aten::index_add", lowerIndexUpdate},
      {"aten::index_copy", lowerIndexUpdate},
      {"aten::bincount", lowerBincount},
      {"aten::bucketize.Tensor", lowerBucketize},
  };
}

} // namespace poptorch
