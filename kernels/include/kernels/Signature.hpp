// What a kind or a kernel may know of a call before it runs: attributes and the
// type, shape, strides and layout of each operand, never its data.
#pragma once

#include <kernels/Attributes.hpp>
#include <support/DataType.hpp>
#include <support/Shape.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kernels {

using support::DataType;
using support::Shape;
using support::Strides;

// How a value lies in host memory. The set is open: add a member, describe it
// here and teach storageElements() its size; kernels say which ones they take.
enum class Layout : std::uint8_t {
  // Strided: OperandSpec::strides say where each element is.
  Plain,
  // Rank 4 [N,C,H,W] kept as [ceil(N/16)][C][H][W][16]: sixteen samples side by
  // side fill one vector register. Lanes beyond N hold zeros.
  BatchLanes16,
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

  bool isRowMajor() const {
    return layout == Layout::Plain &&
           strides == support::rowMajorStrides(shape);
  }
  static OperandSpec rowMajor(TensorType tensor) {
    auto strides = support::rowMajorStrides(tensor.shape);
    return {tensor.type, std::move(tensor.shape), std::move(strides),
            Layout::Plain};
  }
};

// Elements of storage that a whole value of this shape takes in this layout.
std::int64_t storageElements(Layout layout,
                             std::span<const std::int64_t> shape);

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
