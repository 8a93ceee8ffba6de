#include "Parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace poptorch {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

bool isFloat(DataType type) {
  return type == DataType::FLOAT || type == DataType::FLOAT16;
}

Ints numbersTo(std::int64_t count) {
  Ints numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

popart::Shape withSize(popart::Shape shape, std::int64_t dim,
                       std::int64_t size) {
  shape[static_cast<std::size_t>(dim)] = size;
  return shape;
}

Ints dimsOf(const CallLowering &call, std::size_t i, popart::Rank rank) {
  Ints dims = call.isNone(i) ? Ints() : call.integers(i);
  if (dims.empty()) {
    return numbersTo(rank);
  }
  for (std::int64_t &dim : dims) {
    dim = CallLowering::normalise(dim, rank);
  }
  return dims;
}

std::int64_t dimOf(const CallLowering &call, std::size_t i, popart::Rank rank) {
  return CallLowering::normalise(call.integer(i), rank);
}

TensorId sliced(CallLowering &call, const TensorId &x, std::int64_t dim,
                std::int64_t start, std::int64_t end, std::int64_t step) {
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  if (start == 0 && end >= size && step == 1) {
    return x;
  }
  return call.add("Slice", {x},
                  Attributes()
                      .set("axes", Ints{dim})
                      .set("starts", Ints{start})
                      .set("ends", Ints{end})
                      .set("steps", Ints{step}));
}

TensorId reversed(CallLowering &call, const TensorId &x, std::int64_t dim) {
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  return sliced(call, x, dim, -1, -size - 1, -1);
}

TensorId joined(CallLowering &call, const std::vector<TensorId> &parts,
                std::int64_t dim) {
  return parts.size() == 1
             ? parts[0]
             : call.add("Concat", parts, Attributes().set("axis", dim));
}

TensorId expanded(CallLowering &call, const TensorId &x,
                  const popart::Shape &shape) {
  if (call.shape(x) == shape) {
    return x;
  }
  return call.add(
      "Expand",
      {x, call.constant(shape, {static_cast<std::int64_t>(shape.size())})});
}

TensorId moved(CallLowering &call, const TensorId &x, std::int64_t from,
               std::int64_t to) {
  Ints order = numbersTo(call.rank(x));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return call.transpose(x, order);
}

TensorId padded(CallLowering &call, const TensorId &x, const Ints &before,
                const Ints &after, const char *mode, double value) {
  Ints pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  if (std::all_of(pads.begin(), pads.end(),
                  [](std::int64_t n) { return n == 0; })) {
    return x;
  }
  return call.add("Pad", {x},
                  Attributes()
                      .set("pads", pads)
                      .set("mode", std::string(mode))
                      .set("value", static_cast<float>(value)));
}

TensorId chosen(CallLowering &call, const TensorId &condition,
                const TensorId &a, const TensorId &b) {
  return call.add("Where", {call.cast(condition, DataType::BOOL), a, b});
}

TensorId reducedOver(CallLowering &call, const char *type, const TensorId &x,
                     const Ints &dims, bool keeps) {
  if (dims.empty()) {
    return x;
  }
  return call.add(
      type, {x},
      Attributes().set("axes", dims).set("keepdims", Attributes::Int{keeps}));
}

TensorId softplusOf(CallLowering &call, const TensorId &x) {
  TensorId magnitude = call.add("Neg", {call.add("Abs", {x})});
  TensorId tail = call.add("Log1p", {call.add("Exp", {magnitude})});
  return call.add("Add", {call.add("Relu", {x}), tail});
}

TensorId normOver(CallLowering &call, const TensorId &x, double p,
                  const Ints &dims, bool keeps) {
  DataType type = call.type(x);
  if (p == 2) {
    return reducedOver(call, "ReduceL2", x, dims, keeps);
  }
  TensorId size = call.add("Abs", {x});
  if (p == 1) {
    return reducedOver(call, "ReduceSum", size, dims, keeps);
  }
  if (std::isinf(p)) {
    return reducedOver(call, p > 0 ? "ReduceMax" : "ReduceMin", size, dims,
                       keeps);
  }
  if (p == 0) {
    TensorId isThere = call.add("NotEqual", {x, call.scalar(0, type)});
    return reducedOver(call, "ReduceSum", call.cast(isThere, type), dims,
                       keeps);
  }
  TensorId powers = call.add("Pow", {size, call.scalar(p, type)});
  TensorId sum = reducedOver(call, "ReduceSum", powers, dims, keeps);
  return call.add("Pow", {sum, call.scalar(1 / p, type)});
}

TensorId gathered(CallLowering &call, const TensorId &x,
                  const TensorId &indices, std::int64_t dim) {
  return call.add("Gather", {x, call.cast(indices, DataType::INT32)},
                  Attributes().set("axis", dim));
}

TensorId gatheredElements(CallLowering &call, const TensorId &x,
                          const TensorId &indices, std::int64_t dim) {
  return call.addSeveral("aspen", "GatherElements",
                         {x, call.cast(indices, DataType::INT32)}, 1,
                         Attributes().set("axis", dim))[0];
}

TensorId scattered(CallLowering &call, const TensorId &x,
                   const TensorId &indices, const TensorId &updates,
                   std::int64_t dim, bool isSum) {
  Attributes attributes;
  attributes.set("axis", dim)
      .set("reduction", std::string(isSum ? "add" : "none"));
  return call.add("ScatterElements",
                  {x, call.cast(indices, DataType::INT32), updates}, attributes,
                  16);
}

} // namespace poptorch
