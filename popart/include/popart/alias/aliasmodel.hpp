// What operators say about sharing memory. In-place variants are the compiler's
// choice here: what they say of themselves is taken, and decides nothing.
#pragma once

#include <popart/names.hpp>

#include <vector>

namespace poprithms {
namespace memory {
namespace inplace {

// A suggestion to run an operator in place.
class Proposal {};

} // namespace inplace
} // namespace memory
} // namespace poprithms

namespace popart {

class Op;
class Tensor;

class AliasModel {
public:
  // The operator's output has the elements of one input, and may take its
  // place.
  void insertUnaryModifier0(const Op &op) { insertUnaryModifier(op, 0); }
  void insertUnaryModifier(const Op &, InIndex) {}
  void insertBinaryModifier(const Op &op) { insertNG2aryModifier(op, 2); }
  void insertNG2aryModifier(const Op &, unsigned /*numInputs*/) {}
  // The output is a view of the tensor.
  template <typename View>
  void insertViewChange(const View &, const Tensor &, bool /*isOutplace*/) {}

  // No operator has been given a gate, and a tensor is its own only alias.
  bool contains(const Tensor &) const { return false; }
  std::vector<Tensor *> allAliases(const Tensor &tensor) const {
    return {const_cast<Tensor *>(&tensor)};
  }
  void update(OpId, OpId) {}
};

} // namespace popart
