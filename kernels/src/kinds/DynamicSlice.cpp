// "dynamicSlice" and "dynamicUpdate": slices at offsets that only the run
// knows, many at a time; lookups, gathers and scatters are made of them.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"
#include "SliceShape.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace kernels {

namespace {

Shape slicesShape(const SliceShape &shape) {
  Shape slices{shape.groups, shape.count};
  const Shape slice = shape.slice();
  slices.insert(slices.end(), slice.begin(), slice.end());
  return slices;
}

std::vector<TensorType> inferSlice(const Attributes &attributes,
                                   std::span<const TensorType> inputs) {
  requireInputCount("dynamicSlice", inputs, 2);
  const SliceShape shape("dynamicSlice", attributes, inputs[0].shape,
                         inputs[1]);
  if (requireChoice("dynamicSlice", attributes, "missing", {"zero", "nan"}) ==
      "nan") {
    requireFloating("dynamicSlice", "t", inputs[0]);
  }
  return {{inputs[0].type, slicesShape(shape)}};
}

std::vector<TensorType> inferUpdate(const Attributes &attributes,
                                    std::span<const TensorType> inputs) {
  const bool isScaled = attributes.getInt("scaled") != 0;
  requireInputCount("dynamicUpdate", inputs, isScaled ? 4 : 3);
  const SliceShape shape("dynamicUpdate", attributes, inputs[0].shape,
                         inputs[2]);
  requireType("dynamicUpdate", "s", inputs[1], {inputs[0].type});
  requireShape("dynamicUpdate", "s", inputs[1], slicesShape(shape));
  const auto &op = requireChoice("dynamicUpdate", attributes, "op",
                                 {"COPY", "ADD", "MAX", "MUL"});
  if (op != "COPY") {
    requireType("dynamicUpdate", "t", inputs[0],
                {DataType::Float, DataType::Half, DataType::Int,
                 DataType::UnsignedInt});
  }
  if (isScaled) {
    require(op == "ADD", "[dynamicUpdate] op {} takes no scale; ADD does", op);
    requireType("dynamicUpdate", "scale", inputs[3],
                {inputs[0].type, DataType::Float});
    require(support::elementCount(inputs[3].shape) == 1,
            "[dynamicUpdate] scale has shape {}; it must have one element",
            support::toString(inputs[3].shape));
  }
  return {inputs[0]};
}

// The index in the tensor of element `at` ([group, slice, ...]) of the slices;
// false when the slice does not exist.
bool locate(const SliceShape &shape, const View &offsets,
            std::span<const std::int64_t> at, Shape &index) {
  index.assign(at.begin() + 1, at.end());
  index[0] = at[0];
  for (std::size_t j = 0; j < shape.dims.size(); ++j) {
    const auto offset = offsets(at[0], at[1], static_cast<std::int64_t>(j));
    const auto start = shape.start(j, static_cast<std::int64_t>(offset));
    if (!start) {
      return false;
    }
    // A slice that runs past the end goes on at the front.
    auto &position = index[shape.dims[j] + 1];
    position = (*start + position) % shape.tensor[shape.dims[j]];
  }
  return true;
}

void copyElement(const View &from, std::span<const std::int64_t> fromIndex,
                 const View &to, std::span<const std::int64_t> toIndex) {
  std::memcpy(to.at(toIndex), from.at(fromIndex), sizeOf(to.type()));
}

void referenceSlice(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const View t = inputView(call, 0);
  const View offsets = inputView(call, 1);
  const View slices = outputView(call, 0);
  const bool isNan = attributes.getString("missing") == "nan";
  const SliceShape shape("dynamicSlice", attributes, t.shape(),
                         {offsets.type(), offsets.shape()});
  Shape index;
  forEachIndex(slices.shape(), [&](std::span<const std::int64_t> at) {
    if (locate(shape, offsets, at, index)) {
      copyElement(t, index, slices, at);
    } else if (isNan && !isMasked(static_cast<std::int64_t>(
                            offsets(at[0], at[1], std::int64_t{0})))) {
      slices.store(at, std::numeric_limits<double>::quiet_NaN());
    } else {
      std::memset(slices.at(at), 0, sizeOf(slices.type()));
    }
  });
}

double combine(std::string_view op, double old, double update, double scale) {
  return op == "ADD"   ? old + scale * update
         : op == "MAX" ? std::max(old, update)
                       : old * update;
}

// Of INT or UNSIGNED_INT, which wrap.
std::uint32_t combineWhole(std::string_view op, double old, double update,
                           double scale) {
  const auto bits = [](double value) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  };
  return op == "ADD"   ? bits(old) + bits(scale) * bits(update)
         : op == "MAX" ? bits(std::max(old, update))
                       : bits(old) * bits(update);
}

void applyUpdate(std::string_view op, const View &result,
                 std::span<const std::int64_t> at, double update,
                 double scale) {
  const double old = result.load(at);
  if (support::isFloatingPoint(result.type())) {
    result.store(at, combine(op, old, update, scale));
  } else {
    const auto value = combineWhole(op, old, update, scale);
    std::memcpy(result.at(at), &value, sizeof value);
  }
}

void referenceUpdate(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const auto &op = attributes.getString("op");
  const View t = inputView(call, 0);
  const View slices = inputView(call, 1);
  const View offsets = inputView(call, 2);
  const double scale =
      attributes.getInt("scaled") != 0 ? inputView(call, 3).scalar() : 1;
  const View result = outputView(call, 0);
  const SliceShape shape("dynamicUpdate", attributes, t.shape(),
                         {offsets.type(), offsets.shape()});
  forEachIndex(t.shape(), [&](std::span<const std::int64_t> at) {
    copyElement(t, at, result, at);
  });
  Shape index;
  forEachIndex(slices.shape(), [&](std::span<const std::int64_t> at) {
    if (!locate(shape, offsets, at, index)) {
      return;
    }
    if (op == "COPY") {
      copyElement(slices, at, result, index);
    } else {
      applyUpdate(op, result, index, slices.load(at), scale);
    }
  });
}

constexpr InPlacePair updatesTensor[] = {{0, 0}};

} // namespace

const Kind &dynamicSliceKind() {
  static const Kind kind{"dynamicSlice", inferSlice, referenceSlice,
                         dynamicSliceKernels()};
  return kind;
}

const Kind &dynamicUpdateKind() {
  static const Kind kind{"dynamicUpdate", inferUpdate, referenceUpdate,
                         dynamicUpdateKernels(), updatesTensor};
  return kind;
}

} // namespace kernels
