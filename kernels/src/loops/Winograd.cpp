// The transforms of Winograd's method, sixteen channels in the lanes, one
// register of them at a time. Each works along columns first and then along
// rows; the places are numbered row by row.
#include "WinogradLoops.hpp"

#include "Lanes.hpp"
#include "Product.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Field = WinogradLoops::Field;
using Tiles = WinogradLoops::Tiles;
using Weights = WinogradLoops::Weights;

constexpr int size = 6;  // of a tile of pixels
constexpr int inner = 4; // of a tile of results
constexpr int taps = 3;
constexpr int places = size * size;

// Polynomials are evaluated at 0, +-a, +-b and infinity. These points lose
// fewer bits than 1 and 2 do, and their powers are exact.
constexpr float a = 0.625f, b = 1.5f;
constexpr float a2 = a * a, b2 = b * b;
constexpr float byA = 1 / (2 * a2 * (a2 - b2)), byB = 1 / (2 * b2 * (b2 - a2));
constexpr float byZero = 1 / (a2 * b2);

// Pixels to factors.
inline void pixels(const Register (&d)[size], Register (&t)[size]) {
  const Register evenA = d[4] - b2 * d[2], oddA = a * (d[3] - b2 * d[1]);
  const Register evenB = d[4] - a2 * d[2], oddB = b * (d[3] - a2 * d[1]);
  t[0] = a2 * b2 * d[0] - (a2 + b2) * d[2] + d[4];
  t[1] = evenA + oddA;
  t[2] = evenA - oddA;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = a2 * b2 * d[1] - (a2 + b2) * d[3] + d[5];
}

// Gradients of results to factors.
inline void gradient(const Register (&d)[inner], Register (&t)[size]) {
  const Register evenA = d[0] + a2 * d[2], oddA = a * (d[1] + a2 * d[3]);
  const Register evenB = d[0] + b2 * d[2], oddB = b * (d[1] + b2 * d[3]);
  t[0] = d[0];
  t[1] = evenA + oddA;
  t[2] = evenA - oddA;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = d[3];
}

// Products to gradients of pixels: pixels(), transposed.
inline void pixelGradient(const Register (&t)[size], Register (&d)[size]) {
  const Register sumA = t[1] + t[2], differenceA = a * (t[1] - t[2]);
  const Register sumB = t[3] + t[4], differenceB = b * (t[3] - t[4]);
  d[0] = a2 * b2 * t[0];
  d[1] = a2 * b2 * t[5] - b2 * differenceA - a2 * differenceB;
  d[2] = -(a2 + b2) * t[0] - b2 * sumA - a2 * sumB;
  d[3] = differenceA + differenceB - (a2 + b2) * t[5];
  d[4] = t[0] + sumA + sumB;
  d[5] = t[5];
}

// Products to results.
inline void result(const Register (&d)[size], Register (&t)[inner]) {
  const Register sumA = d[1] + d[2], differenceA = a * (d[1] - d[2]);
  const Register sumB = d[3] + d[4], differenceB = b * (d[3] - d[4]);
  t[0] = d[0] + sumA + sumB;
  t[1] = differenceA + differenceB;
  t[2] = a2 * sumA + b2 * sumB;
  t[3] = a2 * differenceA + b2 * differenceB + d[5];
}

// Weights to factors.
inline void weight(const Register (&d)[taps], Register (&t)[size]) {
  const Register evenA = byA * (d[0] + a2 * d[2]), oddA = byA * a * d[1];
  const Register evenB = byB * (d[0] + b2 * d[2]), oddB = byB * b * d[1];
  t[0] = byZero * d[0];
  t[1] = evenA + oddA;
  t[2] = evenA - oddA;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = d[2];
}

// Products to gradients of weights.
inline void weightGradient(const Register (&d)[size], Register (&t)[taps]) {
  const Register sumA = byA * (d[1] + d[2]), sumB = byB * (d[3] + d[4]);
  t[0] = byZero * d[0] + sumA + sumB;
  t[1] = byA * a * (d[1] - d[2]) + byB * b * (d[3] - d[4]);
  t[2] = a2 * sumA + b2 * sumB + d[5];
}

// Applies the transform `Along` to the columns and then to the rows of a square
// of From x From, which becomes one of To x To.
template <int From, int To, auto Along>
inline void transform(const Register (&from)[From][From],
                      Register (&to)[To][To]) {
  Register half[From][To]; // by column
#pragma GCC unroll 6
  for (int c = 0; c < From; ++c) {
    Register column[From];
#pragma GCC unroll 6
    for (int r = 0; r < From; ++r) {
      column[r] = from[r][c];
    }
    Along(column, half[c]);
  }
#pragma GCC unroll 6
  for (int r = 0; r < To; ++r) {
    Register row[From];
#pragma GCC unroll 6
    for (int c = 0; c < From; ++c) {
      row[c] = half[c][r];
    }
    Along(row, to[r]);
  }
}

// Where a tile lies: its image, and its first pixel there.
struct Corner {
  std::int64_t image, row, column;
};
Corner cornerOf(const Field &field, std::int64_t tile) {
  const std::int64_t perImage = field.tileRows * field.tileColumns;
  const std::int64_t inImage = tile % perImage;
  return {tile / perImage, inImage / field.tileColumns * inner - field.padRows,
          inImage % field.tileColumns * inner - field.padColumns};
}

// A square of pixels in memory, or of results, some of which may be beyond the
// image, where there are zeros.
template <int Size> struct Square {
  const float *at;
  std::int64_t row; // floats to the next; columns are sixteen apart
  std::int64_t top, bottom, left, right; // what is in the image

  Square(const Field &field, const float *plane, const Corner &corner)
      : at(plane + (corner.row * field.columns + corner.column) * laneCount),
        row(field.columns * laneCount), top(-corner.row),
        bottom(field.rows - corner.row), left(-corner.column),
        right(field.columns - corner.column) {}

  bool isInside() const {
    return top <= 0 && left <= 0 && bottom >= Size && right >= Size;
  }

  // A register of each pixel's lanes.
  template <bool isAllInside>
  void load(std::int64_t lane, Register (&square)[Size][Size]) const {
#pragma GCC unroll 6
    for (int r = 0; r < Size; ++r) {
#pragma GCC unroll 6
      for (int c = 0; c < Size; ++c) {
        const bool isThere =
            isAllInside || (r >= top && r < bottom && c >= left && c < right);
        square[r][c] =
            isThere ? loadAs<Register>(at + r * row + c * laneCount + lane)
                    : Register{};
      }
    }
  }
};

// To one row of the matrices of all places, `apart` from each other; and back.
inline void storePlaces(const Register (&square)[size][size],
                        std::int64_t apart, float *to) {
#pragma GCC unroll 6
  for (int r = 0; r < size; ++r) {
#pragma GCC unroll 6
    for (int c = 0; c < size; ++c) {
      storeAs(to, square[r][c]);
      to += apart;
    }
  }
}
inline void loadPlaces(const float *from, std::int64_t apart,
                       Register (&square)[size][size]) {
#pragma GCC unroll 6
  for (int r = 0; r < size; ++r) {
#pragma GCC unroll 6
    for (int c = 0; c < size; ++c) {
      square[r][c] = loadAs<Register>(from);
      from += apart;
    }
  }
}

template <int Size, auto Along, bool isInside>
inline void squareToFactors(const Square<Size> &square, std::int64_t apart,
                            float *to) {
  for (std::int64_t lane = 0; lane < laneCount; lane += registerCount) {
    Register values[Size][Size], factors[size][size];
    square.template load<isInside>(lane, values);
    transform<Size, size, Along>(values, factors);
    storePlaces(factors, apart, to + lane);
  }
}

// Blocks [begin, end) of the channels.
template <int Size, auto Along>
void toFactors(const Field &field, const Tiles &tiles, std::int64_t begin,
               std::int64_t end, const float *x, float *to) {
  const std::int64_t plane = field.rows * field.columns * laneCount;
  const std::int64_t blocks = field.channels / laneCount;
  const std::int64_t channels = (end - begin) * laneCount;
  for (std::int64_t block = begin; block < end; ++block) {
    for (std::int64_t t = 0; t < tiles.count; ++t) {
      const Corner corner = cornerOf(field, tiles.first + t);
      const Square<Size> square(
          field, x + (corner.image * blocks + block) * plane, corner);
      const auto run = square.isInside() ? squareToFactors<Size, Along, true>
                                         : squareToFactors<Size, Along, false>;
      run(square, tiles.apart(channels),
          to + t * channels + (block - begin) * laneCount);
    }
  }
}

void images(const Field &field, const Tiles &tiles, std::int64_t begin,
            std::int64_t end, const float *x, float *to) {
  toFactors<size, pixels>(field, tiles, begin, end, x, to);
}

void gradients(const Field &field, const Tiles &tiles, std::int64_t begin,
               std::int64_t end, const float *dy, float *to) {
  toFactors<inner, gradient>(field, tiles, begin, end, dy, to);
}

// Products of blocks [begin, end) of the channels to the tiles of an image, by
// the transform `Along`: calls store(corner, channel, tile, image) with a
// register of each pixel of a tile, from this channel on.
template <int To, auto Along, typename Store>
inline void fromProducts(const Field &field, const Tiles &tiles,
                         std::int64_t begin, std::int64_t end,
                         const float *products, float *images, Store store) {
  const std::int64_t plane = field.rows * field.columns * laneCount;
  const std::int64_t blocks = field.channels / laneCount;
  const std::int64_t channels = (end - begin) * laneCount;
  for (std::int64_t block = begin; block < end; ++block) {
    for (std::int64_t t = 0; t < tiles.count; ++t) {
      const Corner corner = cornerOf(field, tiles.first + t);
      const float *at = products + t * channels + (block - begin) * laneCount;
      float *image = images + (corner.image * blocks + block) * plane;
      for (std::int64_t lane = 0; lane < laneCount; lane += registerCount) {
        Register square[size][size], values[To][To];
        loadPlaces(at + lane, tiles.apart(channels), square);
        transform<size, To, Along>(square, values);
        store(corner, block * laneCount + lane, values, image + lane);
      }
    }
  }
}

// Some lanes of a tile of results; what lies beyond the image is dropped.
inline void storeResults(const Field &field, const Corner &corner,
                         const Register (&values)[inner][inner], Register shift,
                         bool hasRelu, float *to) {
  const std::int64_t rows = least(inner, field.rows - corner.row);
  const std::int64_t columns = least(inner, field.columns - corner.column);
  to += (corner.row * field.columns + corner.column) * laneCount;
#pragma GCC unroll 4
  for (int r = 0; r < inner; ++r) {
    if (r >= rows) {
      return;
    }
#pragma GCC unroll 4
    for (int c = 0; c < inner; ++c) {
      Register value = values[r][c] + shift;
      value = hasRelu ? chooseAs(value < 0, Register{}, value) : value;
      if (c < columns) {
        storeAs(to + (r * field.columns + c) * laneCount, value);
      }
    }
  }
}

void results(const Field &field, const Tiles &tiles, std::int64_t begin,
             std::int64_t end, const float *products, const float *bias,
             bool hasRelu, float *y) {
  fromProducts<inner, result>(
      field, tiles, begin, end, products, y,
      [&](const Corner &corner, std::int64_t channel,
          const Register(&values)[inner][inner], float *to) {
        const Register shift =
            bias != nullptr ? loadAs<Register>(bias + channel) : Register{};
        storeResults(field, corner, values, shift, hasRelu, to);
      });
}

// Some lanes of a tile of gradients, added to those that earlier tiles of the
// image have left in its first rows and columns.
inline void addPixels(const Field &field, const Corner &corner,
                      const Register (&values)[size][size], float *to) {
  const bool isBelow = corner.row + field.padRows > 0;
  const bool isRight = corner.column + field.padColumns > 0;
  to += (corner.row * field.columns + corner.column) * laneCount;
#pragma GCC unroll 6
  for (int r = 0; r < size; ++r) {
    if (corner.row + r < 0 || corner.row + r >= field.rows) {
      continue;
    }
#pragma GCC unroll 6
    for (int c = 0; c < size; ++c) {
      if (corner.column + c < 0 || corner.column + c >= field.columns) {
        continue;
      }
      float *at = to + (r * field.columns + c) * laneCount;
      const bool isThere =
          (r < size - inner && isBelow) || (c < size - inner && isRight);
      storeAs(at, isThere ? loadAs<Register>(at) + values[r][c] : values[r][c]);
    }
  }
}

void pixelGradients(const Field &field, const Tiles &tiles, std::int64_t begin,
                    std::int64_t end, const float *products, float *dx) {
  fromProducts<size, pixelGradient>(
      field, tiles, begin, end, products, dx,
      [&](const Corner &corner, std::int64_t,
          const Register(&values)[size][size],
          float *to) { addPixels(field, corner, values, to); });
}

int tapOf(const Weights &weights, int row, int column) {
  const int tap = row * taps + column;
  return weights.isTurned ? taps * taps - 1 - tap : tap;
}

// The factors of one row's weights, sixteen columns of which lie side by side,
// to each place's matrix.
inline void transformWeights(const Weights &shape, const float *from,
                             float *to) {
  for (std::int64_t lane = 0; lane < laneCount; lane += registerCount) {
    Register square[taps][taps], factors[size][size];
#pragma GCC unroll 3
    for (int r = 0; r < taps; ++r) {
#pragma GCC unroll 3
      for (int c = 0; c < taps; ++c) {
        square[r][c] =
            loadAs<Register>(from + tapOf(shape, r, c) * laneCount + lane);
      }
    }
    transform<taps, size, weight>(square, factors);
    storePlaces(factors, shape.apart(), to + lane);
  }
}

void weights(const Weights &shape, std::int64_t begin, std::int64_t end,
             std::int64_t panel, const float *from, float *to) {
  constexpr std::int64_t tapCount = taps * taps;
  // Rows that lie next to each other are brought into lanes together.
  constexpr std::int64_t most = 8;
  const std::int64_t together = shape.rowStride == tapCount ? most : 1;
  for (std::int64_t column = 0; column < shape.columns; column += laneCount) {
    const std::int64_t before = column / panel * panel;
    const std::int64_t width = least(panel, shape.columns - before);
    for (std::int64_t row = begin; row < end; row += together) {
      const std::int64_t rows = least(together, end - row);
      float lanes[most * tapCount * laneCount];
      transpose(lanes, laneCount,
                from + row * shape.rowStride + column * shape.columnStride,
                shape.columnStride, laneCount, rows * tapCount);
      float *at = to + before * shape.rows + row * width + column - before;
      for (std::int64_t r = 0; r < rows; ++r) {
        transformWeights(shape, lanes + r * tapCount * laneCount,
                         at + r * width);
      }
    }
  }
}

void weightGradients(const Weights &shape, std::int64_t begin, std::int64_t end,
                     std::int64_t parts, const float *from, float *to) {
  const std::int64_t matrix = shape.rows * shape.columns;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t column = begin; column < end; column += registerCount) {
      const float *at = from + row * shape.columns + column;
      Register square[size][size], gradients[taps][taps];
      loadPlaces(at, matrix, square);
      for (std::int64_t part = 1; part < parts; ++part) {
        Register more[size][size];
        loadPlaces(at + part * places * matrix, matrix, more);
        for (int p = 0; p < places; ++p) {
          square[p / size][p % size] += more[p / size][p % size];
        }
      }
      transform<size, taps, weightGradient>(square, gradients);
      float *first = to + row * shape.rowStride + column * shape.columnStride;
      for (int r = 0; r < taps; ++r) {
        for (int c = 0; c < taps; ++c) {
          for (std::int64_t i = 0; i < registerCount; ++i) {
            first[i * shape.columnStride + tapOf(shape, r, c)] =
                gradients[r][c][i];
          }
        }
      }
    }
  }
}

} // namespace

WinogradLoops winogradLoops() {
  return {images, gradients, results, pixelGradients, weights, weightGradients};
}

} // namespace kernels::loops::LOOPS_LEVEL
