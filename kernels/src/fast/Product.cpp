#include "Product.hpp"

#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr std::int64_t lanes = 16;
constexpr std::int64_t tileRows = 8; // of a, as the loops have them at most

std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::size_t bytesOf(std::int64_t floats) {
  return lineAligned(static_cast<std::size_t>(floats) * sizeof(float));
}

float *floatsAt(std::byte *workspace, std::size_t offset) {
  return reinterpret_cast<float *>(workspace + offset);
}

// What stays in the second-level cache.
constexpr std::int64_t cachedElements = 1 << 18;

// b as it is would be read from far away once for every eight rows of a: where
// it is large, or where its rows are so far apart that their lines take each
// other's places in the caches.
bool isBetterPacked(const ProductShape &s) {
  constexpr std::int64_t fewRows = 96;
  constexpr std::int64_t pageElements = 1024;
  constexpr std::int64_t places = 64; // for lines that are pages apart
  const bool isLarge = s.depth * s.columns > 2 * cachedElements;
  const bool isScattered = s.bDepth % pageElements == 0 && s.depth > places;
  return (isLarge || isScattered) && s.rows >= fewRows;
}

// Columns of a as they are would be read from far away, a line for every eight
// elements.
bool isScatteredByDepth(const ProductShape &s) {
  constexpr std::int64_t nearDepth = 256; // lines: half of the nearest cache
  constexpr std::int64_t nearElements = 1 << 15;
  return s.aDepth != 1 && s.depth > nearDepth &&
         s.rows * s.depth > nearElements;
}

// Copied once for all panels of b.
bool isBetterInTiles(const ProductShape &s) {
  constexpr std::int64_t fewColumns = 64;
  return s.aRow == 1 && isScatteredByDepth(s) && s.columns >= fewColumns &&
         s.yColumn == 1;
}

// Measured on Zen 4, whose 512-bit units do one product of vectors a cycle, and
// on Zen 3, which does as many with two units of 256 bits: cycles for each
// vector that is moved or made beside the products.
constexpr double cyclesPerResult = 2;
constexpr double cyclesPerPacked = 2;
constexpr double cyclesPerGathered = 16;
constexpr double cyclesPerTile = 0.25; // for each element
constexpr double cyclesPerFetched = 6; // from beyond the second-level cache
constexpr double nanosecondsPerCycle = 0.27;

double cyclesPerTransposed() {
  return hasWideRegisters() ? 6 : 3;
}
double cyclesPerDot() { // the sum over its lanes
  return hasWideRegisters() ? 4 : 6;
}

} // namespace

struct Product::Block {
  std::int64_t column, columns;
  std::int64_t depth, depthCount;
};

Product::Way Product::wayOf(const ProductShape &s, bool isSwapped,
                            bool usesDots) {
  Way way{s, isSwapped, usesDots, Source::AsIs, Target::InPlace, false, 0};
  const auto rows = static_cast<double>(s.rows);
  const auto depth = static_cast<double>(s.depth);
  const auto vectors = static_cast<double>(ceilDiv(s.columns, lanes));
  if (usesDots) {
    const auto parts = static_cast<double>(ceilDiv(s.depth, lanes));
    way.cycles = rows * vectors * lanes * (parts + cyclesPerDot());
  } else {
    // Sums that wait for themselves take four cycles.
    constexpr double latency = 4;
    way.cycles = std::max(rows * vectors, latency) * depth +
                 cyclesPerResult * rows * vectors;
    way.packsTiles = isBetterInTiles(s);
    if (isScatteredByDepth(s)) {
      way.cycles += (way.packsTiles ? cyclesPerTile : 1) * rows * depth;
    }
    double perVector = 0;
    if (s.bColumn == 1 || s.columns == 1) {
      way.source = isBetterPacked(s) ? Source::Packed : Source::AsIs;
      perVector = way.source == Source::Packed ? cyclesPerPacked : 0;
    } else if (s.bDepth == 1 || s.depth == 1) {
      way.source = Source::Transposed;
      perVector = cyclesPerTransposed();
    } else {
      way.source = Source::Gathered;
      perVector = cyclesPerGathered;
    }
    way.cycles += perVector * vectors * depth;
  }
  if (s.yColumn != 1 && s.columns != 1) {
    const bool isTransposed = s.yRow == 1 || s.rows == 1;
    way.target = isTransposed ? Target::Transposed : Target::Scattered;
    way.cycles += (isTransposed ? cyclesPerTransposed() : cyclesPerGathered) *
                  rows * vectors;
  }
  return way;
}

Product::Product(const ProductShape &shape) : way_(wayOf(shape, false, false)) {
  for (const bool usesDots : {false, true}) {
    for (const bool isSwapped : {false, true}) {
      const ProductShape s = isSwapped ? shape.swapped() : shape;
      const bool isTaken =
          !usesDots || s.depth == 1 || (s.aDepth == 1 && s.bDepth == 1);
      if (isTaken) {
        const Way way = wayOf(s, isSwapped, usesDots);
        way_ = way.cycles < way_.cycles ? way : way_;
      }
    }
  }
  setBlocks();
}

double Product::nanoseconds() const {
  const ProductShape &s = way_.shape;
  const std::int64_t elements = std::max(s.rows, s.columns) * s.depth;
  double cycles = way_.cycles;
  if (elements > cachedElements) {
    cycles = std::max(cycles, cyclesPerFetched * static_cast<double>(elements) /
                                  static_cast<double>(lanes));
  }
  return cycles * nanosecondsPerCycle;
}

void Product::setBlocks() {
  constexpr std::int64_t packedPanels = 8;
  constexpr std::int64_t cachedDepth = 512; // of packedPanels: half of L2
  constexpr std::int64_t tileDepth = 256;   // its panel stays in L1
  constexpr std::int64_t tiledRows = 128;   // a block stays in L2
  constexpr std::int64_t targetRows = 48;   // a block stays in L1
  const ProductShape &s = way_.shape;
  // Panels of nearly one size, of whole vectors.
  const std::int64_t vectors = ceilDiv(s.columns, lanes);
  const std::int64_t widest = selectedLoops().product.panelColumns / lanes;
  panel_ = ceilDiv(vectors, ceilDiv(vectors, widest)) * lanes;
  blockRows_ = s.rows;
  blockColumns_ = s.columns;
  blockDepth_ = s.depth;
  const bool hasDepthBlocks =
      way_.packsTiles ||
      (way_.source == Source::Packed && way_.target == Target::InPlace);
  if (hasDepthBlocks) {
    blockDepth_ = std::min(s.depth, way_.packsTiles ? tileDepth : cachedDepth);
  }
  if (way_.source != Source::AsIs) {
    const std::int64_t panels = ceilDiv(s.columns, panel_);
    blockColumns_ =
        panel_ * (hasDepthBlocks ? std::min(panels, packedPanels) : 1);
    workspaceBytes_ += bytesOf(blockColumns_ * blockDepth_);
  }
  if (way_.packsTiles) {
    blockRows_ = std::min(s.rows, tiledRows);
    tilesOffset_ = workspaceBytes_;
    workspaceBytes_ +=
        bytesOf((blockRows_ + lanes) * blockDepth_); // whole tiles
  }
  if (way_.target != Target::InPlace) {
    blockColumns_ = panel_;
    blockRows_ = std::min(s.rows, targetRows);
    targetOffset_ = workspaceBytes_;
    workspaceBytes_ += bytesOf(blockRows_ * panel_);
  }
  if (!way_.isSwapped) {
    biasOffset_ = workspaceBytes_;
    workspaceBytes_ += bytesOf(s.columns);
  }
}

void Product::run(const Operands &given, std::byte *workspace) const {
  const ProductShape &s = way_.shape;
  Operands operands = given;
  if (way_.isSwapped) {
    std::swap(operands.a, operands.b);
  } else if (given.bias != nullptr && given.biasStride != 1) {
    float *copy = floatsAt(workspace, biasOffset_);
    selectedLoops().elementwise.loadFloat(copy, given.bias, given.biasStride,
                                          s.columns);
    operands.bias = copy;
  }
  Block block{};
  for (; block.column < s.columns; block.column += block.columns) {
    block.columns = std::min(blockColumns_, s.columns - block.column);
    for (block.depth = 0; block.depth < s.depth;
         block.depth += block.depthCount) {
      block.depthCount = std::min(blockDepth_, s.depth - block.depth);
      runBlock(operands, block, workspace);
    }
  }
}

void Product::runBlock(const Operands &operands, const Block &block,
                       std::byte *workspace) const {
  const ProductShape &s = way_.shape;
  const bool isCopied = way_.source != Source::AsIs;
  const float *b =
      operands.b + block.column * s.bColumn + block.depth * s.bDepth;
  if (isCopied) {
    copySource(b, block, floatsAt(workspace, 0));
    b = floatsAt(workspace, 0);
  }
  const bool isInPlace = way_.target == Target::InPlace;
  for (std::int64_t row = 0; row < s.rows; row += blockRows_) {
    float *const y = operands.y + row * s.yRow + block.column * s.yColumn;
    ProductLoops::Matrices m{};
    m.rows = std::min(blockRows_, s.rows - row);
    m.depth = block.depthCount;
    m.a = operands.a + row * s.aRow + block.depth * s.aDepth;
    m.aRow = s.aRow;
    m.aDepth = s.aDepth;
    if (way_.packsTiles) {
      float *const tiles = floatsAt(workspace, tilesOffset_);
      selectedLoops().product.pack(tiles, tileRows, m.a, s.aDepth, m.depth,
                                   m.rows);
      m.a = tiles;
      m.aDepth = tileRows;
    }
    m.yRow = isInPlace ? s.yRow : panel_;
    m.isAdded = block.depth > 0;
    m.hasRelu = operands.hasRelu && block.depth + block.depthCount == s.depth;
    if (way_.isSwapped && operands.bias != nullptr) {
      m.rowBias = operands.bias + row * operands.biasStride;
      m.biasStride = operands.biasStride;
    }
    const std::int64_t width =
        isCopied || way_.packsTiles ? panel_ : block.columns;
    for (std::int64_t column = 0; column < block.columns; column += width) {
      m.columns = std::min(width, block.columns - column);
      m.b = b + column * (isCopied ? block.depthCount : 1);
      m.bRow = isCopied ? panel_ : way_.usesDots ? s.bColumn : s.bDepth;
      m.y = isInPlace ? y + column : floatsAt(workspace, targetOffset_);
      if (!way_.isSwapped && operands.bias != nullptr) {
        m.columnBias = operands.bias + block.column + column;
      }
      multiply(m);
    }
    if (!isInPlace) {
      storeTarget(m.y, m.rows, block.columns, y);
    }
  }
}

void Product::multiply(const ProductLoops::Matrices &m) const {
  const auto &loops = selectedLoops().product;
  if (!way_.packsTiles) {
    (way_.usesDots ? loops.multiplyByDots : loops.multiply)(m);
    return;
  }
  ProductLoops::Matrices tile = m;
  for (std::int64_t row = 0; row < m.rows; row += tileRows) {
    tile.rows = std::min(tileRows, m.rows - row);
    tile.a = m.a + row * m.depth;
    tile.y = m.y + row * m.yRow;
    if (m.rowBias != nullptr) {
      tile.rowBias = m.rowBias + row * m.biasStride;
    }
    loops.multiply(tile);
  }
}

// Panels one after another, each of depthCount rows of panel_ floats.
void Product::copySource(const float *b, const Block &block,
                         float *panels) const {
  const ProductShape &s = way_.shape;
  const auto &loops = selectedLoops();
  if (way_.source == Source::Packed) {
    loops.product.pack(panels, panel_, b, s.bDepth, block.depthCount,
                       block.columns);
    return;
  }
  for (std::int64_t column = 0; column < block.columns; column += panel_) {
    const std::int64_t columns = std::min(panel_, block.columns - column);
    const float *from = b + column * s.bColumn;
    float *const to = panels + column * block.depthCount;
    if (way_.source == Source::Transposed) {
      loops.product.transpose(to, panel_, from, s.bColumn, columns,
                              block.depthCount);
      continue;
    }
    for (std::int64_t k = 0; k < block.depthCount; ++k) {
      loops.elementwise.loadFloat(to + k * panel_, from + k * s.bDepth,
                                  s.bColumn, columns);
    }
  }
}

void Product::storeTarget(const float *block, std::int64_t rows,
                          std::int64_t columns, float *y) const {
  const ProductShape &s = way_.shape;
  const auto &loops = selectedLoops();
  if (way_.target == Target::Transposed) {
    loops.product.transpose(y, s.yColumn, block, panel_, rows, columns);
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    loops.elementwise.storeFloat(y + row * s.yRow, block + row * panel_,
                                 s.yColumn, columns);
  }
}

} // namespace kernels
