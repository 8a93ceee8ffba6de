// What a kind or a kernel may know of a call before it runs: attributes and the
// type, shape, strides and layout of each operand, never its data.
#pragma once

#include <kernels/Attributes.hpp>
#include <support/DataType.hpp>
#include <support/Shape.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kernels {

using support::DataType;
using support::Shape;
using support::Strides;

// How a value lies in host memory. The set is open: add a member, describe it
// here and teach orderOf() in Signature.cpp its order; kernels say which ones
// they take. All but Plain keep sixteen elements of one or two dimensions side
// by side, so that they fill a vector register. Those dimensions must be
// multiples of sixteen, but for paddedDim().
enum class Layout : std::uint8_t {
  // Strided: OperandSpec::strides say where each element is.
  Plain,
  // Images [N,C,H,W] kept as [ceil(N/16)][C][H][W][16 of N]. Lanes beyond N
  // hold zeros.
  BatchLanes16,
  // Images [N,C,field...] kept as [N][C/16][field...][16 of C].
  ChannelBlocked16,
  // Weights [O,I,field...] kept as [O/16][I/16][field...][16 of I][16 of O].
  WeightsInOut16,
  // The same with [16 of O][16 of I] inside.
  WeightsOutIn16,
  // [I/16][O/16][field...][16 of O][16 of I].
  WeightsInMajor16,
  // [O/16][field...][I][16 of O]: few input channels.
  WeightsOut16,
  // The last five with blocks of 8, as oneDNN has them where registers hold
  // eight floats.
  ChannelBlocked8,
  WeightsInOut8,
  WeightsOutIn8,
  WeightsInMajor8,
  WeightsOut8,
  // Matrices [K,N] kept as [ceil(N/16)][K][16 of N], as products read their
  // second operand.
  Columns16,
  // Stacks of matrices [G,K,N] kept as [G][N/16][K][16 of N].
  StackedColumns16,
};

// A type and a shape: what shape inference and planning on tiles work with.
struct TensorType {
  DataType type = DataType::Float;
  Shape shape;

  friend bool operator==(const TensorType &, const TensorType &) = default;
};

// One operand of a call. Strides are in elements and only meaningful for
// Layout::Plain; 0 broadcasts, negative reverses.
struct OperandSpec {
  DataType type = DataType::Float;
  Shape shape;
  Strides strides;
  Layout layout = Layout::Plain;
  // When a kernel is asked for the layouts it wants: the one in which the value
  // was made. Another would have to be copied.
  Layout found = Layout::Plain;
  // Whether it stays as it is from run to run, so that a copy is made once.
  bool isKept = false;

  bool isRowMajor() const {
    return layout == Layout::Plain &&
           strides == support::rowMajorStrides(shape);
  }
  static OperandSpec rowMajor(TensorType tensor) {
    auto strides = support::rowMajorStrides(tensor.shape);
    return {tensor.type, std::move(tensor.shape), std::move(strides)};
  }
};

// Elements of storage that a whole value of this shape takes in this layout.
std::int64_t storageElements(Layout layout,
                             std::span<const std::int64_t> shape);

// The dimension that a layout fills up to a multiple of sixteen, with zeros.
std::optional<std::size_t> paddedDim(Layout layout);

// Whether a value of this shape may have this layout.
bool isLayoutFor(Layout layout, std::span<const std::int64_t> shape);

// Where an index of one dimension leads: index i is i / block * outer +
// i % block * inner elements from index 0.
struct DimPlace {
  std::int64_t block = 1;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
};

// Of each dimension of an operand, in whatever layout.
std::vector<DimPlace> placesOf(const OperandSpec &operand);

// One call as planning sees it. Operands are numbered inputs first, then
// outputs, wherever a single index is used.
struct Signature {
  const Attributes &attributes;
  std::span<const OperandSpec> inputs;
  std::span<const OperandSpec> outputs;

  std::size_t operandCount() const { return inputs.size() + outputs.size(); }
  const OperandSpec &operand(std::size_t index) const {
    return index < inputs.size() ? inputs[index]
                                 : outputs[index - inputs.size()];
  }
};

} // namespace kernels
