// The vertices that a convolution can be done with: their blocks of channels
// (section 7.4) and their cycles (8.6 to 8.9).
#include "ConvCandidate.hpp"

#include <kernels/cost/Convolution.hpp>

#include <algorithm>

namespace poplin::internal {

using kernels::cost::ceilDiv;

namespace {

bool isHalf(DataType type) {
  return type == DataType::Half;
}

bool isPlain(const Extents &extents) {
  return extents == Extents{1, 1};
}

void addAmp(const ConvProblem &problem, const PlanLimits &limits,
            std::vector<ConvGrouping> &groupings) {
  const auto units = kernels::cost::convUnits(limits.tile, problem.inputType,
                                              problem.partialsType);
  const auto weights =
      kernels::cost::weightsPerConvUnit(limits.tile, problem.inputType);
  std::vector<unsigned> outs{units};
  for (const unsigned out : {weights, 8u}) {
    const bool fills = out % units == 0 || (out < units && units % out == 0);
    if (fills && std::find(outs.begin(), outs.end(), out) == outs.end()) {
      outs.push_back(out);
    }
  }
  // Kernels 1x1 on a flat field have a vertex of their own.
  const bool is1x1 = problem.kernelElements() == 1 && problem.batch == 1 &&
                     problem.outField[0] == 1 && isPlain(problem.stride) &&
                     isPlain(problem.inputDilation);
  for (const auto out : outs) {
    if (is1x1) {
      groupings.push_back({ConvMethod::Amp1x1, 1, weights, out, 1});
    } else {
      groupings.push_back({ConvMethod::AmpNx1, 1, weights, out, 1});
    }
    // Few channels: a pass takes several kernel rows.
    for (const unsigned height : {2u, 4u}) {
      if (problem.inChans <= weights / height && problem.kernel[0] > 1) {
        groupings.push_back(
            {ConvMethod::AmpNx1, 1, weights / height, out, height});
      }
    }
  }
}

void addSlic(const ConvProblem &problem, const PlanLimits &limits,
             std::vector<ConvGrouping> &groupings) {
  if (!isHalf(problem.inputType) || problem.kernelElements() == 1 ||
      problem.stride[1] > 2 || !isPlain(problem.kernelDilation) ||
      !isPlain(problem.inputDilation)) {
    return;
  }
  const auto add = [&](unsigned groups, unsigned chans) {
    groupings.push_back({ConvMethod::Slic, groups, chans, chans, 1});
  };
  add(1, 4);
  if (problem.groups == 1) {
    return;
  }
  add(2, 2);
  add(4, 1);
  if (isHalf(problem.partialsType) &&
      limits.tile.fp16InFp16OutConvUnits >= 16) {
    add(8, 1);
    add(16, 1);
  }
}

void addMacs(const ConvProblem &problem, std::vector<ConvGrouping> &groupings) {
  const bool half = isHalf(problem.inputType);
  if (problem.inputType == DataType::Quarter) {
    return;
  }
  groupings.push_back({ConvMethod::HorizontalMac, 1, half ? 2u : 1u,
                       half && isHalf(problem.partialsType) ? 2u : 1u, 1});
  if (half && problem.groups > 1 && problem.inChans == 1 &&
      problem.outChans == 1) {
    for (const unsigned groups : {4u, 8u, 16u}) {
      groupings.push_back({ConvMethod::VerticalMac, groups, 1, 1, 1});
    }
  }
  if (problem.inChans == 1 && problem.batch == 1 &&
      problem.kernelElements() == 1 && isPlain(problem.stride) &&
      isPlain(problem.inputDilation)) {
    groupings.push_back({ConvMethod::OuterProduct, 1, 1, half ? 4u : 2u, 1});
  }
}

bool isAllowed(const ConvGrouping &grouping, const PlanConstraints &fixed) {
  const auto family = [](ConvMethod method) {
    return method == ConvMethod::Amp1x1 ? ConvMethod::AmpNx1 : method;
  };
  const auto agrees = [](const auto &wanted, auto value) {
    return !wanted || *wanted == value;
  };
  return (!fixed.method || family(*fixed.method) == family(grouping.method)) &&
         agrees(fixed.convGroupsPerGroup, grouping.convGroupsPerGroup) &&
         agrees(fixed.inChansPerGroup, grouping.inChansPerGroup) &&
         agrees(fixed.outChansPerGroup, grouping.outChansPerGroup);
}

// Output positions of a tile: rows of all its images, and their length.
struct TileField {
  std::uint64_t rows;
  std::uint64_t columns;
};

kernels::cost::AmpShare ampShare(const ConvCandidate &candidate,
                                 const ConvExtent &extent,
                                 const TileField &field) {
  const auto &problem = candidate.problem;
  const auto &grouping = candidate.grouping;
  return {.inputType = problem.inputType,
          .partialsType = problem.partialsType,
          .convGroups = extent.groupGroups,
          .inChanGroups = extent.inGroups,
          .outChanGroups = extent.outGroups,
          .outChansPerGroup = grouping.outChansPerGroup,
          .rows = field.rows,
          .rowLength = field.columns,
          .kernelHeightPerPass = grouping.kernelHeightPerPass,
          .kernelHeight = extent.kernelRows,
          .kernelRest = problem.kernel[1]};
}

kernels::cost::SlicShare slicShare(const ConvCandidate &candidate,
                                   const ConvExtent &extent,
                                   const TileField &field) {
  const auto &problem = candidate.problem;
  const auto &grouping = candidate.grouping;
  constexpr std::uint64_t window = 4;
  return {.inputType = problem.inputType,
          .partialsType = problem.partialsType,
          .convGroupsPerGroup = grouping.convGroupsPerGroup,
          .chansPerGroup = grouping.inChansPerGroup,
          .convGroupGroups = extent.groupGroups,
          .subKernels = extent.kernelRows * ceilDiv(problem.kernel[1], window),
          .rows = field.rows,
          .rowLength = field.columns,
          .stride = static_cast<unsigned>(problem.stride[1])};
}

kernels::cost::HmacShare hmacShare(const ConvCandidate &candidate,
                                   const ConvExtent &extent,
                                   const TileField &field) {
  const auto &problem = candidate.problem;
  const auto &grouping = candidate.grouping;
  // A dot product runs over all channels of the tile.
  return {.inputType = problem.inputType,
          .partialsType = problem.partialsType,
          .convGroups = extent.groupGroups,
          .outChanGroups = extent.outGroups,
          .inChansPerGroup = extent.inGroups * grouping.inChansPerGroup,
          .outChansPerGroup = grouping.outChansPerGroup,
          .rows = field.rows,
          .rowLength = field.columns,
          .kernelElements = extent.kernelRows * problem.kernel[1]};
}

kernels::cost::VmacShare vmacShare(const ConvCandidate &candidate,
                                   const ConvExtent &extent,
                                   const TileField &field) {
  const auto &problem = candidate.problem;
  return {.partialsType = problem.partialsType,
          .convGroupsPerGroup = candidate.grouping.convGroupsPerGroup,
          .convGroupGroups = extent.groupGroups,
          .inChanGroups = extent.inGroups,
          .rows = field.rows,
          .rowLength = field.columns,
          .kernelElements = extent.kernelRows * problem.kernel[1]};
}

} // namespace

std::string_view toString(ConvMethod method) {
  switch (method) {
  case ConvMethod::Amp1x1:
  case ConvMethod::AmpNx1:
    return "AMP";
  case ConvMethod::Slic:
    return "SLIC";
  case ConvMethod::HorizontalMac:
    return "HMAC";
  case ConvMethod::VerticalMac:
    return "VMAC";
  case ConvMethod::OuterProduct:
    return "OUTER_PRODUCT";
  }
  return "";
}

std::vector<ConvGrouping> groupingsOf(const ConvProblem &problem,
                                      const PlanLimits &limits) {
  std::vector<ConvGrouping> groupings;
  addAmp(problem, limits, groupings);
  addSlic(problem, limits, groupings);
  addMacs(problem, groupings);
  std::erase_if(groupings, [&](const ConvGrouping &grouping) {
    return !isAllowed(grouping, limits.constraints);
  });
  return groupings;
}

double ConvCandidate::peakRate(const PlanLimits &limits) const {
  const bool half = isHalf(problem.inputType);
  switch (grouping.method) {
  case ConvMethod::Amp1x1:
  case ConvMethod::AmpNx1: {
    // A position of all units takes a cycle for each load of 8 bytes.
    const double units =
        std::min(kernels::cost::convUnits(limits.tile, problem.inputType,
                                          problem.partialsType),
                 grouping.outChansPerGroup);
    const double loads = problem.inputType == DataType::Float ? 8.0 : 4.0;
    return units *
           kernels::cost::weightsPerConvUnit(limits.tile, problem.inputType) /
           loads;
  }
  case ConvMethod::Slic:
    return 4.0 * grouping.inChansPerGroup * grouping.outChansPerGroup *
           grouping.convGroupsPerGroup;
  case ConvMethod::HorizontalMac:
    return half ? 4 : 2;
  case ConvMethod::VerticalMac:
    return 3;
  case ConvMethod::OuterProduct:
    return half ? 4 : 2;
  }
  return 1;
}

std::uint64_t vertexCycles(const ConvCandidate &candidate,
                           const PlanLimits &limits, const ConvExtent &extent) {
  const auto &problem = candidate.problem;
  // Zeros between inputs leave work for some positions only.
  const TileField field{extent.batch *
                            ceilDiv(extent.rows, problem.inputDilation[0]),
                        ceilDiv(extent.columns, problem.inputDilation[1])};
  switch (candidate.grouping.method) {
  case ConvMethod::Amp1x1:
    return kernels::cost::convPartial1x1Out(limits.tile,
                                            ampShare(candidate, extent, field));
  case ConvMethod::AmpNx1:
    return kernels::cost::convPartialNx1(limits.tile,
                                         ampShare(candidate, extent, field));
  case ConvMethod::Slic:
    return kernels::cost::convPartialSlic(limits.tile,
                                          slicShare(candidate, extent, field));
  case ConvMethod::HorizontalMac:
    return kernels::cost::convPartialHorizontalMac(
        limits.tile, hmacShare(candidate, extent, field));
  case ConvMethod::VerticalMac:
    return kernels::cost::convPartialVerticalMac(
        limits.tile, vmacShare(candidate, extent, field));
  case ConvMethod::OuterProduct:
    return extent.groupGroups *
           kernels::cost::outerProduct(
               limits.tile, problem.inputType, field.rows * field.columns, 1,
               extent.outGroups * candidate.grouping.outChansPerGroup);
  }
  return 0;
}

} // namespace poplin::internal
