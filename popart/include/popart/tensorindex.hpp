// An operation's inputs, or its outputs, by index.
#pragma once

#include <popart/names.hpp>

#include <map>
#include <vector>

namespace popart {

class Op;
class Tensor;

// A view of Op::inputs or Op::outputs; indices that were left out have no
// tensor.
class TensorIndexMap {
public:
  TensorIndexMap(const Op &op, std::vector<TensorId> Op::*ids)
      : op_(&op), ids_(ids) {}

  int n() const;        // how many there are
  int minIndex() const; // -1 when there is none
  int maxIndex() const;
  bool hasIndex(int index) const;
  const TensorId &id(int index) const;
  Tensor *tensor(int index) const;
  std::vector<Tensor *> tensors() const;
  std::map<int, Tensor *> tensorMap() const;
  std::map<int, TensorId> tensorIdMap() const;
  bool contains(const Tensor *tensor) const { return !indices(tensor).empty(); }
  bool contains(const TensorId &id) const { return !indicesOf(id).empty(); }
  std::vector<int> indicesOf(const TensorId &id) const;
  std::map<Tensor *, std::vector<int>> indicesMap() const;
  std::vector<int> indices(const Tensor *tensor) const;

private:
  const Op *op_;
  std::vector<TensorId> Op::*ids_;
};

} // namespace popart
