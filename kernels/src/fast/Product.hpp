// One product of float matrices with any strides: made at planning time, run
// many times with other addresses, by one thread each time.
#pragma once

#include "loops/Loops.hpp"

#include <cstddef>
#include <cstdint>

namespace kernels {

// y [rows, columns] = a [rows, depth] * b [depth, columns]; the numbers after
// the sizes are distances of neighbouring elements.
struct ProductShape {
  std::int64_t rows, columns, depth;
  std::int64_t aRow, aDepth;
  std::int64_t bDepth, bColumn;
  std::int64_t yRow, yColumn;

  // Of the same product as y^T = b^T * a^T.
  ProductShape swapped() const {
    return {columns, rows, depth, bColumn, bDepth, aDepth, aRow, yColumn, yRow};
  }
};

// Picks the cheapest of four ways by the shape alone: elements of a broadcast
// over rows of b, or elements of b over columns of a, whatever is not
// contiguous or far apart being copied block by block into a workspace; or the
// dot products of rows of a and columns of b, either side first.
class Product {
public:
  explicit Product(const ProductShape &shape);

  std::size_t workspaceBytes() const { return workspaceBytes_; }
  // What it should take on one core.
  double nanoseconds() const;

  struct Operands {
    const float *a;
    const float *b;
    float *y;
    const float *bias = nullptr; // for each column, `biasStride` apart
    std::int64_t biasStride = 0;
    bool hasRelu = false;
  };
  void run(const Operands &operands, std::byte *workspace) const;

private:
  // How b reaches the loops: as it is, or a block of it copied into panels.
  enum class Source { AsIs, Packed, Transposed, Gathered };
  // How the result leaves them: in place, or through a block in the workspace.
  enum class Target { InPlace, Transposed, Scattered };

  struct Way {
    ProductShape shape;
    bool isSwapped;
    bool usesDots;
    Source source;
    Target target;
    bool packsTiles; // of a
    double cycles;
  };
  struct Block; // of the loops over b
  static Way wayOf(const ProductShape &shape, bool isSwapped, bool usesDots);

  void setBlocks();
  void runBlock(const Operands &operands, const Block &block,
                std::byte *workspace) const;
  void multiply(const ProductLoops::Matrices &matrices) const;
  void copySource(const float *b, const Block &block, float *panels) const;
  void storeTarget(const float *block, std::int64_t rows, std::int64_t columns,
                   float *y) const;

  Way way_;
  std::int64_t panel_; // columns of one
  std::int64_t blockColumns_;
  std::int64_t blockDepth_;
  std::int64_t blockRows_; // of a or the result in the workspace
  std::size_t tilesOffset_ = 0, targetOffset_ = 0, biasOffset_ = 0; // bytes
  std::size_t workspaceBytes_ = 0;
};

} // namespace kernels
