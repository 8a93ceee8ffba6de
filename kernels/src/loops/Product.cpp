// Products of float matrices: a tile of the result stays in registers while
// elements of `a` are broadcast over rows of `b`. Every element is one chain of
// products in the order of the depth.
#include "Product.hpp"

#include "Ahead.hpp"
#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Matrices = ProductLoops::Matrices;

#if defined(__AVX512F__)
// 24 sums, three vectors of b and an element of a fit in 32 registers.
constexpr int tileRows = 8;
constexpr int tileVectors = 3;
#elif defined(__AVX2__)
constexpr int tileRows = 6;
constexpr int tileVectors = 1;
#else
constexpr int tileRows = 2;
constexpr int tileVectors = 1;
#endif

// The elements of b's last vector, `Part` being fewer than sixteen.
template <bool IsPart>
[[gnu::always_inline]] inline Lanes
loadLast(const float *from, [[maybe_unused]] std::int64_t count) {
  if constexpr (IsPart) {
    return loadPart(from, count);
  } else {
    return loadLanes(from);
  }
}

// Of a row of y or of a bias.
template <int Vectors, bool IsPart>
[[gnu::always_inline]] inline void loadRow(const float *from, std::int64_t last,
                                           Lanes (&to)[Vectors]) {
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    to[v] = v + 1 == Vectors ? loadLast<IsPart>(from + v * laneCount, last)
                             : loadLanes(from + v * laneCount);
  }
}

template <int Rows, int Vectors, bool IsPart>
[[gnu::always_inline]] inline void begin(const Matrices &m, std::int64_t last,
                                         Lanes (&sums)[Rows][Vectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      sums[r][v] = Lanes{};
    }
  }
  if (m.isAdded || m.columnBias != nullptr) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      loadRow<Vectors, IsPart>(m.isAdded ? m.y + r * m.yRow : m.columnBias,
                               last, sums[r]);
    }
  } else if (m.rowBias != nullptr) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        sums[r][v] = broadcast(m.rowBias[r * m.biasStride]);
      }
    }
  }
}

template <int Rows, int Vectors, bool IsPart>
[[gnu::always_inline]] inline void finish(const Matrices &m, std::int64_t last,
                                          Lanes (&sums)[Rows][Vectors]) {
  if (m.hasRelu) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        sums[r][v] = choose(sums[r][v] < 0, Lanes{}, sums[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      float *to = m.y + r * m.yRow + v * laneCount;
      if (IsPart && v + 1 == Vectors) {
        storePart(to, sums[r][v], last);
      } else {
        storeLanes(to, sums[r][v]);
      }
    }
  }
}

// Adds the products of a row of b.
template <int Rows, int Vectors, bool IsPart>
[[gnu::always_inline]] inline void
addRow(const float *const (&a)[Rows], std::int64_t offset, const float *b,
       std::int64_t bVector, std::int64_t last, Lanes (&sums)[Rows][Vectors]) {
  Lanes values[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    values[v] = v + 1 == Vectors ? loadLast<IsPart>(b + v * bVector, last)
                                 : loadLanes(b + v * bVector);
    keepInRegister(values[v]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    const Lanes element = broadcast(a[r][offset]);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      sums[r][v] += element * values[v];
    }
  }
}

// Where b is packed and rows of a are contiguous, so many rows of b are taken
// together: all addresses but one are constant, which saves an eighth of the
// instructions.
constexpr std::int64_t packedRows = 16;

// `last` elements of the last vector.
template <int Rows, int Vectors, bool IsPart, bool IsPacked>
void multiplyTile(const Matrices &m, std::int64_t last,
                  [[maybe_unused]] Ahead &ahead) {
  Lanes sums[Rows][Vectors];
  begin<Rows, Vectors, IsPart>(m, last, sums);
  const float *a[Rows];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    a[r] = m.a + r * m.aRow;
  }
  const float *b = m.b;
  const std::int64_t bVector = m.bVector;
  std::int64_t offset = 0, left = m.depth;
  if constexpr (IsPacked) {
    for (; left >= packedRows; left -= packedRows) {
      ahead.fetch();
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < packedRows; ++k) {
        addRow<Rows, Vectors, IsPart>(a, offset + k, b + k * laneCount, bVector,
                                      last, sums);
      }
      b += packedRows * laneCount;
      offset += packedRows;
    }
  }
  for (; left > 0; --left) {
    addRow<Rows, Vectors, IsPart>(a, offset, b, bVector, last, sums);
    b += m.bRow;
    offset += m.aDepth;
  }
  finish<Rows, Vectors, IsPart>(m, last, sums);
}

using TileFunction = void (*)(const Matrices &, std::int64_t, Ahead &);

struct Tiles {
  // By rows, vectors, whether the last vector is part of one, and packed.
  TileFunction functions[tileRows][tileVectors][2][2];
};

template <int Rows, int Vectors> constexpr void addTiles(Tiles &tiles) {
  auto &functions = tiles.functions[Rows - 1][Vectors - 1];
  functions[0][0] = multiplyTile<Rows, Vectors, false, false>;
  functions[0][1] = multiplyTile<Rows, Vectors, false, true>;
  functions[1][0] = multiplyTile<Rows, Vectors, true, false>;
  functions[1][1] = multiplyTile<Rows, Vectors, true, true>;
  if constexpr (Vectors > 1) {
    addTiles<Rows, Vectors - 1>(tiles);
  } else if constexpr (Rows > 1) {
    addTiles<Rows - 1, tileVectors>(tiles);
  }
}

constexpr Tiles makeTiles() {
  Tiles tiles{};
  addTiles<tileRows, tileVectors>(tiles);
  return tiles;
}

constexpr Tiles tiles = makeTiles();

// All rows of one panel of columns, at most a tile wide.
void multiplyPanel(const Matrices &whole, std::int64_t columns) {
  const std::int64_t vectors = (columns + laneCount - 1) / laneCount;
  const std::int64_t last = columns - (vectors - 1) * laneCount;
  Matrices m = whole;
  // Rows in tiles of nearly one size: 8 + 2 would waste what 5 + 5 does not.
  std::int64_t tilesLeft = (whole.rows + tileRows - 1) / tileRows;
  const bool isPacked = whole.bRow == laneCount && whole.aDepth == 1;
  const std::int64_t fetches = whole.depth / packedRows;
  Ahead ahead(whole.next, fetches > 0 ? whole.nextRows : 0,
              tilesLeft * fetches);
  for (std::int64_t rowsLeft = whole.rows; rowsLeft > 0; --tilesLeft) {
    const std::int64_t rows = (rowsLeft + tilesLeft - 1) / tilesLeft;
    tiles.functions[rows - 1][vectors - 1][last != laneCount][isPacked](m, last,
                                                                        ahead);
    m.a += rows * m.aRow;
    m.y += rows * m.yRow;
    if (m.rowBias != nullptr) {
      m.rowBias += rows * m.biasStride;
    }
    rowsLeft -= rows;
  }
}

// Vectors of columns in panels of nearly one size.
void multiplyPanels(const Matrices &whole) {
  Matrices m = whole;
  std::int64_t vectors = (whole.columns + laneCount - 1) / laneCount;
  std::int64_t panels = (vectors + tileVectors - 1) / tileVectors;
  for (std::int64_t left = whole.columns; left > 0; --panels) {
    const std::int64_t width = (vectors + panels - 1) / panels;
    const std::int64_t columns = least(width * laneCount, left);
    multiplyPanel(m, columns);
    m.b += width * m.bVector;
    m.y += columns;
    if (m.columnBias != nullptr) {
      m.columnBias += columns;
    }
    vectors -= width;
    left -= columns;
  }
}

// A large result of a shallow product is mostly writing: whole rows of it, one
// tile after another.
void multiplyShallow(const Matrices &whole) {
  Matrices m = whole;
  for (std::int64_t rowsLeft = whole.rows; rowsLeft > 0; rowsLeft -= m.rows) {
    m.rows = least(tileRows, rowsLeft);
    multiplyPanels(m);
    m.a += m.rows * m.aRow;
    m.y += m.rows * m.yRow;
    if (m.rowBias != nullptr) {
      m.rowBias += m.rows * m.biasStride;
    }
  }
}

void multiply(const Matrices &m) {
  constexpr std::int64_t shallow = 4;
  constexpr std::int64_t large = 1 << 17; // half of the second-level cache
  if (m.depth <= shallow && m.rows * m.columns >= large) {
    multiplyShallow(m);
  } else {
    multiplyPanels(m);
  }
}

} // namespace

ProductLoops productLoops() {
  return {tileVectors * laneCount, multiply, multiplyByDots, transpose, pack};
}

} // namespace kernels::loops::LOOPS_LEVEL
