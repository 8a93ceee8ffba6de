#include "compiler/plans/CopyPlan.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::Layout;
using kernels::OperandSpec;

struct Dim {
  std::int64_t extent;
  std::int64_t source; // strides, in elements
  std::int64_t target;
};

// One nest of loops that copies elements.
struct Nest {
  std::vector<Dim> dims;   // outermost first, by the target's strides
  std::int64_t source = 0; // first elements
  std::int64_t target = 0;
  bool isFill = false; // writes zeros instead
};

void simplify(Nest &nest) {
  std::vector<Dim> &dims = nest.dims;
  std::erase_if(dims, [](const Dim &dim) { return dim.extent == 1; });
  std::stable_sort(dims.begin(), dims.end(), [](const Dim &a, const Dim &b) {
    return std::abs(a.target) > std::abs(b.target);
  });
  std::vector<Dim> joined;
  for (const Dim &dim : dims) {
    if (!joined.empty() && joined.back().source == dim.source * dim.extent &&
        joined.back().target == dim.target * dim.extent) {
      joined.back() = {joined.back().extent * dim.extent, dim.source,
                       dim.target};
    } else {
      joined.push_back(dim);
    }
  }
  dims = std::move(joined);
}

// Brings the dimension that runs along the source next to the one that runs
// along the target: squares of these two are read and written by whole lines.
void orderForSquares(Nest &nest) {
  std::vector<Dim> &dims = nest.dims;
  if (nest.isFill || dims.empty() || dims.back().source == 1) {
    return;
  }
  const auto run = std::find_if(dims.begin(), dims.end(),
                                [](const Dim &dim) { return dim.source == 1; });
  if (run != dims.end()) {
    std::rotate(run, run + 1, dims.end() - 1);
  }
}

// From an index at a block's border to the one `step` further: a block or some,
// or less than a block.
std::int64_t strideOf(const kernels::DimPlace &place, std::int64_t step) {
  if (place.block == 1) {
    return step * place.outer;
  }
  return step < place.block ? step * place.inner
                            : step / place.block * place.outer;
}

// Adds the loops over indices [begin, begin + extent) of dimension `dim`, which
// start at a border of the larger blocks where there are blocks.
void addLoops(Nest &nest, const kernels::DimPlace &source,
              const kernels::DimPlace &target, std::int64_t begin,
              std::int64_t extent, bool isInBlocks) {
  const auto [smaller, block] = std::minmax(source.block, target.block);
  const auto add = [&](std::int64_t count, std::int64_t step) {
    nest.dims.push_back(
        {count, strideOf(source, step), strideOf(target, step)});
  };
  nest.source += begin / block * strideOf(source, block);
  nest.target += begin / block * strideOf(target, block);
  if (isInBlocks) {
    add(extent / block, block);
    extent = block;
  }
  if (smaller > 1 && smaller < block) {
    add(extent / smaller, smaller);
    extent = smaller;
  }
  add(extent, 1);
}

// The nests that together copy all elements: one, and more where a dimension
// that lies in blocks does not fill its last one.
std::vector<Nest> nestsOf(const OperandSpec &source,
                          const OperandSpec &target) {
  const auto from = kernels::placesOf(source);
  const auto to = kernels::placesOf(target);
  std::vector<Nest> nests(1);
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::int64_t extent = source.shape[d];
    const std::int64_t block = std::max(from[d].block, to[d].block);
    const std::int64_t whole = extent / block * block;
    std::vector<Nest> longer;
    for (const Nest &nest : nests) {
      if (whole > 0 || extent == 0) {
        longer.push_back(nest);
        addLoops(longer.back(), from[d], to[d], 0, whole, true);
      }
      if (whole < extent) {
        longer.push_back(nest);
        addLoops(longer.back(), from[d], to[d], whole, extent - whole, false);
      }
    }
    nests = std::move(longer);
  }
  return nests;
}

// The lanes of the last block beyond an extent of the dimension that is padded,
// which is the outermost one in storage.
Nest paddingNest(const support::Shape &shape, std::int64_t extent) {
  const std::int64_t block = extent / 16, rest = extent % 16;
  const std::int64_t lines = support::elementCount(shape) / extent;
  Nest nest;
  nest.dims = {{lines, 0, 16}, {16 - rest, 0, 1}};
  nest.target = block * lines * 16 + rest;
  nest.isFill = true;
  return nest;
}

// The lowest element of an operand, counted from its first.
std::int64_t lowestElement(const OperandSpec &operand) {
  std::int64_t lowest = 0;
  if (operand.layout == Layout::Plain) {
    for (std::size_t d = 0; d < operand.shape.size(); ++d) {
      lowest += std::min<std::int64_t>(0, (operand.shape[d] - 1) *
                                              operand.strides[d]);
    }
  }
  return lowest;
}

// Cache-friendly square blocks when one side runs along the rows and the other
// along the columns.
constexpr std::int64_t blockSize = 16;

// Four elements, wherever they start.
using Quad =
    std::uint32_t __attribute__((vector_size(16), aligned(4), may_alias));

// target[i][k] = source[k][i] for i, k < 4, rows `sourceStride` and
// `targetStride` apart.
void transposeQuads(const std::uint32_t *source, std::int64_t sourceStride,
                    std::uint32_t *target, std::int64_t targetStride) {
  const auto load = [&](std::int64_t row) {
    return *reinterpret_cast<const Quad *>(source + row * sourceStride);
  };
  const Quad a = load(0), b = load(1), c = load(2), d = load(3);
  const Quad abLow = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quad abHigh = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cdLow = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad cdHigh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const auto store = [&](std::int64_t row, Quad quad) {
    *reinterpret_cast<Quad *>(target + row * targetStride) = quad;
  };
  store(0, __builtin_shufflevector(abLow, cdLow, 0, 1, 4, 5));
  store(1, __builtin_shufflevector(abLow, cdLow, 2, 3, 6, 7));
  store(2, __builtin_shufflevector(abHigh, cdHigh, 0, 1, 4, 5));
  store(3, __builtin_shufflevector(abHigh, cdHigh, 2, 3, 6, 7));
}

template <typename T>
void copyBlock(const T *source, T *target, const Dim &outer, const Dim &inner) {
  for (std::int64_t i = 0; i < outer.extent; ++i) {
    for (std::int64_t j = 0; j < inner.extent; ++j) {
      target[i * outer.target + j * inner.target] =
          source[i * outer.source + j * inner.source];
    }
  }
}

// One block of a matrix, by quads where the source runs along the columns and
// the target along the rows.
template <typename T>
void transposeBlock(const T *source, T *target, Dim outer, Dim inner) {
  if constexpr (sizeof(T) == 4) {
    if (outer.source == 1 && inner.target == 1 && outer.extent % 4 == 0) {
      const std::int64_t quads = inner.extent / 4 * 4;
      for (std::int64_t j = 0; j < quads; j += 4) {
        for (std::int64_t i = 0; i < outer.extent; i += 4) {
          transposeQuads(source + i + j * inner.source, inner.source,
                         target + i * outer.target + j, outer.target);
        }
      }
      source += quads * inner.source;
      target += quads;
      inner.extent -= quads;
    }
  }
  copyBlock(source, target, outer, inner);
}

template <typename T>
void copyMatrix(const T *source, T *target, const Dim &outer,
                const Dim &inner) {
  if (inner.source == 1 && inner.target == 1) {
    for (std::int64_t i = 0; i < outer.extent; ++i) {
      std::memcpy(target + i * outer.target, source + i * outer.source,
                  static_cast<std::size_t>(inner.extent) * sizeof(T));
    }
    return;
  }
  for (std::int64_t i = 0; i < outer.extent; i += blockSize) {
    for (std::int64_t j = 0; j < inner.extent; j += blockSize) {
      Dim rows = outer, columns = inner;
      rows.extent = std::min(blockSize, outer.extent - i);
      columns.extent = std::min(blockSize, inner.extent - j);
      transposeBlock(source + i * outer.source + j * inner.source,
                     target + i * outer.target + j * inner.target, rows,
                     columns);
    }
  }
}

template <typename T>
void fillNest(T *target, const Dim &outer, const Dim &inner) {
  for (std::int64_t i = 0; i < outer.extent; ++i) {
    std::fill_n(target + i * outer.target, inner.extent, T{0});
  }
}

template <typename T>
void copyNest(const T *source, T *target, const Dim *dims, std::size_t rank) {
  constexpr Dim once = {1, 0, 0};
  if (rank <= 2) {
    copyMatrix(source, target, rank == 2 ? dims[0] : once,
               rank >= 1 ? dims[rank - 1] : once);
    return;
  }
  for (std::int64_t i = 0; i < dims[0].extent; ++i) {
    copyNest(source + i * dims[0].source, target + i * dims[0].target, dims + 1,
             rank - 1);
  }
}

class CopyPlan final : public kernels::Plan {
public:
  CopyPlan(const OperandSpec &source, const OperandSpec &target)
      : elementSize_(static_cast<std::int64_t>(support::sizeOf(source.type))),
        lowest_{lowestElement(source), lowestElement(target)} {
    for (Nest &nest : nestsOf(source, target)) {
      simplify(nest);
      addNest(std::move(nest));
    }
    const auto padded = kernels::paddedDim(target.layout);
    if (padded && target.shape[*padded] % 16 > 0) {
      addNest(paddingNest(target.shape, target.shape[*padded]));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           kernels::Memory) const override {
    const Nest &nest = shards_[task];
    switch (elementSize_) {
    case 1:
      return run<std::uint8_t>(nest, operands);
    case 2:
      return run<std::uint16_t>(nest, operands);
    case 4:
      return run<std::uint32_t>(nest, operands);
    default:
      return run<std::uint64_t>(nest, operands);
    }
  }

private:
  template <typename T>
  static void run(const Nest &nest, std::byte *const *operands) {
    const T *source = reinterpret_cast<const T *>(operands[0]) + nest.source;
    T *target = reinterpret_cast<T *>(operands[1]) + nest.target;
    if (nest.isFill) {
      fillNest(target, nest.dims[0], nest.dims[1]);
    } else {
      copyNest(source, target, nest.dims.data(), nest.dims.size());
    }
  }

  // Cuts the nest along its outermost dimension.
  void addNest(Nest nest) {
    if (nest.dims.empty()) {
      nest.dims.push_back({1, 0, 0});
    }
    double elements = 1;
    for (const Dim &dim : nest.dims) {
      elements *= static_cast<double>(dim.extent);
    }
    const bool isRuns = nest.dims.back().source == 1;
    const double cost = elements * (isRuns ? 0.1 : 0.6);
    const std::int64_t extent = nest.dims[0].extent;
    const std::int64_t count = kernels::shardCount(extent, cost);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto [begin, end] = kernels::shardRange(extent, count, i);
      Nest part = nest;
      part.dims[0].extent = end - begin;
      part.source += begin * nest.dims[0].source;
      part.target += begin * nest.dims[0].target;
      addShard(std::move(part), cost / static_cast<double>(count));
    }
  }

  void addShard(Nest nest, double cost) {
    kernels::Task task;
    task.cost = cost;
    std::int64_t low[2] = {nest.source, nest.target};
    std::int64_t high[2] = {nest.source, nest.target};
    bool isEmpty = false;
    for (const Dim &dim : nest.dims) {
      isEmpty = isEmpty || dim.extent == 0;
      const std::int64_t reach[2] = {(dim.extent - 1) * dim.source,
                                     (dim.extent - 1) * dim.target};
      for (int side = 0; side < 2; ++side) {
        (reach[side] < 0 ? low : high)[side] += reach[side];
      }
    }
    for (std::uint32_t side = nest.isFill ? 1 : 0; side < 2 && !isEmpty;
         ++side) {
      task.accesses.push_back(
          {side, side == 1, (low[side] - lowest_[side]) * elementSize_,
           (high[side] + 1 - lowest_[side]) * elementSize_});
    }
    tasks_.push_back(std::move(task));
    orderForSquares(nest);
    shards_.push_back(std::move(nest));
  }

  std::int64_t elementSize_;
  std::int64_t lowest_[2]; // elements of the source and of the target
  std::vector<Nest> shards_;
};

} // namespace

std::unique_ptr<kernels::Plan> makeCopyPlan(const OperandSpec &source,
                                            const OperandSpec &target) {
  return std::make_unique<CopyPlan>(source, target);
}

} // namespace poplar::compiler
