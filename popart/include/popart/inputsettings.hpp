// How an input is streamed to the device.
#pragma once

#include <popart/dataflow.hpp>

namespace popart {

// Each replica gets data of its own, or all get the same.
enum class ReplicatedStreamMode { Replicate = 0, Broadcast };

class InputSettings {
public:
  explicit InputSettings(
      TileSet tileSet = TileSet::Compute,
      ExchangeStrategy exchangeStrategy = ExchangeStrategy::JustInTime,
      ReplicatedStreamMode mode = ReplicatedStreamMode::Replicate)
      : tileSet_(tileSet), exchangeStrategy_(exchangeStrategy), mode_(mode) {}
  explicit InputSettings(ReplicatedStreamMode mode)
      : InputSettings(TileSet::Compute, ExchangeStrategy::JustInTime, mode) {}

  TileSet tileSet() const { return tileSet_; }
  ExchangeStrategy exchangeStrategy() const { return exchangeStrategy_; }
  ReplicatedStreamMode replicatedStreamMode() const { return mode_; }
  void setTileSet(TileSet tileSet) { tileSet_ = tileSet; }
  void setExchangeStrategy(ExchangeStrategy strategy) {
    exchangeStrategy_ = strategy;
  }
  void setReplicatedStreamMode(ReplicatedStreamMode mode) { mode_ = mode; }

private:
  TileSet tileSet_;
  ExchangeStrategy exchangeStrategy_;
  ReplicatedStreamMode mode_;
};

} // namespace popart
