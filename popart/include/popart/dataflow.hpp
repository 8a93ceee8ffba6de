// How many batches a step runs and which tensors it returns how often.
#pragma once

#include <popart/names.hpp>

#include <map>
#include <string>
#include <vector>

namespace popart {

enum class AnchorReturnTypeId { Final = 0, EveryN, All, Sum };
enum class TileSet { Compute, IO };
enum class ExchangeStrategy {
  JustInTime,
  OverlapInnerLoop,
  OverlapLoops,
  OverlapStep
};

class AnchorReturnType {
public:
  AnchorReturnType() : AnchorReturnType("All") {}
  // `name` is "Final", "All" or "Sum", in any case.
  explicit AnchorReturnType(
      std::string name, TileSet tileSet = TileSet::Compute,
      ExchangeStrategy exchangeStrategy = ExchangeStrategy::JustInTime);
  // "EveryN": the N-th, 2N-th, ... micro-batch of the step, N being the return
  // period.
  AnchorReturnType(
      std::string name, int returnPeriod, TileSet tileSet = TileSet::Compute,
      ExchangeStrategy exchangeStrategy = ExchangeStrategy::JustInTime);

  AnchorReturnTypeId id() const { return id_; }
  int rp() const { return returnPeriod_; }
  const std::string &str() const { return name_; }
  TileSet tileSet() const { return tileSet_; }
  ExchangeStrategy exchangeStrategy() const { return exchangeStrategy_; }

private:
  std::string name_;
  AnchorReturnTypeId id_;
  int returnPeriod_ = 1;
  TileSet tileSet_;
  ExchangeStrategy exchangeStrategy_;
};

using AnchorReturnTypeMap = std::map<TensorId, AnchorReturnType>;

class DataFlow {
public:
  DataFlow() = default;
  explicit DataFlow(int batchesPerStep);
  DataFlow(int batchesPerStep, const AnchorReturnTypeMap &anchors);
  DataFlow(int batchesPerStep, const std::vector<TensorId> &anchors,
           const AnchorReturnType &type = AnchorReturnType("All"));

  bool isAnchored(const TensorId &id) const { return anchors_.count(id) > 0; }
  std::vector<TensorId> anchors() const;
  unsigned nAnchors() const { return static_cast<unsigned>(anchors_.size()); }
  int batchesPerStep() const { return batchesPerStep_; }
  void setBatchesPerStep(int batchesPerStep);
  const AnchorReturnType &art(const TensorId &id) const;
  const AnchorReturnTypeMap &getAnchorReturnTypeMap() const { return anchors_; }

private:
  void check() const;

  int batchesPerStep_ = 1;
  AnchorReturnTypeMap anchors_;
};

} // namespace popart
