#include "Figures.hpp"

#include <array>
#include <type_traits>

namespace poplar::internal {
namespace {

using enum FigurePart;
using Data = TargetData;

constexpr std::string_view memoryElement = "memory element";

constexpr std::array<Figure, 41> table = {{
    {"tiles per IPU", Chip, "1", 1, 1e5, &Data::tilesPerIPU},
    {"worker contexts", Chip, "1", 1, 64, &Data::workerContexts},
    {"clock", Chip, "GHz", 1e-3, 100, &Data::clockHz},
    {"memory per tile", Chip, "KiB", 1, 0x1p20, &Data::bytesPerTile},
    {memoryElement, Chip, "KiB", 1, 0x1p20, nullptr},
    {"memory elements for code", Chip, "1", 1, 4096,
     &Data::interleavedElementIndex},
    {"store grain", Chip, "B", 1, 64, &Data::atomicStoreBytes},
    {"data path", Chip, "bit", 32, 4096, &Data::dataPathBits},
    {"stride", Chip, "bit", 1, 32, &Data::strideBits},
    {"repeat limit", Chip, "1", 1, 1e9, &Data::rptCountMax},
    {"copy rate", Chip, "B/cycle", 1, 4096, &Data::memcpyBytesPerCycle},
    {"AMP units FP16.16", Chip, "1", 1, 1024, &Data::fp16InFp16OutConvUnits},
    {"AMP units FP16.32", Chip, "1", 1, 1024, &Data::fp16InFp32OutConvUnits},
    {"AMP units FP32.32", Chip, "1", 1, 1024, &Data::fp32ConvUnits},
    {"AMP units FP8.16", Chip, "1", 0, 1024, &Data::quarterConvUnits},
    {"AMP pipeline depth", Chip, "1", 1, 64, &Data::convUnitPipelineDepth},
    {"AMP weight load", Chip, "B/cycle", 1, 4096,
     &Data::convUnitCoeffLoadBytes},
    {"exchange rate", Chip, "B/cycle", 1, 4096, &Data::exchangeBytesPerCycle},
    {"tiles per exchange bus", Chip, "1", 1, 64, &Data::tilesPerSharedBus},
    {"sync of nearest tile", Chip, "cycles", 0, 1e6, &Data::minSyncDelay},
    {"sync of furthest tile", Chip, "cycles", 0, 1e6, &Data::maxSyncDelay},
    {"global sync", Chip, "cycles", 0, 1e9, &Data::globalSyncCycles},
    {"tiles per host exchange context", Chip, "1", 1, 1e5,
     &Data::tilesPerXbContext},
    {"contexts per host exchange block", Chip, "1", 1, 1e5,
     &Data::contextsPerXb},
    {"FP control register", Chip, "1", 0, 255, &Data::fpIctlRegister},
    {"debug data register", Chip, "1", 0, 255, &Data::dbgDataRegister},
    {"host to IPU", Connection, "GB/s", 1e-3, 1e6,
     &Data::hostToDeviceBytesPerSecond},
    {"IPU to host", Connection, "GB/s", 1e-3, 1e6,
     &Data::deviceToHostBytesPerSecond},
    {"host latency", Connection, "us", 0, 1e6, &Data::hostLatencySeconds},
    {"streaming memory", Connection, "GiB", 0, 0x1p20,
     &Data::streamingBytesPerIPU},
    {"streaming rate", Connection, "GB/s", 1e-3, 1e6,
     &Data::streamingBytesPerSecond},
    {"streaming latency", Connection, "us", 0, 1e6,
     &Data::streamingLatencySeconds},
    {"IPU-Link rate", Connection, "GB/s", 1e-3, 1e6, &Data::linkBytesPerSecond},
    {"IPU-Links to partner", Connection, "1", 1, 1024,
     &Data::linksToPairPartner},
    {"IPU-Links along a rail", Connection, "1", 1, 1024, &Data::linksPerRail},
    {"IPU-Link hop", Connection, "ns", 0, 1e9, &Data::linkHopSeconds},
    {"IPU-Link domain", Connection, "1", 1, 4096, &Data::ipuLinkDomainSize},
    {"gateway rate", Connection, "GB/s", 1e-3, 1e6,
     &Data::gatewayBytesPerSecond},
    {"gateway hop", Connection, "us", 0, 1e6, &Data::gatewayHopSeconds},
    {"IPUs per machine", Connection, "1", 1, 4096, &Data::ipusPerMachine},
    {"IPUs", System, "1", 1, 4096, &Data::numIPUs},
}};

// Plain elements first, which may hold code, then interleaved pairs of them up
// to the end of the memory.
void setMemoryElements(std::uint64_t elementBytes, TargetData &data) {
  std::uint64_t offset = 0;
  data.memoryElementOffsets.clear();
  while (offset < data.bytesPerTile) {
    const bool isPlain =
        data.memoryElementOffsets.size() < data.interleavedElementIndex;
    data.memoryElementOffsets.push_back(offset);
    offset += isPlain ? elementBytes : 2 * elementBytes;
  }
}

} // namespace

std::span<const Figure> figures() {
  return table;
}

void setFigures(const FigureValues &values, TargetData &data) {
  for (const Figure &figure : table) {
    const auto found = values.find(figure.name);
    if (found == values.end()) {
      continue;
    }
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_null_pointer_v<decltype(member)>) {
            using Value = std::remove_reference_t<decltype(data.*member)>;
            data.*member = static_cast<Value>(found->second);
          }
        },
        figure.member);
  }
  setMemoryElements(
      static_cast<std::uint64_t>(values.find(memoryElement)->second), data);
}

} // namespace poplar::internal
