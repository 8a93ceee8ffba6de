// Insertion, removal and renaming in a graph.
#include <ir/GraphEditor.hpp>

#include <popart/opmanager.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <utility>

namespace popart {

GraphEditor::GraphEditor(Graph &graph) : graph_(graph) {
  for (auto it = graph.ops_.begin(); it != graph.ops_.end(); ++it) {
    positions_[it->get()] = it;
  }
}

Op &GraphEditor::insertBefore(const Op *position,
                              const OperatorIdentifier &opid,
                              const std::vector<TensorId> &inputs,
                              const std::vector<TensorId> &outputs,
                              const Attributes &attributes,
                              const Op::Settings &settings) {
  return insertBefore(position,
                      OpManager::createOp(opid, graph_, settings, attributes),
                      inputs, outputs);
}

Op &GraphEditor::insertBefore(const Op *position, std::unique_ptr<Op> op,
                              const std::vector<TensorId> &inputs,
                              const std::vector<TensorId> &outputs) {
  Position at = position ? positions_.at(position) : graph_.ops_.end();
  Op &added = graph_.addOpBefore(at, std::move(op), inputs, outputs);
  positions_[&added] = std::prev(at);
  return added;
}

Op *GraphEditor::next(const Op &op) const {
  Position after = std::next(positions_.at(&op));
  return after == graph_.ops_.end() ? nullptr : after->get();
}

void GraphEditor::erase(Op &op) {
  for (const TensorId &id : op.inputs) {
    if (!id.empty()) {
      std::erase(graph_.getTensor(id).consumers, &op);
    }
  }
  for (const TensorId &id : op.outputs) {
    support::requireInternal(graph_.getTensor(id).consumers.empty(),
                             "{} is erased while '{}' has consumers", op.str(),
                             id);
    graph_.tensors_.erase(id);
  }
  graph_.topoCons->remove(&op);
  auto found = positions_.find(&op);
  graph_.ops_.erase(found->second);
  positions_.erase(found);
}

void GraphEditor::eraseTensor(const TensorId &id) {
  const Tensor &tensor = graph_.getTensor(id);
  support::requireInternal(!tensor.producer && tensor.consumers.empty(),
                           "tensor '{}' is erased while in use", id);
  graph_.tensors_.erase(id);
}

void GraphEditor::renameTensor(const TensorId &from, const TensorId &to) {
  support::requireInternal(!graph_.hasTensor(to),
                           "'{}' is renamed to '{}', which exists", from, to);
  auto node = graph_.tensors_.extract(from);
  node.key() = to;
  node.mapped().id = to;
  Tensor &tensor = graph_.tensors_.insert(std::move(node)).position->second;
  if (tensor.producer) {
    std::replace(tensor.producer->outputs.begin(),
                 tensor.producer->outputs.end(), from, to);
  }
  for (Op *consumer : tensor.consumers) {
    std::replace(consumer->inputs.begin(), consumer->inputs.end(), from, to);
  }
}

void GraphEditor::replaceInput(Op &op, InIndex index, const TensorId &id) {
  TensorId &input = op.inputs.at(static_cast<std::size_t>(index));
  auto &consumers = graph_.getTensor(input).consumers;
  // One entry per use: an operation may read a tensor twice.
  consumers.erase(std::find(consumers.begin(), consumers.end(), &op));
  input = id;
  graph_.getTensor(id).consumers.push_back(&op);
}

void GraphEditor::addInput(Op &op, InIndex index, const TensorId &id) {
  support::requireInternal(!op.hasInput(index), "{} has input {} already",
                           op.str(), index);
  auto place = static_cast<std::size_t>(index);
  op.inputs.resize(std::max(op.inputs.size(), place + 1));
  op.inputs[place] = id;
  graph_.getTensor(id).consumers.push_back(&op);
}

void GraphEditor::replaceReads(Op &reader, const TensorId &from,
                               const TensorId &to) {
  for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
    if (reader.inputs[i] == from) {
      replaceInput(reader, static_cast<InIndex>(i), to);
    }
  }
}

void GraphEditor::replaceReads(const TensorId &from, const TensorId &to) {
  std::vector<Op *> readers = graph_.getTensor(from).consumers;
  for (Op *reader : readers) {
    replaceReads(*reader, from, to);
  }
}

void GraphEditor::reorder(const std::vector<Op *> &order) {
  support::requireInternal(order.size() == graph_.ops_.size(),
                           "a new order has {} of {} operations", order.size(),
                           graph_.ops_.size());
  for (Op *op : order) {
    Position position = positions_.at(op);
    graph_.ops_.splice(graph_.ops_.end(), graph_.ops_, position);
  }
}

void GraphEditor::copyFrom(const Graph &source) {
  support::requireInternal(graph_.tensors_.empty(),
                           "a graph is copied over a graph in use");
  graph_.inputs_ = source.inputs_;
  graph_.outputs_ = source.outputs_;
  graph_.nextName_ = source.nextName_;
  graph_.nextOp_ = source.nextOp_;
  graph_.ir_ = source.ir_;
  for (const auto &[id, tensor] : source.tensors_) {
    Tensor &copy = graph_.tensors_[id] = tensor;
    copy.graph_ = &graph_;
    copy.producer = nullptr;
    copy.consumers.clear();
    // The contents of weights and their state stay with the source alone, which
    // changes them: they may be most of the memory there is.
    if (tensor.type == TensorType::Variable && tensor.info.nelms() > 1) {
      copy.data = {};
    }
  }
  for (const auto &op : source.ops_) {
    std::unique_ptr<Op> copy = op->clone();
    copy->settings.graph = graph_;
    copy->id = op->id;
    copy->inputs = op->inputs;
    copy->outputs = op->outputs;
    graph_.connect(*copy);
    graph_.ops_.push_back(std::move(copy));
    positions_[graph_.ops_.back().get()] = std::prev(graph_.ops_.end());
  }
}

std::vector<TensorId> GraphEditor::takeOutputs() {
  return std::exchange(graph_.outputs_, {});
}

TensorId GraphEditor::uniqueName(const std::string &stem) {
  return graph_.uniqueName(stem);
}

} // namespace popart
