// "sequenceSlice": runs of rows copied from one tensor into another, with
// lengths and places that only the run knows.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include <cstring>

namespace kernels {

namespace {

constexpr std::string_view sequenceNames[] = {"n", "inOffset", "outOffset"};

std::vector<TensorType> infer(const Attributes &attributes,
                              std::span<const TensorType> inputs) {
  requireInputCount("sequenceSlice", inputs, 5);
  requireType("sequenceSlice", "out", inputs[1], {inputs[0].type});
  require(!inputs[0].shape.empty() && !inputs[1].shape.empty() &&
              Shape(inputs[0].shape.begin() + 1, inputs[0].shape.end()) ==
                  Shape(inputs[1].shape.begin() + 1, inputs[1].shape.end()),
          "[sequenceSlice] in has shape {} and out {}; they must have equal "
          "rows",
          support::toString(inputs[0].shape),
          support::toString(inputs[1].shape));
  for (std::size_t i = 0; i < 3; ++i) {
    requireType("sequenceSlice", sequenceNames[i], inputs[2 + i],
                {DataType::UnsignedInt, DataType::Int});
    requireRank("sequenceSlice", sequenceNames[i], inputs[2 + i], 1);
    requireShape("sequenceSlice", sequenceNames[i], inputs[2 + i],
                 inputs[2].shape);
  }
  attributes.getInt("zeroUnused");
  return {inputs[1]};
}

// Copies row `fromRow` to row `toRow`, or clears it when `from` is null.
void setRow(const View *from, std::int64_t fromRow, const View &to,
            std::int64_t toRow) {
  Shape row = to.shape();
  row[0] = 1;
  const auto size = sizeOf(to.type());
  forEachIndex(row, [&](std::span<const std::int64_t> at) {
    Shape target(at.begin(), at.end());
    target[0] = toRow;
    if (from == nullptr) {
      std::memset(to.at(target), 0, size);
      return;
    }
    Shape source(at.begin(), at.end());
    source[0] = fromRow;
    std::memcpy(to.at(target), from->at(source), size);
  });
}

// Rows outside either tensor are left out.
void reference(const ReferenceCall &call) {
  const bool zeroUnused = call.signature.attributes.getInt("zeroUnused") != 0;
  const View in = inputView(call, 0);
  const View old = inputView(call, 1);
  const View out = outputView(call, 0);
  for (std::int64_t row = 0; row < out.extent(0); ++row) {
    setRow(zeroUnused ? nullptr : &old, row, out, row);
  }
  const View lengths = inputView(call, 2);
  for (std::int64_t i = 0; i < lengths.extent(0); ++i) {
    const auto from = static_cast<std::int64_t>(inputView(call, 3)(i));
    const auto to = static_cast<std::int64_t>(inputView(call, 4)(i));
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(lengths(i));
         ++row) {
      if (from + row < in.extent(0) && to + row < out.extent(0)) {
        setRow(&in, from + row, out, to + row);
      }
    }
  }
}

constexpr InPlacePair updatesOut[] = {{1, 0}};

} // namespace

const Kind &sequenceSliceKind() {
  static const Kind kind{"sequenceSlice", infer, reference, {}, updatesOut};
  return kind;
}

} // namespace kernels
