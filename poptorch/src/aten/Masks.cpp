#include "Masks.hpp"

#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// The mask among the indices, and how many dimensions of x lie before it.
struct Mask {
  TensorId id;
  std::size_t before = 0;
};

Mask maskOf(CallLowering &call) {
  auto indices = call.tensors(1);
  auto isGiven = [](const TensorId &id) { return !id.empty(); };
  auto found = std::find_if(indices.begin(), indices.end(), isGiven);
  return {*found, static_cast<std::size_t>(found - indices.begin())};
}

// For each element of a mask how many are true before it, below `count`: which
// of so many rows it takes.
TensorId rowsTaken(CallLowering &call, const TensorId &mask,
                   std::int64_t count) {
  DataType type = DataType::INT32;
  TensorId flat =
      call.cast(call.reshape(mask, {call.info(mask).nelms()}), type);
  TensorId total =
      call.add("CumSum", {flat}, Attributes().set("axis", Attributes::Int{0}));
  TensorId row = call.add("Sub", {total, flat});
  return call.add("Min",
                  {row, call.scalar(static_cast<double>(count - 1), type)});
}

// What torch broadcasts to [dimensions before, count, dimensions behind], as it
// meets x: one entry for the whole mask or, in order, one for each true
// element.
TensorId spread(CallLowering &call, const TensorId &values, const Mask &mask,
                popart::Rank rank) {
  const popart::Shape ofMask = call.shape(mask.id);
  popart::Shape shape = call.shape(values);
  auto full = static_cast<std::size_t>(rank) - ofMask.size() + 1;
  if (shape.size() > full) {
    call.fail("the value has more dimensions than what it is put into");
  }
  shape.insert(shape.begin(), full - shape.size(), 1);
  TensorId y = call.reshape(values, shape);
  auto dim = static_cast<std::int64_t>(mask.before);
  auto at = shape.begin() + dim;
  popart::Shape inPlace(ofMask.size(), 1);
  if (*at > 1) {
    y = gathered(call, y, rowsTaken(call, mask.id, *at), dim);
    inPlace = ofMask;
  }
  at = shape.erase(at);
  shape.insert(at, inPlace.begin(), inPlace.end());
  return call.reshape(y, shape);
}

// masked_scatter(x, mask, source): the source's elements in order.
void lowerMaskedScatter(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId mask = expanded(call, call.tensorAs(1, DataType::BOOL),
                           call.resultInfo().shape());
  TensorId source = call.tensorAs(2, call.type(x));
  auto count = call.info(source).nelms();
  TensorId taken = gathered(call, call.reshape(source, {count}),
                            rowsTaken(call, mask, count), 0);
  call.setResult(0,
                 chosen(call, mask, call.reshape(taken, call.shape(mask)), x));
}

} // namespace

bool isMaskedPut(CallLowering &call) {
  auto indices = call.tensors(1);
  auto isGiven = [](const TensorId &id) { return !id.empty(); };
  return std::count_if(indices.begin(), indices.end(), isGiven) == 1 &&
         call.type(maskOf(call).id) == DataType::BOOL;
}

void lowerMaskedPut(CallLowering &call) {
  TensorId x = call.tensor(0);
  Mask mask = maskOf(call);
  TensorId value =
      spread(call, call.tensorAs(2, call.type(x)), mask, call.rank(x));
  popart::Shape shape(mask.before, 1);
  const popart::Shape ofMask = call.shape(mask.id);
  shape.insert(shape.end(), ofMask.begin(), ofMask.end());
  shape.resize(call.shape(x).size(), 1);
  if (call.boolean(3)) {
    DataType type = call.type(x);
    value = call.add("Add", {call.cast(x, arithmeticType(type)),
                             call.cast(value, arithmeticType(type))});
    value = call.cast(value, type);
  }
  call.setResult(0, chosen(call, call.reshape(mask.id, shape), value, x));
}

std::vector<AtenRow> maskRows() {
  return {{"aten::masked_scatter", lowerMaskedScatter}};
}

} // namespace poptorch
