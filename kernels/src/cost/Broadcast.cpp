#include <kernels/cost/Broadcast.hpp>

#include <kernels/cost/Elementwise.hpp>

namespace kernels::cost {

namespace {

// Loops with one operand in a register, where they differ from section 8.2.
struct NamedCost {
  std::string_view name;
  std::string_view cost;
};
constexpr NamedCost scalarBroadcastCosts[] = {
    {"ADD", "F2/2 H2/4 I6/1"},
    {"SUBTRACT", "F2/2 H2/4 I6/1"},
    {"MULTIPLY", "F2/2 H2/4 I6/1"},
    {"DIVIDE", "F6/2 H8/2 I277/1 U260/1"},
    {"MAXIMUM", "F3/2 H3/4 I6/1"},
    {"MINIMUM", "F3/2 H3/4 I6/1"},
    {"POWER", "F312/1 H325/1 I23/1"},
    {"REMAINDER", "F93/2 H225/4"},
    {"EQUAL", "F12/4 H8/4 I16/4"},
    {"GREATER_THAN", "F12/4 H8/4 I16/4"},
    {"LESS_THAN", "F12/4 H8/4 I16/4"},
    {"GREATER_THAN_EQUAL", "F12/4 H8/4 I20/4"},
    {"LESS_THAN_EQUAL", "F12/4 H8/4 I20/4"},
    {"NOT_EQUAL", "F18/4 H10/4"},
    {"INV_STD_DEV_TO_VARIANCE", "F11/2 H10/2"},
    {"VARIANCE_TO_INV_STD_DEV", "F12/2 H24/4"},
};

LoopCost scalarLoop(const ElementwiseOpInfo &op, DataType type) {
  const auto loop = loopCost(op, type, false);
  for (const auto &row : scalarBroadcastCosts) {
    if (row.name == op.name) {
      return parseLoopCost(row.cost, type, false).value_or(loop);
    }
  }
  return loop;
}

Cycles vectorOuter(const TileSpec &tile, DataType type, std::uint64_t rows,
                   std::uint64_t columns, bool isAligned) {
  const Cycles row = isAligned ? 7 : 25;
  return tile.workers *
             (15 +
              rows * (row + ceilDiv(columns, vectorWidth(tile, type)) * 2)) +
         supervisorOverhead;
}

// The inner loops of a worker that has `k` repeats of `n` elements.
Cycles addHalfCore(std::uint64_t n, std::uint64_t k) {
  if (k == 0) {
    return 1;
  }
  if (n <= 2048 && n % 8 == 0) {
    return k == 1 ? 11 + 7 * n / 8 : 12 + n / 8 * (15 + 2 * (k - 1));
  }
  if (n % 4 == 0 && k >= 2) {
    return 15 + n / 4 * (13 + 2 * (k / 2 - 1) + k % 2);
  }
  const Cycles preamble = n > 2048 ? 9 : k == 1 ? 13 : 15;
  return preamble + n * (5 + 9 * k);
}

Cycles multiplyHalfCore(std::uint64_t n, std::uint64_t k, bool isInPlace) {
  if (k == 0) {
    return 2;
  }
  if (n % 4 != 0) {
    return 8 + n * (5 + 9 * k);
  }
  if (isInPlace) {
    return 9 + n / 4 * (7 + 2 * k);
  }
  if (n > 2044) {
    return 11 + n / 4 * (7 + 2 * k);
  }
  return 13 + n / 4 * (k == 1 ? 9 : 9 + k);
}

Cycles divideHalfCore(std::uint64_t n, std::uint64_t k) {
  if (k == 0) {
    return 2;
  }
  if (n % 2 == 0) {
    return 14 + n / 2 * (5 + 8 * k);
  }
  if (n == 1) {
    return k == 1 ? 24 : 28 + 8 * (k / 2 - 1) + (k % 2 != 0 ? 8 : 0);
  }
  const auto rest = n / 2 - 1;
  return 10 + k / 2 * (36 + 19 * rest) + (k % 2 != 0 ? 20 + 9 * rest : 0);
}

Cycles vectorInnerCore(std::string_view op, DataType type,
                       const VectorInnerShare &share, std::uint64_t k) {
  const auto n = share.length;
  const bool isHalf = type == DataType::Half;
  if (op == "DIVIDE") {
    if (isHalf) {
      return divideHalfCore(n, k);
    }
    return k == 0       ? 2
           : n % 2 == 0 ? 10 + n / 2 * (5 + 6 * k)
                        : 9 + n * (5 + 4 * k);
  }
  if (!isHalf) {
    return k == 0 ? 2 : 7 + n * (8 + 2 * k);
  }
  return op == "MULTIPLY" ? multiplyHalfCore(n, k, share.isInPlace)
                          : addHalfCore(n, k);
}

} // namespace

Cycles broadcastScalar1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                         DataType type, std::uint64_t n) {
  return supervisorOverhead +
         tile.workers * (20 + scalarLoop(op, type).of(perWorker(tile, n)));
}

Cycles vectorOuterByRow(const TileSpec &tile, DataType type, std::uint64_t rows,
                        std::uint64_t columns, bool isAligned) {
  return vectorOuter(tile, type, perWorker(tile, rows), columns, isAligned);
}

Cycles vectorOuterByColumn(const TileSpec &tile, DataType type,
                           std::uint64_t rows, std::uint64_t columns,
                           bool isAligned) {
  return vectorOuter(tile, type, rows, perWorker(tile, columns), isAligned);
}

bool hasVectorInner(std::string_view op, DataType type) {
  return (type == DataType::Float || type == DataType::Half) &&
         (op == "ADD" || op == "SUBTRACT" || op == "MULTIPLY" ||
          op == "DIVIDE");
}

Cycles vectorInner1D(const TileSpec &tile, std::string_view op, DataType type,
                     const VectorInnerShare &share) {
  const bool isHalf = type == DataType::Half;
  const Cycles slice = share.slices > 1 ? 17 : 0;
  const Cycles loops =
      share.slices * (slice + vectorInnerCore(op, type, share,
                                              perWorker(tile, share.repeats)));
  if (op == "DIVIDE") {
    return 14 + tile.workers * ((isHalf ? 24 : 19) + loops) +
           (share.isInPlace ? 2 : 4);
  }
  const Cycles base = isHalf ? 19 + (share.length % 2 != 0 ? 7 : 0) : 17;
  if (op == "MULTIPLY") {
    // The published estimator counts the preamble twice.
    return 13 + tile.workers * (isHalf ? 24 : 17) +
           tile.workers * (base + loops) + (share.isInPlace ? 6 + 18 : 12);
  }
  const bool isAddInPlace = op == "ADD" && share.isInPlace;
  return 13 + tile.workers * (base + loops) + (isAddInPlace ? 12 : 6 + 18);
}

Cycles broadcastScalar2D(const TileSpec &, const ElementwiseOpInfo &op,
                         DataType type, std::uint64_t regions,
                         std::uint64_t n) {
  return 20 + regions * (28 + scalarLoop(op, type).of(n));
}

Cycles broadcastScalars2D(const TileSpec &tile, const ElementwiseOpInfo &op,
                          DataType type, std::uint64_t regions,
                          std::uint64_t n) {
  const bool isLinear =
      op.name == "ADD" || op.name == "SUBTRACT" || op.name == "MULTIPLY";
  const Cycles loop = isLinear ? 5 * ceilDiv(n, vectorWidth(tile, type))
                               : scalarLoop(op, type).of(n);
  return 20 + regions * (28 + loop);
}

Cycles vectorInner2D(const TileSpec &, std::string_view op, DataType type,
                     std::uint64_t regions, const VectorInnerShare &share) {
  const bool isHalf = type == DataType::Half;
  const Cycles core = vectorInnerCore(op, type, share, share.repeats);
  if (op == "DIVIDE") {
    return 7 + regions * ((isHalf ? 15 : 9) + core) + (share.isInPlace ? 2 : 3);
  }
  if (op == "MULTIPLY") {
    return 4 + regions * ((isHalf ? 13 : 9) + core) + (share.isInPlace ? 3 : 2);
  }
  const Cycles rest = op == "SUBTRACT" ? 4 : share.isInPlace ? 2 : 3;
  return 4 + regions * ((isHalf ? 15 : 9) + core) + rest;
}

} // namespace kernels::cost
