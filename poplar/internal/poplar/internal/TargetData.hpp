// The machine as data: one struct for every number that planners and the model
// read of a chip and a system. Defaults are the GC200 chip ("ipu2").
#pragma once

#include <poplar/IpuLinkConfiguration.hpp>
#include <poplar/IpuLinkTopology.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace poplar::internal {

enum class TargetKind : std::uint8_t { Ipu, IpuModel, Cpu };

// Sources: [V] published, [D] derived from published figures, [A] assumed; see
// docs/model.md.
struct TargetData {
  TargetKind kind = TargetKind::IpuModel;
  std::string arch = "ipu2";
  std::string system = {}; // empty: none named
  unsigned numIPUs = 1;
  unsigned tilesPerIPU = 1472;         // [V]
  unsigned workerContexts = 6;         // [V]
  double clockHz = 1.33e9;             // [V]
  std::uint64_t bytesPerTile = 638976; // [V]
  double exchangeBytesPerCycle = 4;    // [V]
  double memcpyBytesPerCycle = 8;      // [D]
  unsigned tilesPerSharedBus = 2;      // [V]
  unsigned minSyncDelay = 70;          // [A] cycles
  unsigned maxSyncDelay = 126;         // [A] cycles
  bool hasRelativeSyncDelay = true;
  unsigned globalSyncCycles = 600;           // [A]
  unsigned dataPathBits = 64;                // [V]
  unsigned fp16InFp16OutConvUnits = 16;      // [D]
  unsigned fp16InFp32OutConvUnits = 8;       // [D]
  unsigned fp32ConvUnits = 16;               // [D]
  unsigned quarterConvUnits = 0;             // [D] with partials in half
  unsigned convUnitPipelineDepth = 4;        // [V]
  unsigned convUnitCoeffLoadBytes = 16;      // [D] bytes a cycle, 128-bit loads
  unsigned rptCountMax = 4095;               // [V]
  unsigned strideBits = 10;                  // [D]
  unsigned atomicStoreBytes = 4;             // [V]
  double hostToDeviceBytesPerSecond = 8.0e9; // [V] per IPU
  double deviceToHostBytesPerSecond = 8.0e9; // [V] per IPU
  double hostLatencySeconds = 10e-6;         // [A] a callback not prefetched
  double streamingBytesPerSecond = 5e9;      // [A] per IPU: 20 GB/s for four
  double streamingLatencySeconds = 2e-6;     // [A] per copy
  std::uint64_t streamingBytesPerIPU = 64ULL << 30; // [V] of 256 GiB for four
  double linkBytesPerSecond = 16e9 * 0.85; // [V] one IPU-Link, one direction
  unsigned linksToPairPartner = 6;         // [D]
  unsigned linksPerRail = 2;               // [D]
  double linkHopSeconds = 0.6e-6;          // [A]
  double gatewayBytesPerSecond = 6.25e9;   // [V] per IPU and direction
  double gatewayHopSeconds = 2.5e-6;       // [A]
  unsigned ipusPerMachine = 4;             // [V]
  unsigned tilesPerXbContext = 32;         // [A]
  unsigned contextsPerXb = 23;             // [A] two exchange blocks
  unsigned fpIctlRegister = 96;            // [A] index
  unsigned dbgDataRegister = 112;          // [A] index
  unsigned ipuLinkDomainSize = 64;         // [V] IPUs
  unsigned instanceSize = 0;               // IPUs of a process; 0: all
  IpuLinkTopology ipuLinkTopology = IpuLinkTopology::Mesh;
  IpuLinkConfiguration ipuLinkConfiguration = IpuLinkConfiguration::Default;
  bool hasGateway = true;
  std::string syncConfiguration = "intraReplicaAndAll";
  std::vector<std::uint64_t> memoryElementOffsets; // [D] empty: derived
  unsigned interleavedElementIndex = 13;           // [D]

  unsigned numTiles() const { return numIPUs * tilesPerIPU; }
};

} // namespace poplar::internal
