// Lists of ids as maps from index to tensor.
#include <popart/tensorindex.hpp>

#include <popart/graph.hpp>

namespace popart {

int TensorIndexMap::n() const {
  return static_cast<int>(tensorIdMap().size());
}

int TensorIndexMap::maxIndex() const {
  return static_cast<int>((op_->*ids_).size()) - 1;
}

bool TensorIndexMap::hasIndex(int index) const {
  return 0 <= index && index <= maxIndex() && !id(index).empty();
}

const TensorId &TensorIndexMap::id(int index) const {
  return (op_->*ids_).at(static_cast<std::size_t>(index));
}

Tensor *TensorIndexMap::tensor(int index) const {
  return &op_->getGraph().getTensor(id(index));
}

std::vector<Tensor *> TensorIndexMap::tensors() const {
  std::vector<Tensor *> list;
  for (const auto &[index, tensor] : tensorMap()) {
    list.push_back(tensor);
  }
  return list;
}

std::map<int, Tensor *> TensorIndexMap::tensorMap() const {
  std::map<int, Tensor *> map;
  for (const auto &[index, id] : tensorIdMap()) {
    map[index] = tensor(index);
  }
  return map;
}

std::map<int, TensorId> TensorIndexMap::tensorIdMap() const {
  std::map<int, TensorId> map;
  for (int index = 0; index <= maxIndex(); ++index) {
    if (hasIndex(index)) {
      map[index] = id(index);
    }
  }
  return map;
}

std::vector<int> TensorIndexMap::indices(const Tensor *tensor) const {
  return indicesOf(tensor->id);
}

std::vector<int> TensorIndexMap::indicesOf(const TensorId &id) const {
  std::vector<int> list;
  for (const auto &[index, name] : tensorIdMap()) {
    if (name == id) {
      list.push_back(index);
    }
  }
  return list;
}

int TensorIndexMap::minIndex() const {
  auto map = tensorIdMap();
  return map.empty() ? -1 : map.begin()->first;
}

std::map<Tensor *, std::vector<int>> TensorIndexMap::indicesMap() const {
  std::map<Tensor *, std::vector<int>> map;
  for (const auto &[index, tensor] : tensorMap()) {
    map[tensor].push_back(index);
  }
  return map;
}

} // namespace popart
