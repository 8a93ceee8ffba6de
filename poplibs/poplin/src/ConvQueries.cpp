// What is known of a convolution without a graph: operations, perfect cycles,
// options.
#include <poplin/Convolution.hpp>

#include <poplin/internal/ConvOptions.hpp>

#include <poplar/Target.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poplin {

using poplar::Graph;
using poplar::OptionFlags;

namespace {

// Pairs of an output and a kernel element that meet an element of the input.
std::uint64_t meetings(const ConvParams &canonical, unsigned dim) {
  const auto &in = canonical.inputTransform;
  const auto size =
      static_cast<std::int64_t>(canonical.getTruncatedInputSize(dim));
  const std::int64_t lower =
      in.flip[dim] ? in.paddingUpper[dim] : in.paddingLower[dim];
  const std::int64_t dilation = in.dilation[dim];
  const auto &out = canonical.outputTransform;
  const auto outputs = canonical.getOutputSize(dim) - out.paddingLower[dim] -
                       out.paddingUpper[dim];
  std::uint64_t count = 0;
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t k = 0; k < canonical.getTruncatedKernelSize(dim); ++k) {
      const auto at = static_cast<std::int64_t>(
                          o * out.stride[dim] +
                          k * canonical.kernelTransform.dilation[dim]) -
                      lower;
      count += at >= 0 && at % dilation == 0 && at / dilation < size;
    }
  }
  return count;
}

std::uint64_t products(const ConvParams &params) {
  const auto canonical = params.canonicalize();
  std::uint64_t count = params.batchSize * params.numConvGroups *
                        params.inputChannelsPerConvGroup *
                        params.outputChannelsPerConvGroup;
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    count *= meetings(canonical, dim);
  }
  return count;
}

double perfectCycles(const Graph &graph, const ConvParams &params) {
  const auto &target = graph.getTarget();
  const auto partialsType =
      params.inputType == poplar::HALF ? params.outputType : poplar::FLOAT;
  const auto perTile =
      target.getNumConvUnits(params.inputType, partialsType) *
      target.getConvUnitInputLoadElemsPerCycle(params.inputType);
  return static_cast<double>(products(params)) /
         (static_cast<double>(perTile) *
          static_cast<double>(target.getNumTiles()));
}

} // namespace

std::uint64_t getFwdFlops(const ConvParams &params) {
  return 2 * products(params);
}
// Each product of the forward pass is one of either gradient.
std::uint64_t getBwdFlops(const ConvParams &params) {
  return 2 * products(params);
}
std::uint64_t getWuFlops(const ConvParams &params) {
  return 2 * products(params);
}

double getFwdPerfectCycleCount(const Graph &graph, const ConvParams &params) {
  return perfectCycles(graph, params);
}
double getBwdPerfectCycleCount(const Graph &graph, const ConvParams &params) {
  return perfectCycles(graph, params);
}
double getWuPerfectCycleCount(const Graph &graph, const ConvParams &params) {
  return perfectCycles(graph, params);
}

void convolutionValidateOptions(const OptionFlags &options) {
  internal::parseConvOptions(options);
}

} // namespace poplin
