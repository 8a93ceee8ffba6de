#include <kernels/cost/NeuralNet.hpp>

namespace kernels::cost {

namespace {

// Cycles of one vector alone and of each in a loop, float then half.
struct VectorCycles {
  std::string_view name;
  Cycles floatOnce;
  Cycles floatLoop;
  Cycles halfOnce;
  Cycles halfLoop;

  Cycles once(DataType type) const {
    return type == DataType::Half ? halfOnce : floatOnce;
  }
  Cycles loop(DataType type) const {
    return type == DataType::Half ? halfLoop : floatLoop;
  }
};
constexpr VectorCycles forwardCycles[] = {
    {"GELU", 10, 10, 5, 5},
    {"SWISH", 6, 11, 3, 5},
};
constexpr VectorCycles gradientCycles[] = {
    {"RELU", 3, 3, 3, 3},         {"SIGMOID", 3, 3, 3, 3},
    {"TANH", 3, 3, 3, 3},         {"GELU", 10, 10, 5, 5},
    {"GELU_ERF", 30, 30, 15, 15}, {"SWISH", 10, 15, 7, 9},
};
constexpr VectorCycles otherCycles{"", 10, 10, 10, 10};

template <std::size_t N>
const VectorCycles &vectorCycles(const VectorCycles (&table)[N],
                                 std::string_view name) {
  for (const auto &row : table) {
    if (row.name == name) {
      return row;
    }
  }
  return otherCycles;
}

// A worker's cycles for n elements.
Cycles forwardWorker(std::string_view nonLinearity, DataType type,
                     std::uint64_t vectors, bool hasTail) {
  constexpr Cycles unpack = 2;
  const auto &cycles = vectorCycles(forwardCycles, nonLinearity);
  const Cycles once = cycles.once(type);
  const Cycles loop =
      vectors > 0 ? 2 + once + (vectors - 1) * cycles.loop(type) + 1 + once : 0;
  return 20 + unpack + loop + (hasTail ? 3 + 2 + once : Cycles{3});
}

Cycles gradientWorker(std::string_view nonLinearity, DataType type,
                      std::uint64_t vectors, std::uint64_t rest) {
  const auto &cycles = vectorCycles(gradientCycles, nonLinearity);
  const Cycles loop = vectors > 0 ? 5 + (vectors - 1) * cycles.loop(type) : 0;
  return 20 + loop + 4 + rest * (cycles.once(type) + 1);
}

} // namespace

Cycles pooling(const TileSpec &tile, const PoolShare &share) {
  constexpr Cycles unpack = 2; // as the pooling planner assumes
  const bool isBackward = share.pass == PoolPass::Backward;
  const auto vectors = ceilDiv(share.channels, vectorWidth(tile, share.type));
  const auto outputs = share.rows * share.rowLength;
  const Cycles init = perWorker(tile, outputs * vectors);
  const auto n = share.rowLength;
  const Cycles loop = isBackward                        ? 7 + 5 * n
                      : share.pass == PoolPass::Average ? 5 + 3 * n
                                                        : 4 + 3 * n;
  const auto groups = share.channelGroups;
  const Cycles item =
      23 + 4 * (groups - 1) +
      groups * ((isBackward ? 2 : 0) + 2 + vectors * (3 + loop));
  const Cycles worker =
      17 + unpack + (4 + init) * groups + 6 + unpack +
      (share.pass == PoolPass::Average ? 4 : 3) +
      (isBackward ? 6 + 2 * unpack : 0) + 6 + 2 * unpack +
      perWorker(tile, share.rows) * (15 + share.windowElements * item) + 1;
  return 13 + tile.workers * worker;
}

Cycles nonLinearity1D(const TileSpec &tile, std::string_view nonLinearity,
                      DataType type, std::uint64_t n) {
  const auto width = vectorWidth(tile, type);
  return 9 + tile.workers * forwardWorker(nonLinearity, type,
                                          perWorker(tile, n / width),
                                          n % width != 0);
}

Cycles nonLinearity2D(const TileSpec &tile, std::string_view nonLinearity,
                      DataType type, std::uint64_t regions, std::uint64_t n) {
  const auto width = vectorWidth(tile, type);
  return 5 + 9 +
         regions * (12 + forwardWorker(nonLinearity, type, n / width,
                                       n % width != 0));
}

Cycles nonLinearityGrad1D(const TileSpec &tile, std::string_view nonLinearity,
                          DataType type, std::uint64_t n) {
  const auto width = vectorWidth(tile, type);
  return 9 + tile.workers * gradientWorker(nonLinearity, type,
                                           perWorker(tile, n / width),
                                           n % width);
}

Cycles nonLinearityGrad2D(const TileSpec &tile, std::string_view nonLinearity,
                          DataType type, std::uint64_t regions,
                          std::uint64_t n) {
  const auto width = vectorWidth(tile, type);
  return 5 + 9 +
         regions *
             (12 + gradientWorker(nonLinearity, type, n / width, n % width));
}

Cycles lossSumSquared(DataType type, std::uint64_t n) {
  return 18 + 4 * (type == DataType::Half ? ceilDiv(n, 2) : n);
}

Cycles lossCrossEntropy(DataType type, std::uint64_t n) {
  return type == DataType::Half ? 19 + 9 * (n / 2) + (n % 2 != 0 ? 11 : 0)
                                : 19 + 9 * n;
}

Cycles calcAccuracy(std::uint64_t batch) {
  return 14 + 4 * batch;
}

Cycles inverseStdDeviation(std::uint64_t n) {
  return 6 + 4 + 5 * ceilDiv(n, 2);
}

Cycles normaliseImage(const TileSpec &tile, DataType inputType,
                      DataType outputType, std::uint64_t pixels) {
  const auto mine = perWorker(tile, pixels);
  if (support::sizeOf(inputType) == 1) {
    return tile.workers *
           (52 + (outputType == DataType::Half ? 11 : 17) * mine);
  }
  return tile.workers * (29 + 8 * mine);
}

Cycles ctcAlphaBeta(std::uint64_t timeSteps, std::uint64_t labels) {
  return 44 * timeSteps * labels;
}

Cycles ctcGradient(std::uint64_t timeSteps, std::uint64_t labels) {
  return 84 * timeSteps * labels;
}

} // namespace kernels::cost
