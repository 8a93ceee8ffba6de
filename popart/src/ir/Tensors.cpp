// A graph's tensors by PopART's names.
#include <popart/tensors.hpp>

#include <popart/error.hpp>
#include <popart/graph.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <utility>

namespace popart {

Tensor *Tensors::get(const TensorId &id) const {
  return &graph_->getTensor(id);
}

bool Tensors::contains(const TensorId &id) const {
  return graph_->hasTensor(id);
}

TensorId Tensors::find(const TensorId &id, const Scope &scope) const {
  for (Scope at = scope; !at.empty(); at.pop()) {
    TensorId inside = at.str() + "/" + id;
    if (contains(inside)) {
      return inside;
    }
  }
  return contains(id) ? id : TensorId();
}

std::size_t Tensors::n() const {
  return graph_->tensors_.size();
}

std::vector<TensorId> Tensors::getAllTensorIds() const {
  return graph_->getTensorIds();
}

std::vector<Tensor *> Tensors::getAll() const {
  std::vector<Tensor *> all;
  for (auto &[id, tensor] : graph_->tensors_) {
    all.push_back(&tensor);
  }
  return all;
}

std::vector<TensorId> Tensors::getNoProducerIds() const {
  std::vector<TensorId> ids;
  for (const Tensor *tensor : getAll()) {
    if (!tensor->hasProducer()) {
      ids.push_back(tensor->id);
    }
  }
  return ids;
}

std::vector<TensorId> Tensors::getIds(TensorType type) const {
  std::vector<TensorId> ids;
  for (const Tensor *tensor : getOfType(type)) {
    ids.push_back(tensor->id);
  }
  return ids;
}

std::vector<Tensor *> Tensors::getOfType(TensorType type) const {
  return getOfType(std::vector<TensorType>{type});
}

std::vector<Tensor *>
Tensors::getOfType(const std::vector<TensorType> &types) const {
  std::vector<Tensor *> found;
  for (Tensor *tensor : getAll()) {
    if (std::find(types.begin(), types.end(), tensor->type) != types.end()) {
      found.push_back(tensor);
    }
  }
  return found;
}

void Tensors::addConstInit(const TensorId &id, const TensorInfo &info,
                           const void *data, const DebugContext &) {
  graph_->addConstant(id, info, data);
}

void Tensors::addVarInit(const TensorId &id, const TensorInfo &info,
                         const void *data, const DebugContext &) {
  graph_->addVariable(id, info, data);
}

void Tensors::addVarInit(const TensorId &id, const TensorInfo &info,
                         const void *data, const VariableSettings &settings,
                         const DebugContext &) {
  graph_->addVariable(id, info, data);
  get(id)->variableSettings = settings;
}

void Tensors::makeConstInit(const TensorId &id, const void *data) {
  Tensor &tensor = *get(id);
  support::requireUser<error>(
      !tensor.hasProducer(),
      "[Graph] '{}' is made by {}, and can be no "
      "constant",
      id, tensor.hasProducer() ? tensor.producer->str() : "");
  const char *bytes = static_cast<const char *>(data);
  tensor.type = TensorType::Const;
  tensor.data = std::vector<char>(bytes, bytes + tensor.info.nbytes());
}

void Tensors::addStream(const TensorId &id, const TensorInfo &info,
                        const DebugContext &) {
  graph_->addStream(id, info);
}

void Tensors::addActGrad(const TensorId &id, const DebugContext &) {
  support::requireUser<error>(!contains(id),
                              "[Graph] there is a tensor '{}' already", id);
  Tensor &tensor = graph_->tensors_[id];
  tensor.id = id;
  tensor.graph_ = graph_;
}

void Tensors::remove(const TensorId &id) {
  const Tensor &tensor = *get(id);
  support::requireUser<error>(!tensor.hasProducer() && tensor.consumers.empty(),
                              "[Graph] '{}' is still in use", id);
  graph_->tensors_.erase(id);
}

} // namespace popart
