// How operations are connected: by patterns, and what those see around one.
#include <popart/op.hpp>

#include <ops/Common.hpp>
#include <popart/ir.hpp>

#include <algorithm>
#include <utility>

namespace popart {

void Op::connectInTensor(InIndex i, TensorId id) {
  auto index = static_cast<std::size_t>(i);
  requireOp(*this, !hasInput(i),
            "input {} is '{}' already; disconnect it before '{}' is connected",
            i, hasInput(i) ? inId(i) : "", id);
  getGraph().getTensor(id).consumers.push_back(this);
  inputs.resize(std::max(inputs.size(), index + 1));
  inputs[index] = std::move(id);
}

void Op::connectInTensor(InIndex i, TensorId id, VGraphId) {
  connectInTensor(i, std::move(id));
}

void Op::connectOutTensor(OutIndex i, TensorId id) {
  auto index = static_cast<std::size_t>(i);
  Tensor &tensor = getGraph().getTensor(id);
  if (tensor.hasProducer()) {
    throw internal_error("[{}] output {}: '{}' is made by {} already", str(), i,
                         id, tensor.producer->str());
  }
  tensor.producer = this;
  outputs.resize(std::max(outputs.size(), index + 1));
  outputs[index] = std::move(id);
}

void Op::createAndConnectOutTensor(OutIndex i, TensorId id) {
  requireOp(*this, !id.empty() && !getGraph().hasTensor(id),
            "there is a tensor '{}' already", id);
  getGraph().getTensors().addActGrad(id);
  connectOutTensor(i, std::move(id));
}

void Op::disconnectInTensor(InIndex i) {
  TensorId &id = inputs.at(static_cast<std::size_t>(i));
  auto &consumers = getGraph().getTensor(id).consumers;
  // One entry per use: an operation may read a tensor twice.
  consumers.erase(std::find(consumers.begin(), consumers.end(), this));
  id.clear();
}

void Op::disconnectInTensor(Tensor *tensor) {
  for (InIndex i : input->indices(tensor)) {
    disconnectInTensor(i);
  }
}

void Op::disconnectInTensor(InIndex i, Tensor *tensor) {
  requireOp(*this, hasInput(i) && inId(i) == tensor->id, "input {} is not '{}'",
            i, tensor->id);
  disconnectInTensor(i);
}

void Op::disconnectOutTensor(Tensor *tensor) {
  for (OutIndex i : output->indices(tensor)) {
    tensor->producer = nullptr;
    outputs[static_cast<std::size_t>(i)].clear();
  }
}

void Op::disconnectAllInputs() {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (hasInput(static_cast<InIndex>(i))) {
      disconnectInTensor(static_cast<InIndex>(i));
    }
  }
  inputs.clear();
}

void Op::disconnectAllOutputs() {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (Tensor *tensor = findOutput(static_cast<OutIndex>(i))) {
      tensor->producer = nullptr;
    }
  }
  outputs.clear();
}

InIndex Op::inIndex(const Tensor *tensor) const {
  std::vector<int> indices = input->indices(tensor);
  requireOp(*this, !indices.empty(), "'{}' is none of its inputs", tensor->id);
  return indices[0];
}

OutIndex Op::outIndex(const Tensor *tensor) const {
  std::vector<int> indices = output->indices(tensor);
  requireOp(*this, !indices.empty(), "'{}' is none of its outputs", tensor->id);
  return indices[0];
}

bool Op::isParentOf(const Op *op) const {
  std::vector<Tensor *> made = output->tensors();
  return std::any_of(made.begin(), made.end(), [&](const Tensor *tensor) {
    return tensor->consumers.n(op) > 0;
  });
}

bool Op::consumesGraphOutput() const {
  std::vector<Tensor *> read = input->tensors();
  return std::any_of(read.begin(), read.end(),
                     [](const Tensor *t) { return t->isGraphOutput(); });
}

bool Op::producesGraphOutput() const {
  std::vector<Tensor *> made = output->tensors();
  return std::any_of(made.begin(), made.end(),
                     [](const Tensor *t) { return t->isGraphOutput(); });
}

Op *Op::precedingOp(InIndex i) const {
  Op *producer = hasInput(i) ? inTensor(i)->producer : nullptr;
  requireOneNeighbour(producer ? 1 : 0);
  return producer;
}

std::vector<Op *> Op::followingOps(OutIndex i) const {
  return hasOutput(i) ? outTensor(i)->consumers.getOps() : std::vector<Op *>();
}

void Op::requireOneNeighbour(std::size_t count) const {
  if (count != 1) {
    throw internal_error("[{}] has {} neighbours there, not one", str(), count);
  }
}

void Op::getInTensorData(TensorId id, std::vector<std::int64_t> &data,
                         std::vector<DataType> types) const {
  const Tensor &tensor = getGraph().getTensor(id);
  requireOp(*this,
            std::count(types.begin(), types.end(), tensor.info.dataType()) > 0,
            "'{}' is {}, which is not read here", id, tensor.info.data_type());
  requireOp(*this, tensor.type == TensorType::Const && tensor.hasTensorData(),
            "'{}' is no constant", id);
  for (InIndex i : input->indices(&tensor)) {
    data = constantInts(*this, i);
    return;
  }
}

} // namespace popart
