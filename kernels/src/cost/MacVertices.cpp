// The convolution vertices that are not AMP: SLIC, horizontal and vertical
// multiply-accumulate, outer product.
#include <kernels/cost/Convolution.hpp>

namespace kernels::cost {

namespace {

bool isHalf(DataType type) {
  return type == DataType::Half;
}

// What the formulas of SLIC branch on.
struct SlicForm {
  bool isHalfOnTwoChains; // "h8"
  bool isFloatPartials;
  bool hasManyGroups;
  unsigned stride;
  Cycles passes;
};

SlicForm slicForm(const TileSpec &tile, const SlicShare &share) {
  const bool isFloat = !isHalf(share.partialsType);
  const bool hasFourChains =
      convUnits(tile, share.inputType, share.partialsType) >= 16;
  return {!isFloat && !hasFourChains, isFloat, share.convGroupsPerGroup > 4,
          share.stride, Cycles{hasFourChains ? 1u : 2u}};
}

Cycles slicRow(const SlicForm &form, bool isZeroing, std::uint64_t n) {
  const Cycles saved = form.isFloatPartials ? 1 : 0;
  if (form.stride == 2) {
    return (n == 1 ? 13 : n == 2 ? 15 : 15 + 2 * (n - 3)) - saved;
  }
  if (n < (form.isHalfOnTwoChains ? 6u : 5u)) {
    const Cycles zeroing = 13 + (n > 1 ? n : 0);
    const Cycles adding = n == 1 ? 13 : n + 17;
    return (isZeroing ? zeroing : adding) - saved;
  }
  return 15 + (n - 5) + (form.isHalfOnTwoChains && !isZeroing ? 3 : 0) - saved;
}

Cycles slicPass(const TileSpec &tile, const SlicShare &share,
                const SlicForm &form, bool isZeroing) {
  const Cycles row = (form.isHalfOnTwoChains ? 9 : 10) + (isZeroing ? 1 : 0) +
                     (form.isFloatPartials ? 3 : 0);
  const Cycles call =
      17 + (form.hasManyGroups ? 4 : 0) + (form.isHalfOnTwoChains ? 2 : 0);
  const auto worker = workerCycles(
      tile, share.rows, share.rowLength, call, [&](std::uint64_t n) {
        return row + form.passes * slicRow(form, isZeroing, n);
      });
  const Cycles clearing = form.isHalfOnTwoChains && isZeroing
                              ? 2 + 2 * share.rows * share.rowLength
                              : 0;
  return tile.workers * worker.most + clearing;
}

Cycles slicWeightLoad(const SlicShare &share) {
  if (share.inputType == DataType::Quarter) {
    return 38;
  }
  if (share.chansPerGroup == 4) {
    return 18 + 16;
  }
  const Cycles shuffle = share.convGroupsPerGroup == 2  ? 12
                         : share.convGroupsPerGroup > 4 ? 11
                                                        : 10;
  return 9 + 6 + 6 * shuffle + 6 + 16;
}

Cycles slicQuarterRow(unsigned stride, bool isZeroing, std::uint64_t n) {
  if (stride == 2) {
    return n < 3 ? 6 + (n == 1 ? 3 : 6) : 13 + 2 * (n - 3);
  }
  constexpr Cycles zeroing[] = {0, 3, 5, 9, 10};
  constexpr Cycles adding[] = {0, 8, 10, 13, 13};
  if (isZeroing) {
    return n < 5 ? 8 + zeroing[n] : 14 + (n - 5);
  }
  return 18 + (n < 5 ? 2 + adding[n] : 12 + (n - 5));
}

Cycles slicQuarter(const TileSpec &tile, const SlicShare &share, Cycles load) {
  const auto pass = [&](bool isZeroing) {
    return tile.workers *
           workerCycles(tile, share.rows, share.rowLength, 20,
                        [&](std::uint64_t n) {
                          return 24 +
                                 2 * slicQuarterRow(share.stride, isZeroing, n);
                        })
               .most;
  };
  return 43 + share.convGroupGroups *
                  (93 + (36 + load + 48 + pass(true)) +
                   (share.subKernels - 1) * (36 + load + 38 + pass(false)));
}

// A dot product over `length` input channels.
Cycles dotProduct(const TileSpec &tile, const HmacShare &share) {
  const bool half = isHalf(share.inputType);
  const bool halfOut = half && isHalf(share.partialsType);
  const auto width = vectorWidth(tile, share.inputType);
  auto vector = width; // the widest loads that the channel count allows
  while (share.inChansPerGroup % vector != 0) {
    vector /= 2;
  }
  const Cycles stores = halfOut ? 2 : 1;
  return 3 * stores + 4 + (halfOut ? 1 : 0) +
         ceilDiv(share.inChansPerGroup, vector) * (vector >= width ? 1 : 2) -
         (half ? 1 : 0) + (vector < width ? stores : 0);
}

} // namespace

Cycles convPartialSlic(const TileSpec &tile, const SlicShare &share) {
  const Cycles load = slicWeightLoad(share);
  if (share.inputType == DataType::Quarter) {
    return slicQuarter(tile, share, load);
  }
  const auto form = slicForm(tile, share);
  const bool isH8 = form.isHalfOnTwoChains;
  const auto groups = share.convGroupGroups;
  const auto kernels = share.subKernels;
  const Cycles body = (isH8 ? 12 : 15) + (form.hasManyGroups ? 8 : 0);
  Cycles sub = load + (isH8 ? 16 : 20);
  Cycles adding = slicPass(tile, share, form, false);
  if (form.hasManyGroups) {
    const Cycles quads = share.convGroupsPerGroup / 4;
    sub = quads * (load + 21) + 6 * (quads - 1) + 1 + 15;
    adding *= quads;
  }
  return (isH8 ? 25 : 28) + groups * body + (6 * (groups - 1) + 1) +
         kernels * sub + (6 * (kernels - 1) + 1) +
         groups * (slicPass(tile, share, form, true) + (kernels - 1) * adding);
}

Cycles convPartialHorizontalMac(const TileSpec &tile, const HmacShare &share) {
  const bool half = isHalf(share.inputType);
  const auto dot = dotProduct(tile, share);
  const auto outChans = half && isHalf(share.partialsType)
                            ? ceilDiv(share.outChansPerGroup, 2)
                            : share.outChansPerGroup;
  const bool is1x1 = share.kernelElements == 1;
  const Cycles save = is1x1 ? 15 : half ? 6 : 0;
  const auto row = [&](std::uint64_t n) {
    if (!is1x1) {
      return 19 + n * (7 + outChans * dot);
    }
    return 13 + (outChans == 1 ? n * (2 + dot) + 1 : n * (7 + outChans * dot));
  };
  const auto worker = workerCycles(tile, share.rows, share.rowLength,
                                   16 - save + (is1x1 ? 16 : 0), row);
  const Cycles inner = share.kernelElements * tile.workers * worker.most;
  const auto zeroed =
      perWorker(tile, share.rows * share.rowLength * share.outChansPerGroup);
  const Cycles zero =
      tile.workers * share.convGroups * share.outChanGroups *
      (ceilDiv(zeroed, vectorWidth(tile, share.partialsType)) + 5);
  return (half ? 65 : 58) - (is1x1 ? 10 : 0) + tile.workers * save +
         share.convGroups *
             (23 +
              share.inChanGroups * (15 + share.outChanGroups * (10 + inner))) +
         zero;
}

Cycles convPartialVerticalMac(const TileSpec &tile, const VmacShare &share) {
  const bool isFloat = !isHalf(share.partialsType);
  const auto groups = share.convGroupsPerGroup;
  const auto outputs = share.rows * share.rowLength * groups;
  // Workers take different rows of different kernel elements, each with
  // partial sums of its own.
  const auto pieces = perWorker(tile, share.rows * share.kernelElements);
  const auto n = share.rowLength;
  Cycles worker = 0;
  if (groups >= 8 && !isFloat) {
    worker = (groups == 16 ? 25 : 13) +
             pieces * (22 + 3 + 3 * (n - 1)) * (groups / 8);
  } else {
    worker = (isFloat ? 19 : 18) +
             pieces * (groups / 4) * (7 + (isFloat ? 5 : 3) + 3 + 2 * (n - 1));
  }
  const Cycles zero = 4 + ceilDiv(outputs, isFloat ? 2 : 4);
  const Cycles reduction =
      10 + (7 + (isFloat ? 2 : 0) + (isFloat ? 2 : 1) * 5) *
               perWorker(tile, outputs) / groups;
  return 100 + (isFloat ? 1 : 0) +
         (zero + 32 + share.inChanGroups * (24 + tile.workers * worker) +
          reduction) *
             share.convGroupGroups;
}

Cycles outerProduct(const TileSpec &tile, DataType type, std::uint64_t width,
                    std::uint64_t chanGroups, std::uint64_t chansPerGroup) {
  const auto mine = perWorker(tile, width);
  const auto chans = chansPerGroup;
  Cycles row = 0;
  if (isHalf(type)) {
    row = chans % 4 == 0 && chans >= 12 ? 6 + (chans - 12) / 4
                                        : 10 + ceilDiv(5 * chans, 2);
  } else {
    row = chans % 2 == 0 && chans >= 6 ? 6 + (chans - 6) / 2 : 10 + 2 * chans;
  }
  return tile.workers *
         (25 + chanGroups * ((isHalf(type) ? 10 : 11) + mine * row));
}

} // namespace kernels::cost
