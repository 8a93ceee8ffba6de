#include "Parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

DataType arithmeticType(DataType type) {
  return type == DataType::BOOL ? DataType::INT32 : type;
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
  if (dims.empty() || rank == 0) {
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

TensorId withDims(CallLowering &call, const TensorId &x) {
  return call.rank(x) == 0 ? call.reshape(x, {1}) : x;
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

DataType operandType(CallLowering &call, std::size_t count) {
  DataType result = call.resultInfo().dataType();
  if (result != DataType::BOOL) {
    return result;
  }
  auto rankOf = [](DataType type) {
    constexpr DataType order[] = {
        DataType::BOOL,  DataType::UINT8,   DataType::INT8, DataType::INT16,
        DataType::INT32, DataType::FLOAT16, DataType::FLOAT};
    return std::find(std::begin(order), std::end(order), type) -
           std::begin(order);
  };
  DataType widest = DataType::BOOL;
  for (std::size_t i = 0; i < count; ++i) {
    if (call.isTensor(i)) {
      DataType type = call.info(call.tensor(i)).dataType();
      widest = rankOf(type) > rankOf(widest) ? type : widest;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!call.isTensor(i) && !isFloat(widest) &&
        call.real(i) != std::floor(call.real(i))) {
      return DataType::FLOAT;
    }
  }
  return widest == DataType::BOOL ? DataType::INT32 : widest;
}

std::string numberText(double number) {
  return fmt::format("({:.17g})", number);
}

TensorId byFormula(CallLowering &call, const std::vector<TensorId> &operands,
                   const std::string &value,
                   const std::vector<std::string> &gradients,
                   bool isPredicate) {
  return call.addSeveral(
      "aspen", "GivenFormula", operands, 1,
      Attributes()
          .set("value", value)
          .set("gradients", fmt::format("{}", fmt::join(gradients, ";")))
          .set("isPredicate", Attributes::Int{isPredicate}))[0];
}

TensorId flooredQuotient(CallLowering &call, const TensorId &a,
                         const TensorId &b) {
  TensorId multiple = call.add("Sub", {a, call.add("Mod", {a, b})});
  TensorId quotient = call.add("Div", {multiple, b});
  if (!isFloat(call.type(a))) {
    return quotient;
  }
  TensorId isZero = call.add("Equal", {b, call.scalar(0, call.type(b))});
  quotient = chosen(call, isZero, call.add("Div", {a, b}),
                    call.add("NearbyInt", {quotient}));
  // A step function has no gradient, not even where b is zero.
  return call.addGraphcore("Detach", {quotient});
}

TensorId softplusOf(CallLowering &call, const TensorId &x) {
  TensorId magnitude = call.add("Neg", {call.add("Abs", {x})});
  TensorId tail = call.add("Log1p", {call.add("Exp", {magnitude})});
  return call.add("Add", {call.add("Relu", {x}), tail});
}

TensorId normOver(CallLowering &call, const TensorId &x, double p,
                  const Ints &dims, bool keeps) {
  DataType type = call.type(x);
  if (type == DataType::FLOAT16) {
    // Powers of halves soon overflow.
    TensorId y = normOver(call, call.cast(x, DataType::FLOAT), p, dims, keeps);
    return call.cast(y, type);
  }
  if (p == 2 && !dims.empty()) {
    return reducedOver(call, "ReduceL2", x, dims, keeps);
  }
  TensorId size = call.add("Abs", {x});
  if (dims.empty() && p != 0) {
    return size;
  }
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
  // Where nothing is, there is no gradient.
  std::string exponent = numberText(p);
  TensorId powers = byFormula(call, {x}, "power(abs(a)," + exponent + ")",
                              {"select(0,g*" + exponent + "*power(abs(a)," +
                               exponent + "-1)*signum(a),a==0)"});
  TensorId sum = reducedOver(call, "ReduceSum", powers, dims, keeps);
  return byFormula(call, {sum}, "power(a,1/" + exponent + ")",
                   {"select(0,g*y/(" + exponent + "*a),a==0)"});
}

TensorId required(CallLowering &call, const TensorId &x,
                  const TensorId &isWrong, const std::string &message) {
  TensorId any =
      reducedOver(call, "ReduceMax", call.cast(isWrong, DataType::INT32),
                  numbersTo(call.rank(isWrong)), false);
  return call.addSeveral(
      "aspen", "Valid", {x, any}, 1,
      Attributes().set("message",
                       fmt::format("[{}] {}", call.call().op, message)))[0];
}

TensorId gathered(CallLowering &call, const TensorId &x,
                  const TensorId &indices, std::int64_t dim) {
  return call.add("Gather", {x, call.cast(indices, DataType::INT32)},
                  Attributes().set("axis", dim));
}

TensorId gatheredElements(CallLowering &call, const TensorId &x,
                          const TensorId &indices, std::int64_t dim) {
  return call.addSeveral("ai.onnx", "GatherElements",
                         {x, call.cast(indices, DataType::INT32)}, 1,
                         Attributes().set("axis", dim))[0];
}

TensorId updatable(CallLowering &call, const TensorId &x) {
  return isFloat(call.type(x)) ? x : call.cast(x, DataType::INT32);
}

TensorId scattered(CallLowering &call, const TensorId &x,
                   const TensorId &indices, const TensorId &updates,
                   std::int64_t dim, bool isSum) {
  DataType type = call.type(x);
  TensorId target = updatable(call, x);
  if (call.type(target) != type) {
    TensorId values = call.cast(updates, call.type(target));
    return call.cast(scattered(call, target, indices, values, dim, isSum),
                     type);
  }
  Attributes attributes;
  attributes.set("axis", dim)
      .set("reduction", std::string(isSum ? "add" : "none"));
  return call.add("ScatterElements",
                  {x, call.cast(indices, DataType::INT32), updates}, attributes,
                  16);
}

} // namespace poptorch
