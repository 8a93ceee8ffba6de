// Matrix products as dot products, where both operands are contiguous along the
// depth, and the copies of matrices that the other products want.
#include "Product.hpp"

#include "LaneShuffles.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Matrices = ProductLoops::Matrices;

// Sums that are kept in registers.
#ifdef __AVX512F__
constexpr int dotTile = 16;
#else
constexpr int dotTile = 8;
#endif

template <bool IsPart>
FourLanes loadFour(const float *from, [[maybe_unused]] std::int64_t count) {
  FourLanes four{};
  if constexpr (!IsPart) {
    std::memcpy(&four, from, sizeof four);
  } else {
#ifdef __AVX512F__
    const auto mask = static_cast<__mmask8>((1u << count) - 1);
    four = _mm_maskz_loadu_ps(mask, from);
#else
    for (std::int64_t i = 0; i < count; ++i) {
      four[i] = from[i];
    }
#endif
  }
  return four;
}

// Four elements of each of four rows that are four rows apart.
template <bool IsPart>
Lanes loadFours(const float *const *rows, std::int64_t column,
                std::int64_t count) {
  const FourLanes a = loadFour<IsPart>(rows[0] + column, count);
  const FourLanes b = loadFour<IsPart>(rows[4] + column, count);
  const FourLanes c = loadFour<IsPart>(rows[8] + column, count);
  const FourLanes d = loadFour<IsPart>(rows[12] + column, count);
  return joinFours(a, b, c, d);
}

// Transposes the four by four blocks that four lanes of each are.
void transposeFours(Lanes a, Lanes b, Lanes c, Lanes d, Lanes (&columns)[4]) {
  const Lanes abLow =
      shuffled<0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29>(a, b);
  const Lanes abHigh =
      shuffled<2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31>(a,
                                                                           b);
  const Lanes cdLow =
      shuffled<0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29>(c, d);
  const Lanes cdHigh =
      shuffled<2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31>(c,
                                                                           d);
  columns[0] =
      shuffled<0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29>(abLow,
                                                                         cdLow);
  columns[1] =
      shuffled<2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31>(
          abLow, cdLow);
  columns[2] =
      shuffled<0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29>(
          abHigh, cdHigh);
  columns[3] =
      shuffled<2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31>(
          abHigh, cdHigh);
}

// Of sixteen rows, `count` columns, at most four; `rowCount` rows are stored.
template <bool IsPart>
void transposeColumns(float *to, std::int64_t toRow, const float *const *rows,
                      std::int64_t column, std::int64_t count,
                      std::int64_t rowCount) {
  Lanes columns[4];
  transposeFours(loadFours<IsPart>(rows, column, count),
                 loadFours<IsPart>(rows + 1, column, count),
                 loadFours<IsPart>(rows + 2, column, count),
                 loadFours<IsPart>(rows + 3, column, count), columns);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if (IsPart && i >= count) {
      break;
    }
    if (rowCount == laneCount) {
      storeLanes(to + (column + i) * toRow, columns[i]);
    } else {
      storePart(to + (column + i) * toRow, columns[i], rowCount);
    }
  }
}

// Lane i of the result is the sum of the lanes of sums[i].
#if defined(__AVX512F__)
Lanes sumEach(const Register (&sums)[laneCount]) {
  Lanes quarters[4]; // of sums 4 i to 4 i + 3, by groups of four lanes
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    Lanes columns[4];
    transposeFours(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2],
                   sums[4 * i + 3], columns);
    quarters[i] = (columns[0] + columns[1]) + (columns[2] + columns[3]);
  }
  const Lanes lowA =
      shuffled<0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27>(
          quarters[0], quarters[1]) +
      shuffled<4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31>(
          quarters[0], quarters[1]);
  const Lanes lowB =
      shuffled<0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27>(
          quarters[2], quarters[3]) +
      shuffled<4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31>(
          quarters[2], quarters[3]);
  return shuffled<0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27>(
             lowA, lowB) +
         shuffled<4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31>(
             lowA, lowB);
}
#elif defined(__AVX__)
HalfLanes sumEight(const Register *sums) {
  const __m256 low = _mm256_hadd_ps(_mm256_hadd_ps(sums[0], sums[1]),
                                    _mm256_hadd_ps(sums[2], sums[3]));
  const __m256 high = _mm256_hadd_ps(_mm256_hadd_ps(sums[4], sums[5]),
                                     _mm256_hadd_ps(sums[6], sums[7]));
  return _mm256_permute2f128_ps(low, high, 0x20) +
         _mm256_permute2f128_ps(low, high, 0x31);
}
Lanes sumEach(const Register (&sums)[laneCount]) {
  return {sumEight(sums), sumEight(sums + halfCount)};
}
#else
Lanes sumEach(const Register (&sums)[laneCount]) {
  float totals[laneCount];
  for (std::int64_t i = 0; i < laneCount; ++i) {
    totals[i] = (sums[i][0] + sums[i][2]) + (sums[i][1] + sums[i][3]);
  }
  return loadLanes(totals);
}
#endif

// Products of Rows rows of a with some columns of b, a register along the
// depth.
template <typename Load, int Rows, int Columns>
[[gnu::always_inline]] inline void
addProducts(Load load, const float *a, std::int64_t aRow,
            const float *const *columns, std::int64_t k,
            Register (&sums)[Rows][Columns]) {
  Register values[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    values[r] = load(a + r * aRow + k);
    keepInRegister(values[r]);
  }
#pragma GCC unroll 16
  for (int c = 0; c < Columns; ++c) {
    Register column = load(columns[c] + k);
    keepInRegister(column);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      sums[r][c] += values[r] * column;
    }
  }
}

// Rows of a with sixteen / Rows columns of b, dotTile sums at a time. Lanes of
// the result are columns of the first row, then of the next.
template <int Rows>
Lanes dotsOf(const float *a, std::int64_t aRow,
             const float *const (&columns)[laneCount / Rows],
             std::int64_t depth) {
  constexpr int columnCount = laneCount / Rows;
  constexpr int together = dotTile / Rows;
  Register sums[laneCount];
  for (int first = 0; first < columnCount; first += together) {
    Register part[Rows][together] = {};
    std::int64_t k = 0;
    for (; k + registerCount <= depth; k += registerCount) {
      addProducts(loadAs<Register>, a, aRow, columns + first, k, part);
    }
    if (k < depth) {
      const auto loadRest = [&](const float *from) {
        return loadRegisterPart(from, depth - k);
      };
      addProducts(loadRest, a, aRow, columns + first, k, part);
    }
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
      for (int c = 0; c < together; ++c) {
        sums[r * columnCount + first + c] = part[r][c];
      }
    }
  }
  return sumEach(sums);
}

// The first sixteen / Rows lanes, once for each of Rows rows.
template <int Rows> Lanes repeated(Lanes lanes) {
  if constexpr (Rows == 4) {
    return shuffled<0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3>(lanes,
                                                                    lanes);
  } else if constexpr (Rows == 2) {
    return shuffled<0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7>(lanes,
                                                                    lanes);
  }
  return lanes;
}

// Of Rows rows from `row` and sixteen / Rows columns.
template <int Rows>
void multiplyBlock(const Matrices &m, std::int64_t row, std::int64_t column) {
  constexpr std::int64_t width = laneCount / Rows;
  const std::int64_t count = least(width, m.columns - column);
  const float *columns[width]; // the last again where one is missing
  for (std::int64_t i = 0; i < width; ++i) {
    columns[i] = m.b + (column + least(i, count - 1)) * m.bRow;
  }
  Lanes sums = dotsOf<Rows>(m.a + row * m.aRow, m.aRow, columns, m.depth);
  if (m.columnBias != nullptr) {
    sums += repeated<Rows>(loadPart(m.columnBias + column, count));
  }
  if (m.rowBias != nullptr) {
    float biases[laneCount];
    for (std::int64_t i = 0; i < laneCount; ++i) {
      biases[i] = m.rowBias[(row + i / width) * m.biasStride];
    }
    sums += loadLanes(biases);
  }
  if (m.hasRelu) {
    sums = choose(sums < 0, Lanes{}, sums);
  }
  float results[laneCount];
  storeLanes(results, sums);
  for (int r = 0; r < Rows; ++r) {
    float *to = m.y + (row + r) * m.yRow + column;
    if (count == width) {
      std::memcpy(to, results + r * width, width * sizeof(float));
    } else {
      storePart(to, loadPart(results + r * width, count), count);
    }
  }
}

// Rows [0, end) in fours. What is read again for every block of the other is
// the smaller of a and b.
void multiplyFours(const Matrices &m, std::int64_t end) {
  constexpr std::int64_t width = laneCount / 4;
  if (m.rows > m.columns) {
    for (std::int64_t row = 0; row < end; row += 4) {
      for (std::int64_t column = 0; column < m.columns; column += width) {
        multiplyBlock<4>(m, row, column);
      }
    }
    return;
  }
  for (std::int64_t column = 0; column < m.columns; column += width) {
    for (std::int64_t row = 0; row < end; row += 4) {
      multiplyBlock<4>(m, row, column);
    }
  }
}

template <int Rows> void multiplyRows(const Matrices &m, std::int64_t row) {
  for (std::int64_t column = 0; column < m.columns;
       column += laneCount / Rows) {
    multiplyBlock<Rows>(m, row, column);
  }
}

} // namespace

void multiplyByDots(const Matrices &m) {
  std::int64_t row = m.rows / 4 * 4;
  multiplyFours(m, row);
  for (; row + 2 <= m.rows; row += 2) {
    multiplyRows<2>(m, row);
  }
  for (; row < m.rows; ++row) {
    multiplyRows<1>(m, row);
  }
}

void transpose(float *to, std::int64_t toRow, const float *from,
               std::int64_t fromRow, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t row = 0; row < rows; row += laneCount) {
    const std::int64_t rowCount = least(laneCount, rows - row);
    const float *sources[laneCount]; // of rows that are missing: the last
    for (std::int64_t i = 0; i < laneCount; ++i) {
      sources[i] = from + (row + least(i, rowCount - 1)) * fromRow;
    }
    std::int64_t column = 0;
    for (; column + 4 <= columns; column += 4) {
      transposeColumns<false>(to + row, toRow, sources, column, 4, rowCount);
    }
    if (column < columns) {
      transposeColumns<true>(to + row, toRow, sources, column, columns - column,
                             rowCount);
    }
  }
}

namespace {

// `count` floats, at most sixteen.
void copyLanes(float *to, const float *from, std::int64_t count) {
  if (count == laneCount) {
    storeLanes(to, loadLanes(from));
  } else if (count == halfCount) {
    __builtin_memcpy(to, from, halfCount * sizeof(float));
  } else {
    storePart(to, loadPart(from, count), count);
  }
}

} // namespace

void pack(float *to, std::int64_t panel, const float *from,
          std::int64_t fromRow, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t ahead = 8; // rows, fetched early
  for (std::int64_t row = 0; row < rows; ++row) {
    const float *source = from + row * fromRow;
    const float *next = source + least(ahead, rows - 1 - row) * fromRow;
    float *target = to + row * panel;
    for (std::int64_t column = 0; column < columns; column += laneCount) {
      __builtin_prefetch(next + column);
    }
    for (std::int64_t begin = 0; begin < columns; begin += panel) {
      const std::int64_t end = least(begin + panel, columns);
      for (std::int64_t column = begin; column < end; column += laneCount) {
        copyLanes(target + (column - begin), source + column,
                  least(laneCount, end - column));
      }
      target += panel * rows;
    }
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
