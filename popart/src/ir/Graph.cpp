// Building a graph: tensors, and operations whose outputs are inferred.
#include <popart/graph.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/Composer.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/opmanager.hpp>
#include <support/Error.hpp>

#include <utility>

namespace popart {

Ir &Graph::getIr() const {
  support::requireUser<error>(ir_ != nullptr,
                              "[Graph] the graph belongs to no IR");
  return *ir_;
}

TensorId Graph::addTensor(const TensorId &id, const TensorInfo &info,
                          TensorType type, const void *data) {
  support::requireUser<error>(!id.empty(), "[Graph] a tensor has no name");
  support::requireUser<error>(!hasTensor(id),
                              "[Graph] there is a tensor '{}' already", id);
  support::requireUser<error>(info.dataType() != DataType::UNDEFINED,
                              "[Graph] tensor '{}' has no data type", id);
  Tensor &tensor = tensors_[id];
  tensor.id = id;
  tensor.info = info;
  tensor.type = type;
  tensor.graph_ = this;
  if (data) {
    const char *bytes = static_cast<const char *>(data);
    tensor.data = std::vector<char>(bytes, bytes + info.nbytes());
  }
  return id;
}

TensorId Graph::addStream(const TensorId &id, const TensorInfo &info) {
  return addTensor(id, info, TensorType::Stream, nullptr);
}

TensorId Graph::addVariable(const TensorId &id, const TensorInfo &info,
                            const void *data) {
  return addTensor(id, info, TensorType::Variable, data);
}

TensorId Graph::addConstant(const TensorId &id, const TensorInfo &info,
                            const void *data) {
  return addTensor(id, info, TensorType::Const, data);
}

TensorId Graph::addInput(const TensorId &id, const TensorInfo &info) {
  inputs_.push_back(addTensor(id, info, TensorType::ActGrad, nullptr));
  return id;
}

void Graph::markAsOutput(const TensorId &id) {
  outputs_.push_back(getTensor(id).id);
}

Op &Graph::addOp(const OperatorIdentifier &opid,
                 const std::vector<TensorId> &inputs,
                 const std::vector<TensorId> &outputs,
                 const Attributes &attributes, const Op::Settings &settings) {
  if (!findOpRule(opid)) { // a shared object may have brought it
    Op::Settings placed = settings;
    placed.graph = *this;
    std::vector<TensorId> names = outputs; // its factory may ask for them
    for (TensorId &name : names) {
      name = name.empty() ? uniqueName(opid.type) : name;
    }
    return OpManager::createOpInGraph(
        OpCreatorInfo(opid, placed, attributes, inputs, names), *this);
  }
  return addOp(OpManager::createOp(opid, *this, settings, attributes), inputs,
               outputs);
}

std::vector<TensorId> Graph::addOp(const OperatorIdentifier &opid,
                                   const std::vector<TensorId> &inputs,
                                   unsigned count, const Attributes &attributes,
                                   const Op::Settings &settings) {
  const OpRule *rule = findOpRule(opid);
  if (isComposed(rule, attributes)) {
    std::vector<TensorId> outputs;
    for (unsigned i = 0; i < count; ++i) {
      outputs.push_back(uniqueName(opid.type));
    }
    compose(*this, *rule, opid, inputs, outputs, attributes, settings);
    return outputs;
  }
  const Op &op =
      addOp(opid, inputs, std::vector<TensorId>(count), attributes, settings);
  return {op.outputs.begin(), op.outputs.begin() + count};
}

Op &Graph::addOp(std::unique_ptr<Op> op, const std::vector<TensorId> &inputs,
                 const std::vector<TensorId> &outputs) {
  return addOpBefore(ops_.end(), std::move(op), inputs, outputs);
}

Op &Graph::addOpBefore(Ops::iterator position, std::unique_ptr<Op> op,
                       const std::vector<TensorId> &inputs,
                       const std::vector<TensorId> &outputs) {
  op->settings.graph = *this;
  op->inputs = inputs;
  for (const TensorId &id : inputs) {
    support::requireUser<error>(id.empty() || hasTensor(id),
                                "[{}] input '{}' is not a tensor of the graph",
                                op->str(), id);
  }
  op->outputs = outputs; // rules may ask how many there are
  std::vector<TensorInfo> infos = op->rule().infer(*op);
  op->outputs.clear();
  support::requireUser<error>(outputs.size() <= infos.size(),
                              "[{}] has {} outputs, not {}", op->str(),
                              infos.size(), outputs.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    bool isNamed = i < outputs.size() && !outputs[i].empty();
    op->outputs.push_back(
        addTensor(isNamed ? outputs[i] : uniqueName(op->opid.type), infos[i],
                  TensorType::ActGrad, nullptr));
  }
  connect(*op);
  op->id = nextOp_++;
  return **ops_.insert(position, std::move(op));
}

OpId Graph::moveIntoGraph(std::unique_ptr<Op> op) {
  op->settings.graph = *this;
  op->id = nextOp_++;
  ops_.push_back(std::move(op));
  return ops_.back()->id;
}

void Graph::connectNew(Op &op, const std::map<InIndex, TensorId> &inputs,
                       const std::map<OutIndex, TensorId> &outputs) {
  for (const auto &[index, id] : inputs) {
    op.connectInTensor(index, id);
  }
  for (const auto &[index, id] : outputs) {
    if (!hasTensor(id)) {
      op.createAndConnectOutTensor(index, id);
      continue;
    }
    Tensor &tensor = getTensor(id);
    if (tensor.hasProducer()) { // this operation takes its place
      tensor.producer->disconnectOutTensor(&tensor);
    }
    op.connectOutTensor(index, id);
  }
  op.setup();
}

void Graph::eraseOp(OpId id) {
  Op *op = getOpUnsafe(id);
  if (op == nullptr) {
    throw internal_error("[Graph] there is no operation {}", id);
  }
  GraphEditor(*this).erase(*op);
}

void Graph::connect(Op &op) {
  for (const TensorId &id : op.inputs) {
    if (!id.empty()) {
      getTensor(id).consumers.push_back(&op);
    }
  }
  for (const TensorId &id : op.outputs) {
    getTensor(id).producer = &op;
  }
}

TensorId Graph::uniqueName(const std::string &stem) {
  for (;;) {
    TensorId id = stem + ":" + std::to_string(nextName_++);
    if (!hasTensor(id)) {
      return id;
    }
  }
}

bool Graph::hasTensor(const TensorId &id) const {
  return tensors_.count(id) > 0;
}

Tensor &Graph::getTensor(const TensorId &id) {
  auto found = tensors_.find(id);
  support::requireUser<error>(found != tensors_.end(),
                              "[Graph] there is no tensor '{}'", id);
  return found->second;
}

const Tensor &Graph::getTensor(const TensorId &id) const {
  return const_cast<Graph *>(this)->getTensor(id);
}

std::vector<TensorId> Graph::getTensorIds() const {
  std::vector<TensorId> ids;
  for (const auto &[id, tensor] : tensors_) {
    ids.push_back(id);
  }
  return ids;
}

} // namespace popart
