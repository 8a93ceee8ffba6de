// Operators of single elements: what those of one and of two operands have in
// common. A class of the user's that is derived from one of these has its own
// lowering and, unless it defines others, no gradient.
#pragma once

#include <popart/op/builtin.hpp>

#include <map>
#include <vector>

namespace popart {

// The output has the input's type and shape.
class ElementWiseUnaryOp : public Op {
public:
  ElementWiseUnaryOp(const OperatorIdentifier &opid,
                     const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(ElementWiseUnaryOp, Op)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }

  void setup() final;
  virtual bool isIdentity() const { return canBeReplacedByIdentity(); }
  bool canShard() const override { return true; }
  ReplicatedTensorShardingIndices
  getReplicatedTensorShardingIndices() const override {
    return {{{getInIndex()}, {getOutIndex()}}};
  }
  void growAliasModel(AliasModel &model) const override {
    model.insertUnaryModifier0(*this);
  }
  poprithms::memory::inplace::Proposal
  mapInplaceProposal(const AliasModel &model,
                     OperatorIdentifier opid) const override {
    return mapInplaceProposalGate0(model, opid);
  }

protected:
  ElementWiseUnaryOp(const OperatorIdentifier &opid,
                     const OperatorIdentifier &meaning,
                     const Op::Settings &settings, Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
};

// Written over its input.
class ElementWiseInplaceUnaryOp : public ElementWiseUnaryOp {
public:
  ElementWiseInplaceUnaryOp(const OperatorIdentifier &opid,
                            const Op::Settings &settings)
      : ElementWiseUnaryOp(opid, settings) {}
  POPART_OP_CLASS(ElementWiseInplaceUnaryOp, ElementWiseUnaryOp)

  view::Regions modifies(InIndex i) const override { return uses(i); }
  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }

protected:
  ElementWiseInplaceUnaryOp(const OperatorIdentifier &opid,
                            const OperatorIdentifier &meaning,
                            const Op::Settings &settings,
                            Attributes attributes = {})
      : ElementWiseUnaryOp(opid, meaning, settings, std::move(attributes)) {}
};

// A test: the output is BOOL.
class ElementWiseUnaryBooleanOp : public Op {
public:
  ElementWiseUnaryBooleanOp(const OperatorIdentifier &opid,
                            const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(ElementWiseUnaryBooleanOp, Op)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }

  void setup() final;

protected:
  ElementWiseUnaryBooleanOp(const OperatorIdentifier &opid,
                            const OperatorIdentifier &meaning,
                            const Op::Settings &settings,
                            Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
};

// From the gradient of the output and the input.
class ElementWiseNonLinearUnaryGradOp : public Op {
public:
  ElementWiseNonLinearUnaryGradOp(const OperatorIdentifier &opid,
                                  const ElementWiseUnaryOp &forward)
      : Op(opid, forward.getSettings()) {}

  static InIndex getGradInIndex() { return 0; }
  static InIndex getFwdArgInIndex() { return 1; }
  static OutIndex getOutIndex() { return 0; }

  void setup() final { outInfo(getOutIndex()) = inInfo(getFwdArgInIndex()); }
  const std::vector<GradInOutMapper> &gradInputInfo() const final;
  const std::map<int, int> &gradOutToNonGradIn() const final;
};

// The shape is what NumPy broadcasts those of the operands to.
class ElementWiseBinaryBaseOp : public Op {
public:
  ElementWiseBinaryBaseOp(const OperatorIdentifier &opid,
                          const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(ElementWiseBinaryBaseOp, Op)

  static InIndex getArg0InIndex() { return 0; }
  static InIndex getArg1InIndex() { return 1; }
  static OutIndex getOutIndex() { return 0; }

  void setup() final;
  bool canShard() const override { return true; }
  void growAliasModel(AliasModel &model) const override {
    model.insertBinaryModifier(*this);
  }

protected:
  ElementWiseBinaryBaseOp(const OperatorIdentifier &opid,
                          const OperatorIdentifier &meaning,
                          const Op::Settings &settings,
                          Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
};

class ElementWiseBinaryOp : public ElementWiseBinaryBaseOp {
public:
  ElementWiseBinaryOp(const OperatorIdentifier &opid,
                      const Op::Settings &settings)
      : ElementWiseBinaryBaseOp(opid, settings) {}
  POPART_OP_CLASS(ElementWiseBinaryOp, ElementWiseBinaryBaseOp)

  // The variants that an operator has for running in place.
  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const override;
  void setInplacePriority(const OperatorIdentifier &opid, float priority) {
    priorities_[opid] = priority;
  }
  float getInplacePriority(const OperatorIdentifier &opid) const;

protected:
  ElementWiseBinaryOp(const OperatorIdentifier &opid,
                      const OperatorIdentifier &meaning,
                      const Op::Settings &settings, Attributes attributes = {})
      : ElementWiseBinaryBaseOp(opid, meaning, settings,
                                std::move(attributes)) {}

private:
  // Empty where the operator has no such variant.
  virtual OperatorIdentifier getLhsVariantOpId() const { return {}; }
  virtual OperatorIdentifier getRhsVariantOpId() const { return {}; }

  std::map<OperatorIdentifier, float> priorities_; // 10 unless they are here
};

// Written over the left or the right operand.
class ElementWiseBinaryInplaceLhsOp : public ElementWiseBinaryBaseOp {
public:
  ElementWiseBinaryInplaceLhsOp(const OperatorIdentifier &opid,
                                const Op::Settings &settings)
      : ElementWiseBinaryBaseOp(opid, settings) {}
  POPART_OP_CLASS(ElementWiseBinaryInplaceLhsOp, ElementWiseBinaryBaseOp)

  view::Regions modifies(InIndex i) const override;
  view::Regions aliases(InIndex in, OutIndex out) const override;

protected:
  ElementWiseBinaryInplaceLhsOp(const OperatorIdentifier &opid,
                                const OperatorIdentifier &meaning,
                                const Op::Settings &settings,
                                Attributes attributes = {})
      : ElementWiseBinaryBaseOp(opid, meaning, settings,
                                std::move(attributes)) {}
};

class ElementWiseBinaryInplaceRhsOp : public ElementWiseBinaryBaseOp {
public:
  ElementWiseBinaryInplaceRhsOp(const OperatorIdentifier &opid,
                                const Op::Settings &settings)
      : ElementWiseBinaryBaseOp(opid, settings) {}
  POPART_OP_CLASS(ElementWiseBinaryInplaceRhsOp, ElementWiseBinaryBaseOp)

  view::Regions modifies(InIndex i) const override;
  view::Regions aliases(InIndex in, OutIndex out) const override;

protected:
  ElementWiseBinaryInplaceRhsOp(const OperatorIdentifier &opid,
                                const OperatorIdentifier &meaning,
                                const Op::Settings &settings,
                                Attributes attributes = {})
      : ElementWiseBinaryBaseOp(opid, meaning, settings,
                                std::move(attributes)) {}
};

// The gradient by one operand, from that of the output, both operands and the
// output. `axes` are those along which the operand was repeated.
class ElementWiseBinaryGradOp : public Op {
public:
  ElementWiseBinaryGradOp(const OperatorIdentifier &opid,
                          const std::vector<std::int64_t> &axes,
                          const TensorInfo &forwardInfo,
                          const Op::Settings &settings)
      : Op(opid, settings), axes_(axes), forwardInfo_(forwardInfo) {}

  static InIndex getGradInIndex() { return 0; }
  static InIndex getFwdArg0InIndex() { return 1; }
  static InIndex getFwdArg1InIndex() { return 2; }
  static InIndex getFwdOutIndex() { return 3; }
  static OutIndex getOutIndex() { return 0; }

  void setup() final { outInfo(getOutIndex()) = forwardInfo_; }
  const std::vector<GradInOutMapper> &gradInputInfo() const override;
  const std::vector<std::int64_t> &getReductionAxes() const { return axes_; }

private:
  std::vector<std::int64_t> axes_;
  TensorInfo forwardInfo_;
};

class ElementWiseBinaryArg0GradOp : public ElementWiseBinaryGradOp {
public:
  using ElementWiseBinaryGradOp::ElementWiseBinaryGradOp;
  const std::map<int, int> &gradOutToNonGradIn() const override;
};

class ElementWiseBinaryArg1GradOp : public ElementWiseBinaryGradOp {
public:
  using ElementWiseBinaryGradOp::ElementWiseBinaryGradOp;
  const std::map<int, int> &gradOutToNonGradIn() const override;
};

// An operator of the user's whose gradients are Arg0Grad and Arg1Grad, which
// are made of it and the axes along which an operand was repeated.
template <typename Arg0Grad, typename Arg1Grad>
class ElementWiseNpBroadcastableBinaryWithGradOp : public ElementWiseBinaryOp {
public:
  using ElementWiseBinaryOp::ElementWiseBinaryOp;

  std::vector<std::unique_ptr<Op>> getGradOps() override {
    std::vector<std::unique_ptr<Op>> ops;
    const Shape &out = this->outShape(this->getOutIndex());
    ops.emplace_back(new Arg0Grad(
        *this, npReductionAxis(this->inShape(this->getArg0InIndex()), out)));
    ops.emplace_back(new Arg1Grad(
        *this, npReductionAxis(this->inShape(this->getArg1InIndex()), out)));
    return ops;
  }
};

// A comparison: the output is BOOL.
class BinaryComparisonOp : public Op {
public:
  BinaryComparisonOp(const OperatorIdentifier &opid,
                     const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(BinaryComparisonOp, Op)

  static InIndex getArg0InIndex() { return 0; }
  static InIndex getArg1InIndex() { return 1; }
  static OutIndex getOutIndex() { return 0; }

  void setup() final;

protected:
  BinaryComparisonOp(const OperatorIdentifier &opid,
                     const OperatorIdentifier &meaning,
                     const Op::Settings &settings, Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
};

} // namespace popart
