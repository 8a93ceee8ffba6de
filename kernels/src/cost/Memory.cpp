#include <kernels/cost/Memory.hpp>

#include <cmath>

namespace kernels::cost {

namespace {

struct CodeSize {
  std::string_view prefix;
  std::uint32_t bytes;
};

// Supervisor part plus the middle of the published range of the worker part. A
// longer prefix comes before a shorter one that it starts with.
constexpr CodeSize codeSizes[] = {
    {"poplin::ConvPartialnx1", 2300 + 740},
    {"poplin::ConvPartial1x1Out", 920 + 510},
    {"poplin::ConvPartialHorizontalMac", 780},
    {"poplin::ConvPartialVerticalMac", 470 + 680},
    {"poplin::ConvPartial1xNSLIC", 1300},
    {"poplin::ReduceAddSingleInput", 550},
    {"poplin::ReduceAdd", 1060},
    {"popops::StridedReduce", 1070},
    {"popops::ContinuousReduce", 440},
    {"popops::Reduce", 1600},
    {"popops::MultiSlice", 470 + 340},
    {"popops::MultiUpdateOp", 980},
    {"popops::DynamicSlice1D", 830},
    {"popops::Fill", 520},
    {"popops::Clamp", 600},
    {"popops::ScaledAdd2D", 460},
    {"popops::ScaledAdd", 1720},
    {"popops::BroadcastVectorInner", 860},
    {"popops::UnaryOp1D", 410},
    {"popops::UnaryOp2D", 490},
    {"popnn::NonLinearityGrad", 400},
    {"popnn::NonLinearity2D", 490},
    {"popnn::NonLinearity", 410},
    {"popnn::Pooling", 840},
    {"popnn::MaxPooling", 840},
    {"popnn::Loss", 580},
    {"poprand::Uniform", 460},
    {"poprand::Normal", 160},
    {"poprand::Bernoulli", 120},
    {"poprand::Dropout", 220},
    {"poprand::SetSeed", 70},
    {"poplar_rt::", 340},
};

// A compiled C++ codelet: 300 to 800 bytes for each operator and type.
constexpr std::uint32_t compiledCodelet = 550;

} // namespace

Cycles onTileCopy(std::uint64_t bytes, std::uint64_t alignment) {
  constexpr Cycles call = 288;
  if (alignment % 8 == 0) {
    return call + ceilDiv(bytes, 8);
  }
  return alignment % 4 == 0 ? call + ceilDiv(bytes, 4)
                            : call + 5 * ceilDiv(bytes, 2);
}

Cycles exchange(std::uint64_t bytes, double bytesPerCycle, unsigned sharing) {
  const auto sixteenths =
      static_cast<std::uint64_t>(std::lround(16 * bytesPerCycle * sharing));
  return ceilDiv(16 * bytes, std::max<std::uint64_t>(sixteenths, 1));
}

std::uint32_t codeBytes(std::string_view vertexType) {
  for (const auto &row : codeSizes) {
    if (vertexType.substr(0, row.prefix.size()) == row.prefix) {
      return row.bytes;
    }
  }
  return compiledCodelet;
}

} // namespace kernels::cost
