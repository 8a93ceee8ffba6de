#include <kernels/cost/Convolution.hpp>

namespace kernels::cost {

namespace {

bool isHalf(DataType type) {
  return type == DataType::Half;
}

// Cycles of the inner loop of the nx1 vertex for a row of `n` positions.
Cycles nx1Row(const TileSpec &tile, const AmpShare &share, std::uint64_t n) {
  const bool half = isHalf(share.inputType);
  const auto units = convUnits(tile, share.inputType, share.partialsType);
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

// Worker cycles of one kernel position for a worker with `positions` of them,
// in rows of at most `rowLength`.
Cycles nx1Worker(const TileSpec &tile, const AmpShare &share,
                 std::uint64_t positions) {
  Cycles cycles = 17 + (isHalf(share.partialsType) ? 1 : 0);
  const auto fullRows = positions / share.rowLength;
  const auto rest = positions % share.rowLength;
  cycles += fullRows * (3 + nx1Row(tile, share, share.rowLength) - 9);
  if (rest != 0) {
    cycles += 3 + nx1Row(tile, share, rest) - 9;
  }
  return cycles;
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
  const auto units = convUnits(tile, share.inputType, share.partialsType);
  const auto passes = ceilDiv(share.outChansPerGroup, units);
  const auto height = share.kernelHeightPerPass;
  const auto outer = ceilDiv(share.kernelHeight, height);
  // A pass over several kernel rows can only load coefficients half as fast.
  const auto loadBytes = height == 4 && tile.convUnitCoeffLoadBytes == 16
                             ? std::uint64_t{8}
                             : std::uint64_t{tile.convUnitCoeffLoadBytes};
  const Cycles load = units * weightsPerConvUnit(tile, share.inputType) *
                      support::sizeOf(share.inputType) / loadBytes;
  const Cycles set = height == 1   ? 15
                     : height == 2 ? 46
                     : height == 4 ? 60
                                   : 20 * height;

  const auto positions = share.rows * share.rowLength;
  const auto most = nx1Worker(tile, share, ceilDiv(positions, tile.workers));
  const auto least = positions < tile.workers
                         ? 0
                         : nx1Worker(tile, share, positions / tile.workers);
  const Cycles perPosition =
      std::max(tile.workers * most, tile.workers * least + 9);
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
  const auto units = convUnits(tile, share.inputType, share.partialsType);
  const auto loop = loop1x1(share, units);
  const auto passes = ceilDiv(share.outChansPerGroup, units);
  const Cycles load = units * weightsPerConvUnit(tile, share.inputType) *
                      support::sizeOf(share.inputType) /
                      tile.convUnitCoeffLoadBytes;
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

Cycles convPartialHorizontalMac(const TileSpec &tile, const HmacShare &share) {
  const bool half = isHalf(share.inputType);
  const bool halfOut = half && isHalf(share.partialsType);
  const auto width = vectorWidth(tile, share.inputType);
  // The widest loads that the channel count allows.
  auto vector = width;
  while (share.inChans % vector != 0) {
    vector /= 2;
  }
  const Cycles stores = halfOut ? 2 : 1;
  const Cycles dot =
      3 * stores + 4 + (halfOut ? 1 : 0) +
      ceilDiv(share.inChans, vector) * (vector >= width ? 1 : 2) -
      (half ? 1 : 0) + (vector < width ? stores : 0);
  const auto outChans = halfOut ? ceilDiv(share.outChans, 2) : share.outChans;
  const bool is1x1 = share.kernelElements == 1;
  const Cycles rowOverhead = is1x1 ? 13 : 19;
  const Cycles save = is1x1 ? 15 : half ? 6 : 0;
  const auto positions = share.rows * share.rowLength;
  const auto mine = perWorker(tile, positions);
  const auto rows = ceilDiv(mine, share.rowLength);
  const Cycles worker = 16 + rows * rowOverhead +
                        mine * ((is1x1 ? 2 : 7) + outChans * dot) -
                        std::min<Cycles>(save, 16);
  const Cycles inner =
      share.kernelElements * tile.workers * (worker + (is1x1 ? 16 : 0));
  const Cycles zero =
      tile.workers *
      (ceilDiv(mine * share.outChans, vectorWidth(tile, share.partialsType)) +
       5) *
      share.convGroups;
  return (half ? 65 : 58) - (is1x1 ? 10 : 0) + tile.workers * save +
         share.convGroups * (23 + 15 + 10 + inner) + zero;
}

} // namespace kernels::cost
