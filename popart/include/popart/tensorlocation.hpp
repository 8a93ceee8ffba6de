// Where tensors are kept: on the chip or in the host's memory, whole or shared
// out among replicas.
#pragma once

#include <popart/commgroup.hpp>
#include <popart/dataflow.hpp>

namespace popart {

enum class TensorStorage { OnChip = 0, OffChip };
enum class ReplicatedTensorSharding { Off = 0, On };

struct TensorLocation {
  TensorLocation() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as the documentation has it
  TensorLocation(TensorStorage where) : storage(where) {}
  TensorLocation(TensorStorage where, ReplicatedTensorSharding sharding)
      : storage(where), replicatedTensorSharding(sharding) {}
  TensorLocation(
      TensorStorage where, TileSet load, TileSet store,
      ReplicatedTensorSharding sharding = ReplicatedTensorSharding::Off,
      CommGroup domain = CommGroup())
      : storage(where), loadTileSet(load), storageTileSet(store),
        replicatedTensorSharding(sharding), shardingDomain(domain) {}

  bool isRemote() const { return storage == TensorStorage::OffChip; }
  friend bool operator==(const TensorLocation &a, const TensorLocation &b) {
    return a.storage == b.storage && a.loadTileSet == b.loadTileSet &&
           a.storageTileSet == b.storageTileSet &&
           a.replicatedTensorSharding == b.replicatedTensorSharding &&
           a.shardingDomain == b.shardingDomain;
  }
  friend bool operator!=(const TensorLocation &a, const TensorLocation &b) {
    return !(a == b);
  }

  TensorStorage storage = TensorStorage::OnChip;
  TileSet loadTileSet = TileSet::Compute;
  TileSet storageTileSet = TileSet::Compute;
  ReplicatedTensorSharding replicatedTensorSharding =
      ReplicatedTensorSharding::Off;
  CommGroup shardingDomain;
};

struct TensorLocationSettings {
  TensorLocationSettings() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as the documentation has it
  TensorLocationSettings(TensorLocation where, int minOffChip = 2,
                         int minSharded = 8192)
      : location(where), minElementsForOffChip(minOffChip),
        minElementsForReplicatedTensorSharding(minSharded) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as the documentation has it
  TensorLocationSettings(TensorStorage storage, int minOffChip = 2,
                         int minSharded = 8192)
      : TensorLocationSettings(TensorLocation(storage), minOffChip,
                               minSharded) {}

  TensorLocation location;
  int minElementsForOffChip = 2;
  int minElementsForReplicatedTensorSharding = 8192;
};

} // namespace popart
