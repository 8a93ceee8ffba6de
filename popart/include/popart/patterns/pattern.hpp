// Rewrites of the graph by shared objects of the user's.
#pragma once

#include <popart/graph.hpp>
#include <popart/op.hpp>

#include <string>
#include <vector>

namespace popart {

class PreAliasPattern {
public:
  virtual ~PreAliasPattern() = default;

  virtual bool matches(Op *op) const = 0;
  // Tensors that other patterns must not have changed; nothing asks, as
  // patterns are applied one after another.
  virtual std::vector<const Tensor *> touches(Op *op) const = 0;
  // Rewrites the graph around `op`, which may go; true when something changed.
  virtual bool apply(Op *op) const = 0;

protected:
  // A new operation with the placement of an old one, connected to nothing.
  static Op *makeReplacementOpInIr(const OperatorIdentifier &opid, Op *oldOp,
                                   const std::string &name = "");
  static void transferBaseProperties(Op *from, Op *to);
};

} // namespace popart
