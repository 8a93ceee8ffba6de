// The runs of consecutive elements that slices at run-time offsets are made of,
// in row-major tensors and slices.
#pragma once

#include "kinds/SliceShape.hpp"

#include <kernels/Signature.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace kernels {

// A group of the tensor is [outer][middle...][rows][inner] and a slice of it is
// [outer][smaller middle...][size][inner]: `rows` is the last sliced dimension,
// the middle begins with the first. Along (rows, inner) a slice is one run of
// elements, or two where it passes the end.
class SliceRuns {
public:
  // The operands of these numbers.
  SliceRuns(const Signature &signature, std::size_t tensor,
            std::size_t offsets);

  // Runs of all slices.
  std::int64_t runCount() const {
    return shape_.groups * shape_.count * outer_ * sliceBlocks_;
  }

  // For the elements [begin, end) of the slices, in order: copy(to, from,
  // count) with `from` in the tensor, or missing(to, count, first offset) for
  // slices that do not exist.
  template <typename Copy, typename Missing>
  void forSlices(const std::byte *offsets, std::int64_t begin, std::int64_t end,
                 const Copy &copy, const Missing &missing) const;

  // For the elements [begin, end) of the tensor: update(to, from, count) with
  // `from` in the slices, in the order of the slices.
  template <typename Update>
  void forUpdates(const std::byte *offsets, std::int64_t begin,
                  std::int64_t end, const Update &update) const;

private:
  // Where each slice starts along the rows: nothing of it is read again from
  // this object after a result was written.
  struct RowStarts {
    const std::byte *offsets;
    bool isSigned;
    SliceStart start;

    std::optional<std::int64_t> operator[](std::int64_t slice) const {
      return start(offset(slice));
    }
    std::int64_t offset(std::int64_t slice) const {
      std::int32_t value;
      std::memcpy(&value, offsets + slice * 4, sizeof value);
      return isSigned
                 ? value
                 : static_cast<std::int64_t>(static_cast<std::uint32_t>(value));
    }
  };

  // Every slice is one row: one run, which never passes the end.
  bool hasRows() const {
    return middle_.empty() && outer_ == 1 && runElements_ == inner_;
  }
  template <typename Copy, typename Missing>
  void forRows(const std::byte *offsets, std::int64_t begin, std::int64_t end,
               const Copy &copy, const Missing &missing) const;
  template <typename Update>
  void forRowUpdates(const std::byte *offsets, std::int64_t begin,
                     std::int64_t end, const Update &update) const;

  std::int64_t offset(const std::byte *offsets, std::int64_t slice,
                      std::size_t column) const {
    const auto at = static_cast<std::size_t>(slice) * shape_.dims.size();
    std::int32_t value;
    std::memcpy(&value, offsets + (at + column) * sizeof value, sizeof value);
    return isSigned_
               ? value
               : static_cast<std::int64_t>(static_cast<std::uint32_t>(value));
  }

  // Where the slice's block `block` of [middle...] lies in the tensor: the
  // number of its block there; negative when there is no slice.
  std::int64_t blockOf(const std::byte *offsets, std::int64_t slice,
                       std::int64_t block) const {
    return middle_.empty() ? 0 : middleBlockOf(offsets, slice, block);
  }
  std::int64_t middleBlockOf(const std::byte *offsets, std::int64_t slice,
                             std::int64_t block) const;

  struct Middle {
    std::int64_t extent; // in the tensor
    std::int64_t size;   // in a slice
    std::int64_t column; // of the offsets; -1: not sliced
  };

  SliceShape shape_;
  bool isSigned_;
  std::int64_t outer_ = 1;
  std::vector<Middle> middle_;
  std::int64_t blocks_ = 1;      // of the tensor's middle
  std::int64_t sliceBlocks_ = 1; // of a slice's
  std::size_t rowColumn_ = 0;    // of the offsets
  std::int64_t rowElements_ = 0; // rows * inner
  std::int64_t runElements_ = 0; // size * inner
  std::int64_t inner_ = 1;
};

template <typename Copy, typename Missing>
void SliceRuns::forSlices(const std::byte *offsets, std::int64_t begin,
                          std::int64_t end, const Copy &copy,
                          const Missing &missing) const {
  if (hasRows()) {
    return forRows(offsets, begin, end, copy, missing);
  }
  const std::int64_t runsPerSlice = outer_ * sliceBlocks_;
  for (std::int64_t run = begin / runElements_; run * runElements_ < end;
       ++run) {
    const std::int64_t slice = runsPerSlice == 1 ? run : run / runsPerSlice;
    const std::int64_t inSlice = run - slice * runsPerSlice;
    const std::int64_t outer =
        sliceBlocks_ == 1 ? inSlice : inSlice / sliceBlocks_;
    const std::int64_t block =
        blockOf(offsets, slice, inSlice - outer * sliceBlocks_);
    const auto row =
        shape_.start(rowColumn_, offset(offsets, slice, rowColumn_));
    const std::int64_t to = std::max(begin, run * runElements_);
    const std::int64_t stop = std::min(end, (run + 1) * runElements_);
    if (block < 0 || !row) {
      missing(to, stop - to, offset(offsets, slice, 0));
      continue;
    }
    const std::int64_t group = shape_.groups == 1 ? 0 : slice / shape_.count;
    const std::int64_t base =
        ((group * outer_ + outer) * blocks_ + block) * rowElements_;
    const std::int64_t first = *row * inner_ + (to - run * runElements_);
    const std::int64_t untilEnd =
        std::clamp<std::int64_t>(rowElements_ - first, 0, stop - to);
    if (untilEnd > 0) {
      copy(to, base + first, untilEnd);
    }
    if (to + untilEnd < stop) {
      copy(to + untilEnd, base + first + untilEnd - rowElements_,
           stop - to - untilEnd);
    }
  }
}

template <typename Update>
void SliceRuns::forUpdates(const std::byte *offsets, std::int64_t begin,
                           std::int64_t end, const Update &update) const {
  if (hasRows()) {
    return forRowUpdates(offsets, begin, end, update);
  }
  const std::int64_t outerElements = blocks_ * rowElements_;
  const auto part = [&](std::int64_t to, std::int64_t from,
                        std::int64_t count) {
    const std::int64_t first = std::max(to, begin);
    const std::int64_t last = std::min(to + count, end);
    if (first < last) {
      update(first, from + first - to, last - first);
    }
  };
  for (std::int64_t outer = begin / outerElements; outer * outerElements < end;
       ++outer) {
    const std::int64_t group = outer / outer_;
    for (std::int64_t i = 0; i < shape_.count; ++i) {
      const std::int64_t slice = group * shape_.count + i;
      const auto row =
          shape_.start(rowColumn_, offset(offsets, slice, rowColumn_));
      if (!row) {
        continue;
      }
      const std::int64_t first = *row * inner_;
      const std::int64_t untilEnd =
          std::min(runElements_, rowElements_ - first);
      for (std::int64_t b = 0; b < sliceBlocks_; ++b) {
        const std::int64_t block = blockOf(offsets, slice, b);
        if (block < 0) {
          break;
        }
        const std::int64_t base = outer * outerElements + block * rowElements_;
        const std::int64_t from =
            ((slice * outer_ + outer - group * outer_) * sliceBlocks_ + b) *
            runElements_;
        part(base + first, from, untilEnd);
        part(base, from + untilEnd, runElements_ - untilEnd);
      }
    }
  }
}

template <typename Copy, typename Missing>
void SliceRuns::forRows(const std::byte *offsets, std::int64_t begin,
                        std::int64_t end, const Copy &copy,
                        const Missing &missing) const {
  const RowStarts starts{offsets, isSigned_, shape_.startAlong(0)};
  const std::int64_t count = shape_.count;
  const std::int64_t inner = inner_;
  const std::int64_t rowElements = rowElements_;
  std::int64_t slice = begin / inner;
  std::int64_t group = slice / count;
  for (std::int64_t to = begin; to < end; ++slice) {
    group += slice == (group + 1) * count ? 1 : 0;
    const std::int64_t first = slice * inner;
    const std::int64_t stop = std::min(end, first + inner);
    if (const auto row = starts[slice]) {
      copy(to, group * rowElements + *row * inner + (to - first), stop - to);
    } else {
      missing(to, stop - to, starts.offset(slice));
    }
    to = stop;
  }
}

template <typename Update>
void SliceRuns::forRowUpdates(const std::byte *offsets, std::int64_t begin,
                              std::int64_t end, const Update &update) const {
  const RowStarts starts{offsets, isSigned_, shape_.startAlong(0)};
  const std::int64_t count = shape_.count;
  const std::int64_t inner = inner_;
  const std::int64_t rowElements = rowElements_;
  for (std::int64_t group = begin / rowElements; group * rowElements < end;
       ++group) {
    for (std::int64_t slice = group * count; slice < (group + 1) * count;
         ++slice) {
      const auto row = starts[slice];
      if (!row) {
        continue;
      }
      const std::int64_t to = group * rowElements + *row * inner;
      const std::int64_t first = std::max(to, begin);
      const std::int64_t last = std::min(to + inner, end);
      if (first < last) { // most slices are another shard's
        update(first, slice * inner + first - to, last - first);
      }
    }
  }
}

} // namespace kernels
