// "reduce": one value out of the elements along some dimensions.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernels {

namespace {

bool isReduced(const Attributes::Ints &dims, std::size_t dimension) {
  return std::find(dims.begin(), dims.end(),
                   static_cast<std::int64_t>(dimension)) != dims.end();
}

// The types that an operation takes.
void requireTypeOf(std::string_view op, const TensorType &x) {
  if (op == "LOGICAL_AND" || op == "LOGICAL_OR") {
    requireType("reduce", "x", x, {DataType::Bool});
  } else if (op == "LOG_ADD") {
    requireFloating("reduce", "x", x);
  } else {
    requireType("reduce", "x", x,
                {DataType::Float, DataType::Half, DataType::Int,
                 DataType::UnsignedInt, DataType::LongLong,
                 DataType::UnsignedLongLong});
  }
}

// The output's type: x's, or the floating-point one that `outType` names.
DataType outputType(const Attributes &attributes, const TensorType &x) {
  if (!attributes.has("outType")) {
    return x.type;
  }
  const auto type = static_cast<DataType>(attributes.getInt("outType"));
  const auto isFloating = [](DataType t) {
    return t == DataType::Float || t == DataType::Half;
  };
  require(type == x.type || (isFloating(type) && isFloating(x.type)),
          "[reduce] x has type {}, the output {}; only float and half may "
          "differ",
          support::toString(x.type), support::toString(type));
  return type;
}

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("reduce", inputs, 1);
  const auto &x = inputs[0];
  const auto &op = requireChoice("reduce", attributes, "op",
                                 {"ADD", "SQUARE_ADD", "MUL", "MIN", "MAX",
                                  "LOGICAL_AND", "LOGICAL_OR", "LOG_ADD"});
  requireTypeOf(op, x);
  const bool isScaled = attributes.getFloat("scale") != 1;
  require(!isScaled || support::isFloatingPoint(x.type),
          "[reduce] scale is {}; type {} cannot be scaled",
          attributes.getFloat("scale"), support::toString(x.type));
  const auto &dims = attributes.getInts("dims");
  TensorType result{outputType(attributes, x), {}};
  std::int64_t partials = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    require(dims[i] >= 0 && dims[i] < std::int64_t(x.shape.size()),
            "[reduce] dims has {}; x has shape {}", dims[i],
            support::toString(x.shape));
    require(std::count(dims.begin(), dims.end(), dims[i]) == 1,
            "[reduce] dims has {} more than once", dims[i]);
    partials *= x.shape[static_cast<std::size_t>(dims[i])];
  }
  require(op != "LOG_ADD" || partials != 0,
          "[reduce] LOG_ADD of no elements: x has shape {}, dims is {}",
          support::toString(x.shape), support::toString(dims));
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (!isReduced(dims, d)) {
      result.shape.push_back(x.shape[d]);
    }
  }
  return {std::move(result)};
}

// The value that changes nothing.
template <typename Accumulator> Accumulator startOf(std::string_view op) {
  using Limits = std::numeric_limits<Accumulator>;
  if (op == "MUL" || op == "LOGICAL_AND") {
    return Accumulator(1);
  }
  if (op == "MIN") {
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  if (op == "MAX" || op == "LOG_ADD") {
    return Limits::has_infinity ? Accumulator(-Limits::infinity())
                                : Limits::lowest();
  }
  return Accumulator(0);
}

// log(exp(a) + exp(b)) without overflow.
double logAdd(double a, double b) {
  const double greater = std::max(a, b);
  return std::isinf(greater) && !std::isnan(a + b)
             ? greater
             : greater + std::log1p(std::exp(-std::abs(a - b)));
}

template <typename Accumulator>
Accumulator combine(std::string_view op, Accumulator total, Accumulator value) {
  if (op == "ADD") {
    return Accumulator(total + value);
  }
  if (op == "SQUARE_ADD") {
    return Accumulator(total + value * value);
  }
  if (op == "MUL") {
    return Accumulator(total * value);
  }
  if (op == "LOGICAL_AND") {
    return Accumulator(total != 0 && value != 0);
  }
  if (op == "LOGICAL_OR") {
    return Accumulator(total != 0 || value != 0);
  }
  if (op == "LOG_ADD") {
    return Accumulator(logAdd(double(total), double(value)));
  }
  if (value != value) { // NaN wins, as in MINIMUM and MAXIMUM
    return value;
  }
  return op == "MIN" ? std::min(total, value) : std::max(total, value);
}

template <typename Accumulator, typename Load, typename Store>
void reduceAll(const ReferenceCall &call, const Load &load,
               const Store &store) {
  const auto &attributes = call.signature.attributes;
  const auto &op = attributes.getString("op");
  const auto &dims = attributes.getInts("dims");
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  Shape inner;
  for (auto d : dims) {
    inner.push_back(x.extent(static_cast<std::size_t>(d)));
  }
  Shape position(x.shape().size());
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> outer) {
    for (std::size_t d = 0, kept = 0; d < position.size(); ++d) {
      position[d] = isReduced(dims, d) ? 0 : outer[kept++];
    }
    auto total = startOf<Accumulator>(op);
    forEachIndex(inner, [&](std::span<const std::int64_t> index) {
      for (std::size_t i = 0; i < dims.size(); ++i) {
        position[static_cast<std::size_t>(dims[i])] = index[i];
      }
      total = combine<Accumulator>(op, total, load(x, position));
    });
    store(y, outer, total);
  });
}

template <typename T> void reduceIntegers(const ReferenceCall &call) {
  using Index = std::span<const std::int64_t>;
  const auto load = [](const View &x, Index index) {
    T value;
    std::memcpy(&value, x.at(index), sizeof value);
    return value;
  };
  const auto store = [](const View &y, Index index, T total) {
    std::memcpy(y.at(index), &total, sizeof total);
  };
  reduceAll<T>(call, load, store);
}

void reference(const ReferenceCall &call) {
  using Index = std::span<const std::int64_t>;
  // Sums and products are the same bits signed or not, and unsigned ones may
  // overflow; the order of numbers is not the same.
  const auto &op = call.signature.attributes.getString("op");
  const bool isOrdered = op == "MIN" || op == "MAX";
  switch (call.signature.inputs[0].type) {
  case DataType::Int:
    return isOrdered ? reduceIntegers<std::int32_t>(call)
                     : reduceIntegers<std::uint32_t>(call);
  case DataType::UnsignedInt:
    return reduceIntegers<std::uint32_t>(call);
  case DataType::LongLong:
    return isOrdered ? reduceIntegers<std::int64_t>(call)
                     : reduceIntegers<std::uint64_t>(call);
  case DataType::UnsignedLongLong:
    return reduceIntegers<std::uint64_t>(call);
  case DataType::Bool:
    return reduceIntegers<std::uint8_t>(call);
  default:
    break;
  }
  const double scale = call.signature.attributes.getFloat("scale");
  reduceAll<double>(
      call, [](const View &x, Index index) { return x.load(index); },
      [&](const View &y, Index index, double total) {
        y.store(index, total * scale);
      });
}

} // namespace

const Kind &reduceKind() {
  static const Kind kind{"reduce", infer, reference, reduceKernels()};
  return kind;
}

} // namespace kernels
