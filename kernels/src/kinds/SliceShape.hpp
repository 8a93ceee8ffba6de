// What slicing and updating at offsets known only at run time have in common:
// which dimensions are sliced, and where an offset puts a slice.
#pragma once

#include "Rules.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernels {

// What an offset outside the dimension means.
enum class OutOfRange : std::uint8_t {
  Skip,   // there is no slice: nothing is read or written
  First,  // offset 0
  Clamp,  // the nearest offset whose slice lies inside
  Window, // no slice either, nor one that would run past the end
};

// Whether an offset, read as its type says, marks a slice to leave out
// (MASKED_LABEL_CODE of popops).
constexpr bool isMasked(std::int64_t offset) {
  return offset == 0xFFFFFFFF || offset == -1;
}

// Where an offset puts a slice along one dimension.
struct SliceStart {
  OutOfRange outOfRange;
  std::int64_t extent; // of the dimension
  std::int64_t size;   // of the slice along it

  // Nothing when there is no slice. Here, so that kernels can ask for every
  // slice of many.
  std::optional<std::int64_t> operator()(std::int64_t offset) const {
    const std::int64_t last = extent - size;
    if (outOfRange == OutOfRange::Clamp) {
      return std::clamp<std::int64_t>(offset, 0, last);
    }
    if (offset >= 0 &&
        offset < (outOfRange == OutOfRange::Window ? last + 1 : extent)) {
      return offset;
    }
    if (outOfRange == OutOfRange::First) {
      return 0;
    }
    return std::nullopt;
  }
};

// Of a tensor [groups, ...]: every group is sliced by offsets of its own.
struct SliceShape {
  // `dims` count from the dimension after the groups.
  SliceShape(std::string_view kind, const Attributes &attributes,
             const Shape &tensor, const TensorType &offsets);

  // Of one slice, without groups.
  Shape slice() const;
  // Where the slice starts along sliced dimension `j`; nothing when there is
  // no slice.
  std::optional<std::int64_t> start(std::size_t j, std::int64_t offset) const {
    return startAlong(j)(offset);
  }
  SliceStart startAlong(std::size_t j) const {
    return {outOfRange, tensor[dims[j]], sizes[j]};
  }

  std::int64_t groups;
  std::int64_t count;            // of slices in each group
  Shape tensor;                  // of one group
  std::vector<std::size_t> dims; // sliced ones
  Shape sizes;                   // of a slice along them
  OutOfRange outOfRange = OutOfRange::Skip;
};

} // namespace kernels
