// The inner loops of the fast kernels: plain functions over pointers, compiled
// once per instruction set. Plans (src/fast) reach them through this table.
#pragma once

#include "BlockedConvolutionLoops.hpp"
#include "FewChannelConvolutionLoops.hpp"
#include "IntegerLoops.hpp"
#include "LaneWinogradLoops.hpp"
#include "NormBlockLoops.hpp"
#include "RandomLoops.hpp"
#include "WinogradLoops.hpp"

#include <cstddef>
#include <cstdint>

namespace kernels {

// Blocks of element-wise work: large enough to hide a call, small enough that
// a handful stays in the first-level cache.
inline constexpr std::int64_t blockElements = 1024;

struct ElementwiseLoops {
  // y[i] = op(a[i], b[i], c[i]); y may be one of the operands. BOOL values are
  // floats of 0 or 1 here.
  using Operator = void (*)(float *y, const float *a, const float *b,
                            const float *c, std::int64_t count);
  Operator operators[elementwiseOpCount]; // by ElementwiseOp
  // The same with operands that are one element for all i: the first, the
  // second, both. Null for operators that are not binary.
  Operator singles[3][elementwiseOpCount];
  void (*roundToHalf)(float *y, const float *a, std::int64_t count);

  // Between elements `stride` apart and a block of floats.
  void (*loadFloat)(float *to, const float *from, std::int64_t stride,
                    std::int64_t count);
  void (*loadHalf)(float *to, const std::uint16_t *from, std::int64_t stride,
                   std::int64_t count);
  void (*loadBool)(float *to, const std::uint8_t *from, std::int64_t stride,
                   std::int64_t count);
  void (*storeFloat)(float *to, const float *from, std::int64_t stride,
                     std::int64_t count);
  void (*storeHalf)(std::uint16_t *to, const float *from, std::int64_t stride,
                    std::int64_t count);
  void (*storeBool)(std::uint8_t *to, const float *from, std::int64_t stride,
                    std::int64_t count);
};

// Sums and products that run in twos, since a block between them costs more
// than they do.
enum class PairOp : std::uint8_t { Add, Multiply };
inline constexpr std::size_t pairOpCount = 2;

struct ElementwisePairLoops {
  // y[i] = (a[i] first b[i]) second c[i], each rounded; y may be one of the
  // operands. By the first PairOp, by the second, and by a bit for each operand
  // that is one element for all i.
  ElementwiseLoops::Operator operators[pairOpCount][pairOpCount][8];
};

enum class ReduceOp : std::uint8_t {
  Add,
  SquareAdd,
  Mul,
  Min,
  Max,
  LogicalAnd,
  LogicalOr,
  LogAdd
};
inline constexpr std::size_t reduceOpCount = 8;

// Null where a type does not have the operation.
template <typename T> struct ReduceLoopsOf {
  // total op all of x[i * stride].
  using Row = T (*)(T total, const T *x, std::int64_t stride,
                    std::int64_t count);
  // totals[i] = totals[i] op x[i * stride].
  using Columns = void (*)(T *totals, const T *x, std::int64_t stride,
                           std::int64_t count);
  Row row[reduceOpCount];
  Columns columns[reduceOpCount];
  // `rows` rows, `rowStride` apart: each to its own total, or element by
  // element to all totals.
  using Rows = void (*)(T *totals, const T *x, std::int64_t rows,
                        std::int64_t rowStride, std::int64_t stride,
                        std::int64_t count);
  Rows rows[reduceOpCount];
  Rows columnRows[reduceOpCount];
};
// Those of floats, and of the other types.
struct ReduceLoops : ReduceLoopsOf<float> {
  ReduceLoopsOf<std::int32_t> ints;
  ReduceLoopsOf<std::uint32_t> unsignedInts;
  ReduceLoopsOf<std::int64_t> longs;
  ReduceLoopsOf<std::uint64_t> unsignedLongs;
  ReduceLoopsOf<std::uint8_t> bools;
};

struct PoolLoops {
  // One plane; the windows lie as PoolPlane says.
  struct Plane {
    std::int64_t inRows, inColumns, outRows, outColumns;
    std::int64_t kernelRows, kernelColumns;
    std::int64_t strideRows, strideColumns;
    std::int64_t padRows, padColumns; // lower
    bool hasRelu;

    // What both functions need of `scratch`: a window's height of rows, each
    // of values and of positions, padded and rounded up.
    std::int64_t scratchFloats() const {
      const std::int64_t columns = inColumns + 2 * kernelColumns + outColumns;
      return (2 * kernelRows + 2) * (columns + 64 * (1 + strideColumns));
    }
  };
  void (*forward)(const Plane &plane, const float *x, float *y,
                  std::uint8_t *indices, float *scratch);
  void (*gradient)(const Plane &plane, const float *dy,
                   const std::uint8_t *indices, float *dx, float *scratch);
};

// Poolings of any rank, by rows: windows along the innermost dimension.
struct PoolRowLoops {
  struct Row {
    std::int64_t in, out, kernel, stride, pad; // pad: lower; may be negative

    // What the functions below need of `scratch`.
    std::int64_t scratchFloats() const {
      const std::int64_t padded = (out - 1) * stride + kernel;
      return (padded > in ? padded : in) + kernel + out +
             (pad < 0 ? -pad : pad) + 64 * (1 + stride);
    }
  };
  // The sum or the largest element of each window of row x.
  void (*sums)(const Row &row, const float *x, float *y, float *scratch);
  void (*maxima)(const Row &row, const float *x, float *y, float *scratch);
  // Each element of row dx is the sum of dy over the windows that it is in.
  void (*spread)(const Row &row, const float *dy, float *dx, float *scratch);

  // Windows that are whole planes of `size` elements: their sums times
  // `factor`, their largest elements; dy * factor for each element of dx.
  void (*planeSums)(const float *x, std::int64_t planes, std::int64_t size,
                    float factor, float *y);
  void (*planeMaxima)(const float *x, std::int64_t planes, std::int64_t size,
                      float *y);
  void (*spreadPlanes)(const float *dy, std::int64_t planes, std::int64_t size,
                       float factor, float *dx);

  void (*multiply)(float *y, const float *a, const float *b,
                   std::int64_t count);
  void (*divide)(float *y, const float *a, const float *b, std::int64_t count);
  // One window element of every output of a row; inputs are `stride` apart:
  // dx[i * stride] += dy[i] where x[i * stride] == y[i].
  void (*addWhereEqual)(float *dx, const float *x, std::int64_t stride,
                        const float *y, const float *dy, std::int64_t count);
  // counts[i] += x[i * stride] == y[i]
  void (*countEqual)(float *counts, const float *x, std::int64_t stride,
                     const float *y, std::int64_t count);
};

struct NormLoops {
  // One group of one sample: `channels` rows of `size` elements.
  struct Group {
    std::int64_t channels, size;
  };
  // Returns the mean and the inverse standard deviation through pointers.
  void (*forward)(const Group &group, const float *x, const float *gamma,
                  const float *beta, float epsilon, float *y, float *mean,
                  float *invStdDev);
  // Adds to dgamma and dbeta.
  void (*gradient)(const Group &group, const float *dy, const float *x,
                   const float *gamma, float mean, float invStdDev, float *dx,
                   float *dgamma, float *dbeta);
};

// Normalisations with one statistic per channel: `channels` neighbouring
// channels of `size` elements in each of `rows` rows. Scratch is 3 * channels *
// size floats.
struct NormRowLoops {
  struct Block {
    std::int64_t rows, rowStride, channels, size;
  };
  // The variance is the sum of squared differences over `divisor`.
  void (*statistics)(const Block &block, const float *x, float epsilon,
                     float divisor, float *mean, float *invStdDev,
                     float *scratch);
  // Per channel the sums of dy * (x - mean) and of dy.
  void (*sums)(const Block &block, const float *dy, const float *x,
               const float *mean, float *products, float *gradients,
               float *scratch);
  // y = x * factor + shift
  void (*affine)(const Block &block, const float *x, const float *factor,
                 const float *shift, float *y, float *scratch);
  // dx = dy * byDy + x * byX + shift
  void (*combine)(const Block &block, const float *dy, const float *x,
                  const float *byDy, const float *byX, const float *shift,
                  float *dx, float *scratch);
};

struct SoftmaxLoops {
  // `rows` rows of `length` elements, one after another.
  using Forward = void (*)(const float *x, float *y, std::int64_t rows,
                           std::int64_t length);
  using Gradient = void (*)(const float *dy, const float *y, float *dx,
                            std::int64_t rows, std::int64_t length);
  Forward softmax;
  Forward logSoftmax;
  Gradient softmaxGrad;
  Gradient logSoftmaxGrad;
  // One row of e^(z - the greatest z), where z = x + mask, in place of x;
  // returns their sum. No mask where that is null.
  float (*powers)(float *x, const float *mask, std::int64_t length);
};

// The element-wise parts of recurrent cells over `count` units; functions are
// numbered as GateFunction.
struct RecurrentLoops {
  // y = function(a + b); y may be a or b.
  void (*activate)(int function, float *y, const float *a, const float *b,
                   std::int64_t count);
  // g *= the slope of the function at the result y.
  void (*multiplySlope)(int function, float *g, const float *y,
                        std::int64_t count);
  // y += a * b
  void (*multiplyAdd)(float *y, const float *a, const float *b,
                      std::int64_t count);
  // c = forget * before + input * candidate; c may be `before`.
  void (*lstmState)(float *c, const float *forget, const float *before,
                    const float *input, const float *candidate,
                    std::int64_t count);
  // One sample's step back, `dc` becoming the gradient of the state before:
  // those of the gates by dh and dc, with functions as for `activate`.
  struct LstmGrad {
    const float *forget, *input, *candidate, *output, *activated, *before;
    const float *dh;
    float *dc;
    float *dForget, *dInput, *dCandidate, *dOutput;
  };
  void (*lstmGrad)(int activation, int recurrent, const LstmGrad &rows,
                   std::int64_t count);
  // With u = (1 - attention) * update: h = u * before + (1 - u) * candidate,
  // and its gradients by u, candidate and before; h may be `before`.
  void (*gruState)(float *h, float attention, const float *update,
                   const float *before, const float *candidate,
                   std::int64_t count);
  void (*gruStateGrad)(const float *dh, float attention, const float *update,
                       const float *before, const float *candidate,
                       float *dUpdate, float *dCandidate, float *dBefore,
                       std::int64_t count);
};

struct CtcLoops {
  // y = log(exp(a) + exp(b) + exp(c + cShift))
  void (*addThree)(float *y, const float *a, const float *b, const float *c,
                   const float *cShift, std::int64_t count);
};

struct UpdateLoops {
  // State arrays are updated in place: they are read from the first pointer of
  // a pair and written to the second, which may be the same.
  struct Sgd {
    float lr, weightDecay, momentum, dampening, gradientScale;
    bool hasMomentum, isNesterov;
  };
  void (*sgd)(const Sgd &p, const float *w, const float *g, const float *v,
              float *wOut, float *vOut, std::int64_t count);
  struct Adam {
    float beta1, beta2, epsilon, gradientScale;
    float decay;       // added to g as decay * w
    float shrink;      // multiplies w
    float stepSize;    // lr / (1 - beta1^t)
    float varianceInv; // 1 / sqrt(1 - beta2^t)
  };
  void (*adam)(const Adam &p, const float *w, const float *g, const float *m,
               const float *v, float *wOut, float *mOut, float *vOut,
               std::int64_t count);
  struct Rmsprop {
    float lr, alpha, epsilon, weightDecay, momentum, gradientScale;
    bool hasMomentum, isEpsilonInside;
  };
  void (*rmsprop)(const Rmsprop &p, const float *w, const float *g,
                  const float *s, const float *b, float *wOut, float *sOut,
                  float *bOut, std::int64_t count);
};

// Loops over Layout::BatchLanes16: every element is sixteen floats, one per
// sample, of which the first `lanes` are in use and the others stay zero. An
// image is one block of sixteen samples.
struct LaneLoops {
  struct Convolution {
    std::int64_t inChannels, inRows, inColumns;
    std::int64_t outRows, outColumns;
    std::int64_t kernelRows, kernelColumns;
    std::int64_t strideRows, strideColumns;
    std::int64_t padRows, padColumns; // lower; may be negative
    std::int64_t dilationRows, dilationColumns;
  };
  // Rows [rowBegin, rowEnd) of all `channels` output channels of one image.
  void (*convolution)(const Convolution &shape, const float *x, const float *w,
                      const float *bias, bool hasRelu, float *y,
                      std::int64_t channels, std::int64_t rowBegin,
                      std::int64_t rowEnd, std::int64_t lanes);
  // The weights' gradient of `channels` output channels, over `samples` samples
  // in images whose x and dy are `xImage` and `dyImage` floats apart; dy and dw
  // start at the first channel.
  void (*weightGradient)(const Convolution &shape, const float *dy,
                         std::int64_t dyImage, const float *x,
                         std::int64_t xImage, std::int64_t samples,
                         std::int64_t channels, float *dw);
  // One plane of one image.
  void (*maxPool)(const PoolLoops::Plane &plane, const float *x, float *y,
                  std::uint8_t *indices);
  void (*maxPoolGrad)(const PoolLoops::Plane &plane, const float *dy,
                      const std::uint8_t *indices, float *dx);
  // One group of one image; mean and invStdDev are sixteen floats.
  void (*groupNorm)(const NormLoops::Group &group, const float *x,
                    const float *gamma, const float *beta, float epsilon,
                    std::int64_t lanes, float *y, float *mean,
                    float *invStdDev);
  void (*groupNormGrad)(const NormLoops::Group &group, const float *dy,
                        const float *x, const float *gamma, const float *mean,
                        const float *invStdDev, std::int64_t lanes, float *dx,
                        float *dgamma, float *dbeta);
  // The sum of `count` elements and their lanes.
  float (*sum)(const float *x, std::int64_t count);
};

// Products of matrices.
struct ProductLoops {
  // y [rows, columns] = a [rows, depth] * b [depth, columns] + bias. Rows of y
  // are contiguous, `yRow` apart.
  struct Matrices {
    std::int64_t rows, columns, depth;
    const float *a;
    std::int64_t aRow, aDepth;
    const float *b;
    std::int64_t bRow;
    float *y;
    std::int64_t yRow;
    std::int64_t bVector = 16;         // from sixteen columns of b to the next
    const float *columnBias = nullptr; // one for each column
    const float *rowBias = nullptr;    // for each row, `biasStride` apart
    std::int64_t biasStride = 0;
    bool isAdded = false; // to y, in place of a bias
    bool hasRelu = false;
    // Rows of sixteen that the next product reads as its b: fetched meanwhile
    // where this b has such rows, too, and the rows of a are contiguous.
    const float *next = nullptr;
    std::int64_t nextRows = 0;
  };
  std::int64_t panelColumns; // that `multiply` takes at a time
  // Of a with any strides and contiguous rows of b, `bRow` apart: each element
  // is one chain of sums.
  void (*multiply)(const Matrices &matrices);
  // Of contiguous rows of a and columns of b, the latter `bRow` apart; isAdded
  // is not taken.
  void (*multiplyByDots)(const Matrices &matrices);
  // to[c][r] = from[r][c]
  void (*transpose)(float *to, std::int64_t toRow, const float *from,
                    std::int64_t fromRow, std::int64_t rows,
                    std::int64_t columns);
  // Rows of panels of `panel` columns, one panel after another.
  void (*pack)(float *to, std::int64_t panel, const float *from,
               std::int64_t fromRow, std::int64_t rows, std::int64_t columns);
};

struct Loops {
  const char *level; // "v4" (AVX-512), "v3" (AVX2) or "base"
  ElementwiseLoops elementwise;
  ElementwisePairLoops elementwisePairs;
  IntegerLoops integers;
  ReduceLoops reduce;
  PoolLoops pool;
  PoolRowLoops poolRows;
  NormLoops norm;
  NormRowLoops normRows;
  NormBlockLoops normBlocks;
  SoftmaxLoops softmax;
  RecurrentLoops recurrent;
  CtcLoops ctc;
  UpdateLoops update;
  RandomLoops random;
  LaneLoops lanes;
  LaneWinogradLoops laneWinograd;
  ProductLoops product;
  WinogradLoops winograd;
  BlockedConvolutionLoops blockedConvolution;
  FewChannelConvolutionLoops fewChannelConvolution;
};

// The table of each instruction set, and each family's part of it.
#define KERNELS_LOOPS_OF(level)                                                \
  namespace loops::level {                                                     \
  const Loops &table();                                                        \
  ElementwiseLoops elementwiseLoops();                                         \
  ElementwisePairLoops elementwisePairLoops();                                 \
  IntegerLoops integerLoops();                                                 \
  ReduceLoops reduceLoops();                                                   \
  PoolLoops poolLoops();                                                       \
  PoolRowLoops poolRowLoops();                                                 \
  NormLoops normLoops();                                                       \
  NormRowLoops normRowLoops();                                                 \
  NormBlockLoops normBlockLoops();                                             \
  SoftmaxLoops softmaxLoops();                                                 \
  RecurrentLoops recurrentLoops();                                             \
  CtcLoops ctcLoops();                                                         \
  UpdateLoops updateLoops();                                                   \
  RandomLoops randomLoops();                                                   \
  LaneLoops laneLoops();                                                       \
  LaneWinogradLoops laneWinogradLoops();                                       \
  ProductLoops productLoops();                                                 \
  WinogradLoops winogradLoops();                                               \
  BlockedConvolutionLoops blockedConvolutionLoops();                           \
  FewChannelConvolutionLoops fewChannelConvolutionLoops();                     \
  }
KERNELS_LOOPS_OF(base)
KERNELS_LOOPS_OF(v3)
KERNELS_LOOPS_OF(v4)

// The table for this CPU, or for the lesser one that ASPEN_ISA names.
const Loops &selectedLoops();

// Whether a register holds sixteen floats there, not eight or four.
bool hasWideRegisters();

} // namespace kernels
