#include <poplar/Target.hpp>

#include "Architecture.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

namespace poplar {

using internal::TargetData;
using internal::TargetKind;

namespace {

// Everything that makes two targets different machines to a compiled program.
auto identity(const TargetData &data) {
  return std::tie(data.kind, data.arch, data.numIPUs, data.tilesPerIPU,
                  data.workerContexts, data.clockHz, data.bytesPerTile,
                  data.exchangeBytesPerCycle, data.memcpyBytesPerCycle,
                  data.minSyncDelay, data.hasRelativeSyncDelay,
                  data.globalSyncCycles);
}

} // namespace

const TargetData &Target::data() const {
  return internal::targetData(*this);
}

Target Target::createCPUTarget(bool, unsigned numIPUs) {
  TargetData data;
  data.kind = TargetKind::Cpu;
  data.arch = "cpu";
  data.numIPUs = numIPUs;
  data.tilesPerIPU = 1;
  data.workerContexts = 1;
  data.bytesPerTile = std::numeric_limits<std::uint64_t>::max();
  return internal::makeTarget(std::move(data));
}

Target Target::createIPUTarget(unsigned numIPUs, StringRef systemOrArch,
                               const OptionFlags &options) {
  internal::checkTargetOptions(options);
  TargetData data = internal::architectureData(systemOrArch.cloneAsString());
  data.kind = TargetKind::Ipu;
  data.numIPUs = numIPUs;
  return internal::makeTarget(std::move(data));
}

Target Target::createIPUTarget(unsigned numIPUs, unsigned tilesPerIPU,
                               StringRef systemOrArch,
                               const OptionFlags &options) {
  return createIPUTarget(numIPUs, systemOrArch, options)
      .createVirtualTarget(numIPUs, tilesPerIPU);
}

Target Target::createVirtualTarget(unsigned numIPUs,
                                   unsigned tilesPerIPU) const {
  TargetData reduced = data();
  support::requireUser<poplar_error>(
      numIPUs > 0 && numIPUs <= reduced.numIPUs && tilesPerIPU > 0 &&
          tilesPerIPU <= reduced.tilesPerIPU,
      "[poplar::Target::createVirtualTarget] {} IPUs of {} tiles given; the "
      "target has {} of {}",
      numIPUs, tilesPerIPU, reduced.numIPUs, reduced.tilesPerIPU);
  reduced.numIPUs = numIPUs;
  reduced.tilesPerIPU = tilesPerIPU;
  return internal::makeTarget(std::move(reduced));
}

TargetType Target::getTargetType() const {
  switch (data().kind) {
  case TargetKind::Ipu:
    return TargetType::IPU;
  case TargetKind::IpuModel:
    return TargetType::IPU_MODEL;
  case TargetKind::Cpu:
    break;
  }
  return TargetType::CPU;
}

StringRef Target::getTargetArchString() const {
  return data().arch;
}
unsigned Target::getNumIPUs() const {
  return data().numIPUs;
}
unsigned Target::getTilesPerIPU() const {
  return data().tilesPerIPU;
}
unsigned Target::getNumTiles() const {
  return data().numTiles();
}
unsigned Target::getNumWorkerContexts() const {
  return data().workerContexts;
}

unsigned Target::getBytesPerTile() const {
  // A CPU has no limit; the largest number stands for that.
  return static_cast<unsigned>(std::min<std::uint64_t>(
      data().bytesPerTile, std::numeric_limits<unsigned>::max()));
}

std::uint64_t Target::getMemoryBytes() const {
  return std::uint64_t(getBytesPerTile()) * getNumTiles();
}

double Target::getTileClockFrequency() const {
  return data().clockHz;
}

unsigned Target::getExchangeBytesPerCycle() const {
  return static_cast<unsigned>(data().exchangeBytesPerCycle);
}
unsigned Target::getMemcpyBytesPerCycle() const {
  return static_cast<unsigned>(data().memcpyBytesPerCycle);
}
unsigned Target::getMinIPUSyncDelay() const {
  return data().minSyncDelay;
}
unsigned Target::getMaxIPUSyncDelay() const {
  return data().hasRelativeSyncDelay ? data().maxSyncDelay
                                     : data().minSyncDelay;
}
unsigned Target::getGlobalSyncCycles() const {
  return data().globalSyncCycles;
}
unsigned Target::getTilesPerSharedExchangeBus() const {
  return data().tilesPerSharedBus;
}
bool Target::supportsExchangeBusSharing() const {
  return data().tilesPerSharedBus > 1;
}

unsigned Target::getTypeSize(const Type &type) const {
  return static_cast<unsigned>(support::sizeOf(internal::toDataType(type)));
}

unsigned Target::getVectorWidth(const Type &type) const {
  // Only the floating point units are vector units: 64 bits of elements.
  return type.isFloatingPoint() ? getDataPathWidth() / 8 / getTypeSize(type)
                                : 1;
}
unsigned Target::getFloatVectorWidth() const {
  return getVectorWidth(FLOAT);
}
unsigned Target::getHalfVectorWidth() const {
  return getVectorWidth(HALF);
}
unsigned Target::getQuarterVectorWidth() const {
  return getVectorWidth(QUARTER);
}
unsigned Target::getDataPathWidth() const {
  return data().dataPathBits;
}
unsigned Target::getAtomicStoreGranularity() const {
  return data().atomicStoreBytes;
}
unsigned Target::getNumStrideBits() const {
  return data().strideBits;
}
unsigned Target::getRptCountMax() const {
  return data().rptCountMax;
}

std::vector<std::size_t> Target::getMemoryElementOffsets() const {
  return {data().memoryElementOffsets.begin(),
          data().memoryElementOffsets.end()};
}
unsigned Target::getInterleavedMemoryElementIndex() const {
  return data().interleavedElementIndex;
}

unsigned Target::getFp16InFp16OutConvUnitsPerTile() const {
  return data().fp16InFp16OutConvUnits;
}
unsigned Target::getFp16InFp32OutConvUnitsPerTile() const {
  return data().fp16InFp32OutConvUnits;
}
unsigned Target::getFp32InFp32OutConvUnitsPerTile() const {
  return data().fp32ConvUnits;
}
unsigned Target::getFp16ConvUnitMaxPipelineDepth() const {
  return data().convUnitPipelineDepth;
}
unsigned Target::getFp32ConvUnitMaxPipelineDepth() const {
  return data().convUnitPipelineDepth;
}
unsigned Target::getConvUnitCoeffLoadBytesPerCycle() const {
  return data().convUnitCoeffLoadBytes;
}

std::size_t Target::hash() const {
  const TargetData &d = data();
  std::size_t result = std::hash<std::string>()(d.arch);
  for (std::uint64_t value :
       {std::uint64_t(d.kind), std::uint64_t(d.numIPUs),
        std::uint64_t(d.tilesPerIPU), std::uint64_t(d.clockHz)}) {
    result = result * 1000003 + value; // any odd multiplier mixes enough here
  }
  return result;
}

bool Target::isSame(const Target &other) const {
  if (data_ == nullptr || other.data_ == nullptr) {
    return data_ == other.data_;
  }
  return identity(*data_) == identity(*other.data_);
}

bool Target::isLess(const Target &other) const {
  return identity(data()) < identity(other.data());
}

} // namespace poplar
