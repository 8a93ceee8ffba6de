#include <kernels/cost/Convolution.hpp>

namespace kernels::cost {

namespace {

bool isHalf(DataType type) {
  return type == DataType::Half;
}

// A block of few output channels leaves units idle.
unsigned usedUnits(const TileSpec &tile, const AmpShare &share) {
  return static_cast<unsigned>(std::min<std::uint64_t>(
      convUnits(tile, share.inputType, share.partialsType),
      share.outChansPerGroup));
}

// Cycles of the inner loop of the nx1 vertex for a row of `n` positions.
Cycles nx1Row(const AmpShare &share, unsigned units, std::uint64_t n) {
  const bool half = isHalf(share.inputType);
  const bool fullUnits =
      half && (isHalf(share.partialsType) ? units == 16 : units == 8);
  switch (n) {
  case 0:
    return 17;
  case 1:
    return half ? 29 : 33;
  case 2:
    return half ? 33 + (fullUnits ? 1 : 0) : 44;
  default:
    return half ? 34 + 4 * (n - 3) : 45 + 8 * (n - 3);
  }
}

// Cycles to load the units with coefficients.
Cycles loadCycles(const TileSpec &tile, const AmpShare &share, unsigned units,
                  std::uint64_t loadBytes) {
  return units * weightsPerConvUnit(tile, share.inputType) *
         support::sizeOf(share.inputType) / loadBytes;
}

// Quarters: a row, or a worker's range, of n positions.
Cycles quarterRow(std::uint64_t n) {
  constexpr Cycles few[] = {4, 18, 23};
  return n < 3 ? few[n] : 27 + 4 * (n - 3);
}

Cycles quarterNx1(const TileSpec &tile, const AmpShare &share, Cycles load,
                  std::uint64_t passes) {
  const auto worker =
      workerCycles(tile, share.rows, share.rowLength, 18,
                   [](std::uint64_t n) { return 16 + quarterRow(n); });
  const Cycles position =
      std::max(tile.workers * worker.most, tile.workers * worker.least + 9);
  const auto outer = ceilDiv(share.kernelHeight, share.kernelHeightPerPass);
  const Cycles inner =
      61 + outer * (33 + 103 + 86 * (share.kernelRest - 1) + 2 * load) +
      outer * share.kernelRest * position * passes;
  return 83 + share.convGroups * (37 + share.outChanGroups *
                                           (58 + share.inChanGroups * inner));
}

Cycles quarter1x1(const TileSpec &tile, const AmpShare &share, Cycles load) {
  const auto positions = share.rows * share.rowLength;
  const auto most = 17 + quarterRow(perWorker(tile, positions));
  const auto least = 17 + quarterRow(positions / tile.workers);
  const Cycles adding = std::max(tile.workers * std::max(most, least),
                                 tile.workers * std::min(most, least) + 14);
  const Cycles zeroing = adding - 5 * tile.workers;
  return 46 + share.convGroups *
                  (21 + share.outChanGroups *
                            (46 + 131 + load + zeroing +
                             (share.inChanGroups - 1) * (108 + load + adding)));
}

// How the 1x1 vertex's inner loop behaves.
enum class Loop1x1 { Common, HalfEightUnits, Float };

Loop1x1 loop1x1(const AmpShare &share, unsigned units) {
  if (!isHalf(share.inputType)) {
    return Loop1x1::Float;
  }
  return units == 16 || !isHalf(share.partialsType) ? Loop1x1::Common
                                                    : Loop1x1::HalfEightUnits;
}

// Cycles of a worker with `n` positions in the zeroing or accumulating pass.
Cycles worker1x1(Loop1x1 loop, unsigned units, std::uint64_t n,
                 bool isZeroing) {
  const Cycles more = n >= 3 ? n - 3 : 0;
  switch (loop) {
  case Loop1x1::Common: {
    constexpr Cycles zeroing[] = {21, 32, 41, 37};
    const auto index = std::min<std::uint64_t>(n, 3);
    return zeroing[index] + (isZeroing ? 0 : 1) + 4 * more - 7;
  }
  case Loop1x1::HalfEightUnits: {
    constexpr Cycles base[] = {24, 39, 40, 41};
    return base[std::min<std::uint64_t>(n, 3)] + 4 * more +
           (isZeroing ? 2 + 2 * n : 0);
  }
  case Loop1x1::Float: {
    constexpr Cycles base[] = {24, 47, 46, 46};
    return base[std::min<std::uint64_t>(n, 3)] + 8 * more +
           (isZeroing ? 2 + (units == 16 ? 8 : 4) * n : 0);
  }
  }
  return 0;
}

// Tile cycles of a pass: the slowest worker, or the fastest and its restart.
Cycles pass1x1(const TileSpec &tile, Loop1x1 loop, unsigned units,
               std::uint64_t positions, bool isZeroing) {
  const auto most =
      worker1x1(loop, units, ceilDiv(positions, tile.workers), isZeroing);
  const auto least =
      worker1x1(loop, units, positions / tile.workers, isZeroing);
  return std::max(tile.workers * std::max(most, least),
                  tile.workers * std::min(most, least) + 14);
}

} // namespace

unsigned convUnits(const TileSpec &tile, DataType inputType,
                   DataType partialsType) {
  if (inputType == DataType::Quarter) {
    return tile.fp8InFp16OutConvUnits;
  }
  if (!isHalf(inputType)) {
    return tile.fp32ConvUnits;
  }
  return isHalf(partialsType) ? tile.fp16InFp16OutConvUnits
                              : tile.fp16InFp32OutConvUnits;
}

unsigned weightsPerConvUnit(const TileSpec &tile, DataType inputType) {
  return tile.convUnitPipelineDepth *
         static_cast<unsigned>(vectorWidth(tile, inputType));
}

Cycles convPartialNx1(const TileSpec &tile, const AmpShare &share) {
  const auto units = usedUnits(tile, share);
  const auto passes = ceilDiv(share.outChansPerGroup, units);
  const auto height = share.kernelHeightPerPass;
  const auto outer = ceilDiv(share.kernelHeight, height);
  // A pass over several kernel rows can only load coefficients half as fast.
  const auto loadBytes = height == 4 && tile.convUnitCoeffLoadBytes == 16
                             ? std::uint64_t{8}
                             : std::uint64_t{tile.convUnitCoeffLoadBytes};
  const Cycles load = loadCycles(tile, share, units, loadBytes);
  if (share.inputType == DataType::Quarter) {
    return quarterNx1(tile, share, load, passes);
  }
  const Cycles set = height == 1   ? 15
                     : height == 2 ? 46
                     : height == 4 ? 60
                                   : 20 * height;

  const auto positions = share.rows * share.rowLength;
  const auto worker = workerCycles(
      tile, share.rows, share.rowLength,
      17 + (isHalf(share.partialsType) ? 1 : 0),
      [&](std::uint64_t n) { return nx1Row(share, units, n) - 6; });
  const Cycles perPosition =
      std::max(tile.workers * worker.most, tile.workers * worker.least + 9);
  const Cycles inner =
      outer * (14 + share.kernelRest * (12 + passes * (load + set + 3))) +
      outer * share.kernelRest * perPosition * passes;

  const auto zeroedPerWorker =
      perWorker(tile, positions * share.outChansPerGroup);
  const auto groups = share.convGroups;
  const Cycles zero =
      tile.workers * groups * share.outChanGroups *
      (ceilDiv(zeroedPerWorker, vectorWidth(tile, share.partialsType)) + 5);
  return 109 + tile.workers * 9 +
         tile.workers * (isHalf(share.partialsType) ? 10 : 9) +
         groups * (23 * share.outChanGroups - 5) + 6 * groups - 5 +
         groups * (16 + share.inChanGroups *
                            (14 + share.outChanGroups * (14 + inner))) +
         zero;
}

Cycles convPartial1x1Out(const TileSpec &tile, const AmpShare &share) {
  const auto units = usedUnits(tile, share);
  const auto loop = loop1x1(share, units);
  const auto passes = ceilDiv(share.outChansPerGroup, units);
  const Cycles load =
      loadCycles(tile, share, units, tile.convUnitCoeffLoadBytes);
  if (share.inputType == DataType::Quarter) {
    return quarter1x1(tile, share, load);
  }
  const auto positions = share.rows * share.rowLength;
  const Cycles zeroing = pass1x1(tile, loop, units, positions, true);
  const Cycles adding = pass1x1(tile, loop, units, positions, false);
  const bool isCommon = loop == Loop1x1::Common;
  const Cycles first = isCommon ? 7 : 0;
  const Cycles others = isCommon ? 3 : 0;
  const Cycles saved = isCommon ? 1 : 0;
  const auto groups = share.convGroups;
  const auto outs = share.outChanGroups;
  return 50 +
         tile.workers * (first + others * (share.inChanGroups * groups - 1)) +
         groups *
             (12 + saved +
              (share.inChanGroups - 1) *
                  (16 - saved + outs * (19 + passes * (6 + load + adding))) +
              11 + outs * (19 - saved + passes * (7 + load + zeroing)));
}

} // namespace kernels::cost
