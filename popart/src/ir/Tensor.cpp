// What a tensor is to the graph that it is in.
#include <popart/tensor.hpp>

#include <popart/ir.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popart {
namespace {

bool startsWith(const TensorId &id, const char *prefix) {
  return id.rfind(prefix, 0) == 0;
}

int indexIn(const std::vector<TensorId> &ids, const TensorId &id) {
  auto found = std::find(ids.begin(), ids.end(), id);
  support::requireUser<error>(found != ids.end(),
                              "[Tensor] '{}' is not there in its graph", id);
  return static_cast<int>(found - ids.begin());
}

} // namespace

std::vector<Op *> Consumers::getOps() const {
  std::vector<Op *> ops;
  for (Op *op : *this) {
    if (std::find(ops.begin(), ops.end(), op) == ops.end()) {
      ops.push_back(op);
    }
  }
  return ops;
}

int Consumers::n(const Op *op) const {
  return static_cast<int>(std::count(begin(), end(), op));
}

std::map<Op *, int> Consumers::getMap() const {
  std::map<Op *, int> counts;
  for (Op *op : *this) {
    ++counts[op];
  }
  return counts;
}

std::set<PipelineStage> Consumers::getPipelineStages() const {
  std::set<PipelineStage> stages;
  for (const Op *op : *this) {
    if (op->hasPipelineStage()) {
      stages.insert(op->settings.pipelineStage);
    }
  }
  return stages;
}

std::set<VGraphId> Consumers::getVirtualGraphIds() const {
  std::set<VGraphId> ids;
  for (const Op *op : *this) {
    if (op->hasVirtualGraphId()) {
      ids.insert(op->settings.vgraphId);
    }
  }
  return ids;
}

std::string Tensor::tensor_type() const {
  switch (type) {
  case TensorType::ActGrad:
    return "ActGrad";
  case TensorType::Const:
    return "Const";
  case TensorType::Stream:
    return "Stream";
  case TensorType::Variable:
    return "Variable";
  case TensorType::Unknown:
    break;
  }
  return "Unknown";
}

Op *Tensor::getProducer() const {
  support::requireUser<error>(hasProducer(), "[Tensor] '{}' has no producer",
                              id);
  return producer;
}

TensorData *Tensor::tensorData() {
  support::requireUser<error>(hasTensorData(), "[Tensor] '{}' has no data", id);
  return &data;
}

const TensorData *Tensor::tensorData() const {
  return const_cast<Tensor *>(this)->tensorData();
}

Ir &Tensor::getIr() const {
  return graph_->getIr();
}

bool Tensor::isGraphInput() const {
  return graph_->hasInputId(id);
}

bool Tensor::isGraphOutput() const {
  return graph_->hasOutputId(id);
}

InIndex Tensor::getGraphInputIndex() const {
  return indexIn(graph_->getInputIds(), id);
}

OutIndex Tensor::getGraphOutputIndex() const {
  return indexIn(graph_->getOutputIds(), id);
}

bool Tensor::isAnchored() const {
  return graph_->hasIr() && graph_->getIr().isAnchored(id);
}

bool Tensor::isWeightTensor() const {
  return type == TensorType::Variable && !isAccumulatorTensor() &&
         !isOptimizerStateTensor() && !isOptimizerTensor() &&
         !isRandomSeedTensor();
}

bool Tensor::isAccumulatorTensor() const {
  return startsWith(id, reservedAccumPrefix()) ||
         startsWith(id, reservedAcclPrefix()) ||
         startsWith(id, reservedAccl1Prefix()) ||
         startsWith(id, reservedAccl2Prefix()) ||
         startsWith(id, reservedAccl3Prefix());
}

bool Tensor::isOptimizerStateTensor() const {
  return isAccumulatorTensor() || startsWith(id, reservedStepPrefix()) ||
         startsWith(id, reservedCounterPrefix());
}

bool Tensor::isOptimizerTensor() const {
#define ASPEN_SCALAR(NAME, SCALAR) SCALAR,
  static constexpr const char *scalars[] = {
      POPART_RESERVED_SCALARS(ASPEN_SCALAR)};
#undef ASPEN_SCALAR
  return std::any_of(
      std::begin(scalars), std::end(scalars),
      [&](const char *scalar) { return startsWith(id, scalar); });
}

bool Tensor::isRandomSeedTensor() const {
  return isRandomSeed(id);
}

std::vector<Op *> Tensor::associatedOps() const {
  std::vector<Op *> ops = consumers.getOps();
  if (producer) {
    ops.insert(ops.begin(), producer);
  }
  return ops;
}

const Op *Tensor::placedOp() const {
  for (const Op *op : associatedOps()) {
    if (op->hasVirtualGraphId()) {
      return op;
    }
  }
  return nullptr;
}

bool Tensor::hasVirtualGraphId() const {
  return placedOp() != nullptr;
}

VGraphId Tensor::getVirtualGraphId() const {
  support::requireUser<error>(hasVirtualGraphId(),
                              "[Tensor] '{}' has no virtual graph", id);
  return placedOp()->settings.vgraphId;
}

} // namespace popart
