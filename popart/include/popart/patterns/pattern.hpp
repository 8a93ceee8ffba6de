// Rewrites of the graph by shared objects of the user's.
#pragma once

#include <popart/graph.hpp>
#include <popart/op.hpp>

#include <memory>
#include <string>
#include <vector>

namespace popart {

class Pattern {
public:
  virtual ~Pattern() = default;

  // As it was registered.
  const std::string &getPatternName() const { return name_; }
  void setPatternName(const std::string &name) { name_ = name; }

protected:
  // Placement, kind of recomputation and priority; no name and no context.
  static void transferBaseProperties(const Op *from, Op *to);
  // "relu:MyPattern", or "relu:MyPattern_name"; no name stays none.
  std::string getReplacementOpName(Op *op, const std::string &name) const;

private:
  std::string name_;
};

class PreAliasPattern : public Pattern {
public:
  virtual bool matches(Op *op) const = 0;
  // Tensors that the rewrite may change: it is left out when the host wants one
  // of them as it is.
  virtual std::vector<const Tensor *> touches(Op *op) const = 0;
  // Rewrites the graph around `op`, which may go; true when something changed.
  virtual bool apply(Op *op) const = 0;
  bool touchesAnchored(Op *op) const;

  // A new operation with the placement of an old one, connected to nothing; in
  // the old one's graph, or in none yet.
  Op *makeReplacementOpInIr(const OperatorIdentifier &opid, Op *oldOp,
                            const std::string &name = "") const;

protected:
  std::unique_ptr<Op> makeReplacementOp(const OperatorIdentifier &opid,
                                        Op *oldOp,
                                        const std::string &name = "") const;
};

} // namespace popart

#include <popart/ir.hpp>
#include <popart/patterns/patterncreator.hpp>
