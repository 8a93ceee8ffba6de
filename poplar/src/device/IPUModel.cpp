#include <poplar/IPUModel.hpp>

#include "DeviceImpl.hpp"
#include "System.hpp"
#include "TargetOptions.hpp"
#include "graph/Handles.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <tuple>

namespace poplar {
namespace {

// One IPU of the version's chip.
internal::TargetData modelData(const std::string &version) {
  constexpr std::string_view prefix = "ipu:";
  const bool isFile = version.starts_with(prefix);
  support::requireUser<invalid_machine_model>(
      isFile || version == "ipu1" || version == "ipu2" || version == "ipu21",
      "[poplar::IPUModel] the version '{}' given; allowed: ipu1, ipu2 and "
      "ipu21, or ipu:<file> for the chip of a system file",
      version);
  internal::TargetData data =
      internal::findSystem(isFile ? version.substr(prefix.size()) : version)
          .target;
  data.kind = internal::TargetKind::IpuModel;
  data.numIPUs = 1;
  return data;
}

auto fields(const IPUModel &m) {
  return std::tie(m.IPUVersion, m.numIPUs, m.tilesPerIPU, m.relativeSyncDelay,
                  m.minIPUSyncDelay, m.globalSyncCycles, m.numWorkerContexts,
                  m.memoryBytesPerTile, m.tileClockFrequency,
                  m.exchangeBytesPerCycle, m.memcpyBytesPerCycle,
                  m.tilesPerSharedExchangeBus, m.dataPathWidth, m.numStrideBits,
                  m.interleavedMemoryElementIndex, m.memoryElementOffsets,
                  m.compileIPUCode);
}

} // namespace

IPUModel::IPUModel(const char *version)
    : IPUVersion(version), chip_(std::make_shared<const internal::TargetData>(
                               modelData(IPUVersion))) {
  const internal::TargetData &data = *chip_;
  numIPUs = data.numIPUs;
  tilesPerIPU = data.tilesPerIPU;
  relativeSyncDelay = RelativeSyncDelayType::AUTO;
  minIPUSyncDelay = data.minSyncDelay;
  globalSyncCycles = data.globalSyncCycles;
  numWorkerContexts = data.workerContexts;
  memoryBytesPerTile = static_cast<unsigned>(data.bytesPerTile);
  tileClockFrequency = data.clockHz;
  exchangeBytesPerCycle = static_cast<unsigned>(data.exchangeBytesPerCycle);
  memcpyBytesPerCycle = static_cast<unsigned>(data.memcpyBytesPerCycle);
  tilesPerSharedExchangeBus = data.tilesPerSharedBus;
  dataPathWidth = data.dataPathBits;
  numStrideBits = data.strideBits;
  interleavedMemoryElementIndex = data.interleavedElementIndex;
  memoryElementOffsets.assign(data.memoryElementOffsets.begin(),
                              data.memoryElementOffsets.end());
  compileIPUCode = false;
}

Device IPUModel::createDevice(OptionFlags options, bool,
                              unsigned deviceManagerId) const {
  support::requireUser<invalid_machine_model>(
      numIPUs > 0 && tilesPerIPU > 0 && numWorkerContexts > 0,
      "[poplar::IPUModel::createDevice] {} IPUs of {} tiles with {} workers "
      "given; at least 1 of each is needed",
      numIPUs, tilesPerIPU, numWorkerContexts);
  internal::TargetData data = *chip_;
  internal::applyTargetOptions(options, data);
  // The furthest tile waits this much longer than the nearest.
  unsigned extraDelay = data.maxSyncDelay - data.minSyncDelay;
  data.numIPUs = numIPUs;
  data.tilesPerIPU = tilesPerIPU;
  data.minSyncDelay = minIPUSyncDelay;
  data.maxSyncDelay = minIPUSyncDelay + extraDelay;
  data.hasRelativeSyncDelay = relativeSyncDelay == RelativeSyncDelayType::AUTO;
  data.globalSyncCycles = globalSyncCycles;
  data.workerContexts = numWorkerContexts;
  data.bytesPerTile = memoryBytesPerTile;
  data.clockHz = tileClockFrequency;
  data.exchangeBytesPerCycle = exchangeBytesPerCycle;
  data.memcpyBytesPerCycle = memcpyBytesPerCycle;
  data.tilesPerSharedBus = tilesPerSharedExchangeBus;
  data.dataPathBits = dataPathWidth;
  data.strideBits = numStrideBits;
  data.interleavedElementIndex = interleavedMemoryElementIndex;
  data.memoryElementOffsets.assign(memoryElementOffsets.begin(),
                                   memoryElementOffsets.end());
  unsigned id = deviceManagerId == UINT_MAX ? 0 : deviceManagerId;
  return internal::Access::makeDevice(std::make_unique<DeviceImpl>(
      DeviceImpl{internal::makeTarget(std::move(data)), id, nullptr}));
}

bool IPUModel::operator==(const IPUModel &other) const {
  return fields(*this) == fields(other);
}

} // namespace poplar
