#include <kernels/cost/NeuralNet.hpp>

namespace kernels::cost {

namespace {

// Cycles of a vector in the loop, float then half.
struct VectorCycles {
  std::string_view name;
  Cycles asFloat;
  Cycles asHalf;

  Cycles of(DataType type) const {
    return type == DataType::Half ? asHalf : asFloat;
  }
};
constexpr VectorCycles forwardCycles[] = {{"GELU", 10, 5}, {"SWISH", 11, 5}};
constexpr VectorCycles gradientCycles[] = {
    {"RELU", 3, 3},  {"SIGMOID", 3, 3},    {"TANH", 3, 3},
    {"GELU", 10, 5}, {"GELU_ERF", 30, 15}, {"SWISH", 15, 9},
};

template <std::size_t N>
Cycles vectorCycles(const VectorCycles (&table)[N], std::string_view name,
                    DataType type, Cycles otherwise) {
  for (const auto &row : table) {
    if (row.name == name) {
      return row.of(type);
    }
  }
  return otherwise;
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
  const Cycles item = 23 + (isBackward ? 2 : 0) + 2 + vectors * (3 + loop);
  const Cycles worker =
      17 + unpack + (4 + init) + 6 + unpack +
      (share.pass == PoolPass::Average ? 4 : 3) +
      (isBackward ? 6 + 2 * unpack : 0) + 6 + 2 * unpack +
      perWorker(tile, share.rows) * (15 + share.windowElements * item) + 1;
  return 13 + tile.workers * worker;
}

Cycles nonLinearity1D(const TileSpec &tile, std::string_view nonLinearity,
                      DataType type, std::uint64_t n) {
  const Cycles op = vectorCycles(forwardCycles, nonLinearity, type, 10);
  const auto vectors = perWorker(tile, n / vectorWidth(tile, type));
  const Cycles loop = vectors > 0 ? 2 + op + (vectors - 1) * op + 1 + op : 0;
  const Cycles tail = n % vectorWidth(tile, type) != 0 ? 3 + 2 + op : Cycles{3};
  return 9 + tile.workers * (20 + 2 + loop + tail);
}

Cycles nonLinearityGrad1D(const TileSpec &tile, std::string_view nonLinearity,
                          DataType type, std::uint64_t n) {
  const Cycles op = vectorCycles(gradientCycles, nonLinearity, type, 10);
  const auto width = vectorWidth(tile, type);
  const auto vectors = perWorker(tile, n / width);
  const Cycles loop = vectors > 0 ? 5 + (vectors - 1) * op : 0;
  return 9 + tile.workers * (20 + loop + 4 + n % width * (op + 1));
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

Cycles encodeOneHot(DataType type, std::uint64_t indices) {
  return type == DataType::Half ? 11 + 74 * indices : 100 * indices;
}

Cycles reduceMaxClassGather(const TileSpec &tile, std::uint64_t n) {
  const auto share = std::max<std::uint64_t>(perWorker(tile, n), 1);
  return 9 + tile.workers * (30 + 3 * (share - 1));
}

} // namespace kernels::cost
