#include <poplar/Target.hpp>

#include "System.hpp"
#include "TargetOptions.hpp"
#include "graph/Handles.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <algorithm>
#include <limits>

namespace poplar {

using internal::TargetData;
using internal::TargetKind;

namespace {

constexpr support::Logger logger(support::LogChannel::Poplar, "TARGET");

// Every program makes a target before anything that logs, so that this is where
// a level that does not exist comes up, as an error of Poplar.
void checkLogSettings() {
  try {
    logger.isEnabled(support::LogLevel::Err);
  } catch (const std::exception &error) {
    throw poplar_error(error.what());
  }
}

} // namespace

const TargetData &internal::targetData(const Target &target) {
  support::requireUser<poplar_error>(
      Access::data(target) != nullptr,
      "[poplar::Target] the target is default-constructed; take one from a "
      "Device");
  return *Access::data(target);
}

Target internal::makeTarget(TargetData data) {
  checkLogSettings();
  logger.debug("target: {} {} of {}, {} tiles each at {:.0f} MHz", data.numIPUs,
               data.numIPUs == 1 ? "IPU" : "IPUs",
               data.system.empty() ? data.arch : data.system, data.tilesPerIPU,
               data.clockHz / 1e6);
  return Access::makeTarget(
      std::make_shared<const TargetData>(std::move(data)));
}

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

Target Target::createIPUTarget(StringRef system, const OptionFlags &options) {
  TargetData data = internal::findSystem(system.cloneAsString()).target;
  internal::applyTargetOptions(options, data);
  return internal::makeTarget(std::move(data));
}

Target Target::createIPUTarget(unsigned numIPUs, StringRef systemOrArch,
                               const OptionFlags &options) {
  TargetData data = internal::findSystem(systemOrArch.cloneAsString()).target;
  internal::applyTargetOptions(options, data);
  support::requireUser<poplar_error>(
      numIPUs > 0 && (data.system.empty() || numIPUs <= data.numIPUs),
      "[poplar::Target::createIPUTarget] {} IPUs given; allowed: 1 to {}",
      numIPUs,
      data.system.empty() ? "any number"
                          : fmt::format("{} in {}", data.numIPUs, data.system));
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

StringRef Target::getTargetSystemString() const {
  return data().system.empty() ? data().arch : data().system;
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
  return getConvUnitMaxPipelineDepth(HALF);
}
unsigned Target::getFp32ConvUnitMaxPipelineDepth() const {
  return getConvUnitMaxPipelineDepth(FLOAT);
}
unsigned Target::getFp16ConvUnitInputLoadElemsPerCycle() const {
  return getConvUnitInputLoadElemsPerCycle(HALF);
}
unsigned Target::getFp32ConvUnitInputLoadElemsPerCycle() const {
  return getConvUnitInputLoadElemsPerCycle(FLOAT);
}

unsigned Target::getNumConvUnits(const Type &activationType,
                                 const Type &partialsType) const {
  if (activationType == HALF && partialsType == HALF) {
    return data().fp16InFp16OutConvUnits;
  }
  if (activationType == HALF && partialsType == FLOAT) {
    return data().fp16InFp32OutConvUnits;
  }
  if (activationType == FLOAT && partialsType == FLOAT) {
    return data().fp32ConvUnits;
  }
  if (activationType == QUARTER && partialsType == HALF) {
    return data().quarterConvUnits;
  }
  return 0;
}

unsigned Target::getWeightsPerConvUnit(const Type &activationType) const {
  return data().convUnitPipelineDepth *
         getConvUnitInputLoadElemsPerCycle(activationType);
}
unsigned
Target::getConvUnitInputLoadElemsPerCycle(const Type &activationType) const {
  return getVectorWidth(activationType);
}
unsigned Target::getConvUnitMaxPipelineDepth(const Type &) const {
  return data().convUnitPipelineDepth;
}
unsigned Target::getConvUnitCoeffLoadBytesPerCycle() const {
  return data().convUnitCoeffLoadBytes;
}

unsigned Target::getNumTilesPerXBContext() const {
  return data().tilesPerXbContext;
}
unsigned Target::getNumContextsPerXB() const {
  return data().contextsPerXb;
}
unsigned Target::getTileHostExchangeXB(unsigned tile) const {
  support::requireUser<poplar_error>(
      tile < getNumTiles(),
      "[poplar::Target::getTileHostExchangeXB] tile {} given; the target has "
      "{} tiles",
      tile, getNumTiles());
  return tile % getTilesPerIPU() /
         (data().tilesPerXbContext * data().contextsPerXb);
}

IpuLinkConfiguration Target::getIpuLinkConfiguration() const {
  return data().ipuLinkConfiguration;
}
IpuLinkTopology Target::getIpuLinkTopology() const {
  return data().ipuLinkTopology;
}
unsigned Target::getIpuLinkDomainSize() const {
  return data().ipuLinkDomainSize;
}
unsigned Target::getInstanceSize() const {
  return data().instanceSize == 0 ? data().numIPUs : data().instanceSize;
}
bool Target::getGatewayMode() const {
  return data().hasGateway;
}

unsigned Target::makeFpIctlValue(bool inv, bool div0, bool oflo, bool esr,
                                 bool nanoo) const {
  unsigned value = 0;
  for (bool bit : {nanoo, esr, oflo, div0, inv}) { // inv is bit 0
    value = value << 1 | unsigned(bit);
  }
  return value;
}
unsigned Target::getFpIctlRegIndex() const {
  return data().fpIctlRegister;
}
unsigned Target::getDbgDataRegIndex() const {
  return data().dbgDataRegister;
}

} // namespace poplar
