// Batches per step and anchors, checked as they are given.
#include <popart/dataflow.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Text.hpp>

#include <utility>

namespace popart {
namespace {

AnchorReturnTypeId idOf(const std::string &name) {
  std::string lower = support::lowerCase(name);
  if (lower == "final") {
    return AnchorReturnTypeId::Final;
  }
  if (lower == "everyn") {
    return AnchorReturnTypeId::EveryN;
  }
  if (lower == "all") {
    return AnchorReturnTypeId::All;
  }
  support::requireUser<error>(
      lower == "sum", "Invalid anchor return type ID supplied: {}", name);
  return AnchorReturnTypeId::Sum;
}

} // namespace

AnchorReturnType::AnchorReturnType(std::string name, TileSet tileSet,
                                   ExchangeStrategy exchangeStrategy)
    : name_(std::move(name)), id_(idOf(name_)), tileSet_(tileSet),
      exchangeStrategy_(exchangeStrategy) {
  support::requireUser<error>(
      id_ != AnchorReturnTypeId::EveryN,
      "Must specify return period with option 'EVERYN'");
}

AnchorReturnType::AnchorReturnType(std::string name, int returnPeriod,
                                   TileSet tileSet,
                                   ExchangeStrategy exchangeStrategy)
    : name_(std::move(name)), id_(idOf(name_)), returnPeriod_(returnPeriod),
      tileSet_(tileSet), exchangeStrategy_(exchangeStrategy) {
  support::requireUser<error>(id_ == AnchorReturnTypeId::EveryN,
                              "A return period should not be supplied for this "
                              "anchor return type");
  support::requireUser<error>(returnPeriod > 0,
                              "Anchor return period must be greater than zero");
}

DataFlow::DataFlow(int batchesPerStep) : batchesPerStep_(batchesPerStep) {
  check();
}

DataFlow::DataFlow(int batchesPerStep, const AnchorReturnTypeMap &anchors)
    : batchesPerStep_(batchesPerStep), anchors_(anchors) {
  check();
}

DataFlow::DataFlow(int batchesPerStep, const std::vector<TensorId> &anchors,
                   const AnchorReturnType &type)
    : batchesPerStep_(batchesPerStep) {
  for (const TensorId &id : anchors) {
    anchors_.emplace(id, type);
  }
  check();
}

std::vector<TensorId> DataFlow::anchors() const {
  std::vector<TensorId> ids;
  for (const auto &[id, type] : anchors_) {
    ids.push_back(id);
  }
  return ids;
}

void DataFlow::setBatchesPerStep(int batchesPerStep) {
  batchesPerStep_ = batchesPerStep;
  check();
}

const AnchorReturnType &DataFlow::art(const TensorId &id) const {
  auto found = anchors_.find(id);
  support::requireUser<error>(found != anchors_.end(),
                              "[DataFlow] '{}' is not an anchor", id);
  return found->second;
}

void DataFlow::check() const {
  support::requireUser<error>(batchesPerStep_ > 0,
                              "'Batches per step' must be greater than zero");
  for (const auto &[id, type] : anchors_) {
    support::requireUser<error>(
        type.exchangeStrategy() != ExchangeStrategy::OverlapStep,
        "ExchangeStrategy::OverlapStep is not yet supported");
    if (type.id() != AnchorReturnTypeId::EveryN) {
      continue;
    }
    support::requireUser<error>(type.rp() <= batchesPerStep_,
                                "Return period must be <= to the number of "
                                "batches per step; it is {} of {} for '{}'",
                                type.rp(), batchesPerStep_, id);
    support::requireUser<error>(batchesPerStep_ % type.rp() == 0,
                                "Return period must be a factor of the number "
                                "of batches per step; it is {} of {} for '{}'",
                                type.rp(), batchesPerStep_, id);
  }
}

} // namespace popart
