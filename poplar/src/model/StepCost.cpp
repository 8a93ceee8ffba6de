// Prices one step from its runs of equal tiles.
#include "model/StepCost.hpp"

#include "model/ComputeCost.hpp"
#include "model/Constants.hpp"
#include "model/IpuLinks.hpp"
#include "model/TileSegments.hpp"

#include <algorithm>
#include <cmath>

namespace poplar::model {

namespace {

using internal::TargetData;
using internal::TileRun;
using Runs = std::span<const TileRun *const>;

std::uint64_t ceilDiv(double value, double divisor) {
  return static_cast<std::uint64_t>(std::ceil(value / divisor));
}

// A tile's part of an exchange.
struct TileTraffic {
  std::uint64_t bytesIn = 0;
  std::uint64_t bytesOut = 0;
  double busBytesIn = 0; // bytesIn, halved where the bus is shared
  std::uint64_t fragmentsIn = 0;
  std::uint64_t fragmentsOut = 0;

  bool isIdle() const { return bytesIn == 0 && bytesOut == 0; }
};

TileTraffic sumTraffic(Runs runs, unsigned tilesPerSharedBus) {
  TileTraffic sum;
  for (const TileRun *run : runs) {
    sum.bytesIn += run->bytesIn;
    sum.bytesOut += run->bytesOut;
    sum.busBytesIn += static_cast<double>(run->bytesIn) /
                      (run->isBusShared ? tilesPerSharedBus : 1);
    sum.fragmentsIn += run->fragmentsIn;
    sum.fragmentsOut += run->fragmentsOut;
  }
  return sum;
}

// A tile sends and receives at the same time; the instructions that steer the
// exchange issue beside the payload.
std::uint64_t payloadCycles(const TileTraffic &tile, const TargetData &target) {
  const double rate = target.exchangeBytesPerCycle;
  return std::max({ceilDiv(static_cast<double>(tile.bytesOut), rate),
                   ceilDiv(tile.busBytesIn, rate),
                   slotsPerFragmentIn * tile.fragmentsIn,
                   slotsPerFragmentOut * tile.fragmentsOut});
}

IpuStepCost &costOf(Step &step, unsigned ipu) {
  if (step.costs.empty() || step.costs.back().ipu != ipu) {
    step.costs.push_back({.ipu = ipu});
  }
  return step.costs.back();
}

// The tiles that receive (or, to the host, send) and how much.
void addBytes(IpuStepCost &cost, std::uint64_t bytes, unsigned tiles) {
  cost.bytes += bytes * tiles;
  cost.maxTileBytes = std::max(cost.maxTileBytes, bytes);
}

void priceInside(Step &step, const TargetData &target) {
  forEachSegment(
      Runs(step.runs), target.tilesPerIPU,
      [&](unsigned firstTile, unsigned tiles, Runs runs) {
        IpuStepCost &cost = costOf(step, firstTile / target.tilesPerIPU);
        const TileTraffic traffic = sumTraffic(runs, target.tilesPerSharedBus);
        if (!traffic.isIdle()) {
          const std::uint64_t exchange =
              routingCycles + payloadCycles(traffic, target);
          cost.exchange = std::max(cost.exchange, exchange);
          cost.tileExchange += exchange * tiles;
          cost.exchangeTiles += tiles;
          addBytes(cost, traffic.bytesIn, tiles);
        }
        const TileCompute compute = tileCompute(runs, target.workerContexts);
        if (compute.cycles != 0) {
          cost.compute = std::max(cost.compute, compute.cycles);
          cost.tileCompute += compute.cycles * tiles;
          cost.threadCycles += compute.threads * tiles;
          cost.computeTiles += tiles;
        }
      });
}

// Between IPUs or with the host every tile can be the bottleneck, or the link.
void addRemoteTraffic(Step &step, const TargetData &target) {
  forEachSegment(
      Runs(step.runs), target.tilesPerIPU,
      [&](unsigned firstTile, unsigned tiles, Runs runs) {
        IpuStepCost &cost = costOf(step, firstTile / target.tilesPerIPU);
        const TileTraffic traffic = sumTraffic(runs, 1);
        cost.exchangeTiles += tiles;
        addBytes(cost, step.isToTiles() ? traffic.bytesIn : traffic.bytesOut,
                 tiles);
        std::uint64_t &duration = step.kind == StepKind::GlobalExchange
                                      ? cost.globalExchange
                                      : cost.hostExchange;
        duration = std::max(duration, payloadCycles(traffic, target));
      });
}

void priceGlobal(Step &step, const TargetData &target, unsigned replicas) {
  addRemoteTraffic(step, target);
  std::uint64_t duration =
      linkCycles(target, target.numIPUs * replicas, step.flows);
  for (const IpuStepCost &cost : step.costs) {
    duration = std::max(duration, cost.globalExchange);
  }
  for (IpuStepCost &cost : step.costs) {
    cost.globalExchange = duration;
  }
}

// Every IPU that holds a part of the tensor takes part in every round.
void priceRounds(Step &step, const TargetData &target) {
  addRemoteTraffic(step, target);
  for (IpuStepCost &cost : step.costs) {
    cost.globalExchange = step.collective->globalExchange;
    cost.compute = step.collective->compute;
    cost.computeTiles = cost.compute == 0 ? 0 : cost.exchangeTiles;
    cost.tileCompute = cost.compute * cost.computeTiles;
    cost.threadCycles = cost.tileCompute;
  }
}

void priceHost(Step &step, const TargetData &target) {
  addRemoteTraffic(step, target);
  const bool isHost = step.isHostTransfer();
  const double hostBytesPerSecond = step.isToTiles()
                                        ? target.hostToDeviceBytesPerSecond
                                        : target.deviceToHostBytesPerSecond;
  const double bytesPerSecond =
      isHost ? hostBytesPerSecond : target.streamingBytesPerSecond;
  const std::uint64_t latency =
      ceilDiv(target.streamingLatencySeconds * target.clockHz, 1);
  for (IpuStepCost &cost : step.costs) {
    const std::uint64_t link = ceilDiv(static_cast<double>(cost.bytes),
                                       bytesPerSecond / target.clockHz);
    // A copy of a remote buffer that is too long for one is several.
    const std::uint64_t fixed =
        isHost ? hostCopyCycles + step.waitCycles
               : latency * std::max<std::uint64_t>(
                               1, (cost.bytes + remoteCopyBytes - 1) /
                                      remoteCopyBytes);
    cost.hostExchange = fixed + std::max(cost.hostExchange, link);
  }
}

// All IPUs of the replica, whatever they do besides.
void addAllIpus(Step &step, const TargetData &target) {
  for (unsigned ipu = 0; ipu < target.numIPUs; ++ipu) {
    step.costs.push_back({.ipu = ipu});
  }
}

} // namespace

void priceStep(Step &step, const TargetData &target, unsigned replicas) {
  switch (step.kind) {
  case StepKind::Execute:
  case StepKind::Exchange:
    priceInside(step, target);
    break;
  case StepKind::GlobalExchange:
    if (step.collective) {
      priceRounds(step, target);
    } else {
      priceGlobal(step, target, replicas);
    }
    break;
  case StepKind::HostToDevice:
  case StepKind::DeviceToHost:
  case StepKind::RemoteToDevice:
  case StepKind::DeviceToRemote:
    priceHost(step, target);
    break;
  case StepKind::Sync:
  case StepKind::GlobalSync:
    addAllIpus(step, target);
    break;
  }
  for (IpuStepCost &cost : step.costs) {
    cost.control = step.controlCycles;
  }
}

} // namespace poplar::model
