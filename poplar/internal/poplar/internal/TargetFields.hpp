// A target's members one by one, for what concerns them all: comparing, writing
// and reading. Whoever adds a member adds it here.
#pragma once

#include <poplar/internal/TargetData.hpp>

#include <tuple>

namespace poplar::internal {

// References to all members, in order. The binding does not compile if one is
// left out.
template <typename Data> auto targetFields(Data &data) {
  auto &[kind, arch, system, numIPUs, tilesPerIPU, workerContexts, clockHz,
         bytesPerTile, exchangeBytesPerCycle, memcpyBytesPerCycle,
         tilesPerSharedBus, minSyncDelay, maxSyncDelay, hasRelativeSyncDelay,
         globalSyncCycles, dataPathBits, fp16InFp16OutConvUnits,
         fp16InFp32OutConvUnits, fp32ConvUnits, quarterConvUnits,
         convUnitPipelineDepth, convUnitCoeffLoadBytes, rptCountMax, strideBits,
         atomicStoreBytes, hostToDeviceBytesPerSecond,
         deviceToHostBytesPerSecond, hostLatencySeconds,
         streamingBytesPerSecond, streamingLatencySeconds, streamingBytesPerIPU,
         linkBytesPerSecond, linksToPairPartner, linksPerRail, linkHopSeconds,
         gatewayBytesPerSecond, gatewayHopSeconds, ipusPerMachine,
         tilesPerXbContext, contextsPerXb, fpIctlRegister, dbgDataRegister,
         ipuLinkDomainSize, instanceSize, ipuLinkTopology, ipuLinkConfiguration,
         hasGateway, syncConfiguration, memoryElementOffsets,
         interleavedElementIndex] = data;
  return std::tie(
      kind, arch, system, numIPUs, tilesPerIPU, workerContexts, clockHz,
      bytesPerTile, exchangeBytesPerCycle, memcpyBytesPerCycle,
      tilesPerSharedBus, minSyncDelay, maxSyncDelay, hasRelativeSyncDelay,
      globalSyncCycles, dataPathBits, fp16InFp16OutConvUnits,
      fp16InFp32OutConvUnits, fp32ConvUnits, quarterConvUnits,
      convUnitPipelineDepth, convUnitCoeffLoadBytes, rptCountMax, strideBits,
      atomicStoreBytes, hostToDeviceBytesPerSecond, deviceToHostBytesPerSecond,
      hostLatencySeconds, streamingBytesPerSecond, streamingLatencySeconds,
      streamingBytesPerIPU, linkBytesPerSecond, linksToPairPartner,
      linksPerRail, linkHopSeconds, gatewayBytesPerSecond, gatewayHopSeconds,
      ipusPerMachine, tilesPerXbContext, contextsPerXb, fpIctlRegister,
      dbgDataRegister, ipuLinkDomainSize, instanceSize, ipuLinkTopology,
      ipuLinkConfiguration, hasGateway, syncConfiguration, memoryElementOffsets,
      interleavedElementIndex);
}

} // namespace poplar::internal
