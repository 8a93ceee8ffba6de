// Rows of a table, reduced by bags.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <limits>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

enum Mode : std::int64_t { Sum = 0, Mean = 1, Max = 2 };

// The rows of one bag, [count, size], as one.
TensorId bagOf(CallLowering &call, const TensorId &rows, std::int64_t mode) {
  const char *types[] = {"ReduceSum", "ReduceMean", "ReduceMax"};
  return reducedOver(call, types[mode], rows, {0}, true);
}

// Bags whose ends are known: each is a slice.
TensorId knownBags(CallLowering &call, const TensorId &rows) {
  auto count = call.shape(rows)[0];
  Ints offsets = call.constantIntegers(2);
  if (!call.boolean(7)) {
    offsets.push_back(count);
  }
  popart::TensorInfo empty(call.type(rows), {1, call.shape(rows)[1]});
  std::vector<TensorId> bags;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    bags.push_back(
        offsets[i] == offsets[i + 1]
            ? call.filled(0, empty)
            : bagOf(call, sliced(call, rows, 0, offsets[i], offsets[i + 1]),
                    call.integer(4)));
  }
  return joined(call, bags, 0);
}

// Which rows are in which bag, [bags, rows]: those between two offsets that are
// not padding.
TensorId membersOf(CallLowering &call, std::int64_t count) {
  TensorId offsets = call.tensorAs(2, DataType::INT32);
  auto end = call.scalar(static_cast<double>(count), DataType::INT32);
  if (!call.boolean(7)) {
    offsets = joined(call, {offsets, call.reshape(end, {1})}, 0);
  }
  auto bags = call.shape(offsets)[0] - 1;
  TensorId places = call.constant(numbersTo(count), {1, count});
  TensorId first = call.reshape(sliced(call, offsets, 0, 0, bags), {bags, 1});
  TensorId last =
      call.reshape(sliced(call, offsets, 0, 1, bags + 1), {bags, 1});
  TensorId isIn = call.add("And", {call.add("GreaterOrEqual", {places, first}),
                                   call.add("Less", {places, last})});
  if (call.integer(8) < 0) {
    return isIn;
  }
  TensorId padding =
      call.scalar(static_cast<double>(call.integer(8)), DataType::INT32);
  TensorId isRow =
      call.add("NotEqual", {call.tensorAs(1, DataType::INT32), padding});
  return call.add("And", {isIn, call.reshape(isRow, {1, count})});
}

TensorId anyBags(CallLowering &call, const TensorId &rows) {
  DataType type = call.type(rows);
  auto count = call.shape(rows)[0];
  TensorId members = membersOf(call, count);
  auto bags = call.shape(members)[0];
  TensorId factors = call.cast(members, type);
  TensorId sizes = reducedOver(call, "ReduceSum", factors, {1}, true);
  if (call.integer(4) != Max) {
    TensorId sums = call.add("MatMul", {factors, rows});
    TensorId least = call.add("Max", {sizes, call.scalar(1, type)});
    return call.integer(4) == Sum ? sums : call.add("Div", {sums, least});
  }
  TensorId nothing = call.scalar(-std::numeric_limits<float>::infinity(), type);
  TensorId candidates =
      chosen(call, call.reshape(members, {bags, count, 1}), rows, nothing);
  TensorId most = reducedOver(call, "ReduceMax", candidates, {1}, false);
  TensorId zero = call.scalar(0, type);
  return chosen(call, call.add("Greater", {sizes, zero}), most, zero);
}

// _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
// per_sample_weights, include_last_offset, padding_idx)
void lowerEmbeddingBag(CallLowering &call) {
  if (call.boolean(3) || call.boolean(5)) {
    call.fail("scale_grad_by_freq and sparse are not supported");
  }
  TensorId rows = gathered(call, call.tensor(0), call.tensor(1), 0);
  auto count = call.shape(rows)[0];
  if (call.isTensor(6)) {
    rows = call.add(
        "Mul",
        {rows, call.reshape(call.tensorAs(6, call.type(rows)), {count, 1})});
  }
  bool isKnown = call.isConstant(2) && call.integer(8) < 0;
  call.setResult(0, isKnown ? knownBags(call, rows) : anyBags(call, rows));
}

} // namespace

std::vector<AtenRow> embeddingBagRows() {
  return {
      {"aten::_embedding_bag", lowerEmbeddingBag},
      {"aten::_embedding_bag_forward_only", lowerEmbeddingBag},
  };
}

} // namespace poptorch
