// Operators that change a variable. The first output is its next version.
#pragma once

#include <popart/op/builtin.hpp>
#include <popart/optimizervalue.hpp>

#include <map>

namespace popart {

// Input 0 is the variable. Of a class of the user's, the lowering writes to the
// tensor of that input and gives it back as the output.
class VarUpdateOp : public Op {
public:
  VarUpdateOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}
  explicit VarUpdateOp(const IrOperation &operation) : Op(operation) {}

  static InIndex getVarToUpdateInIndex() { return 0; }
  static OutIndex getUpdatedVarOutIndex() { return 0; }

  void setup() final;
  // The hyper-parameters that are inputs, by index.
  virtual std::map<InIndex, TensorId> optimizerInputs() const = 0;
  bool isOptimizerOp() const override { return true; }
  view::Regions modifies(InIndex i) const override;
  view::Regions aliases(InIndex in, OutIndex out) const override;

protected:
  VarUpdateOp(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
              const Op::Settings &settings, Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
  // Those of these inputs that are there.
  std::map<InIndex, TensorId>
  inputsAt(const std::vector<InIndex> &indices) const;
};

// Input 1 is what it changes by.
class VarUpdateWithUpdaterOp : public VarUpdateOp {
public:
  VarUpdateWithUpdaterOp(const OperatorIdentifier &opid,
                         const Op::Settings &settings)
      : VarUpdateOp(opid, settings) {}
  explicit VarUpdateWithUpdaterOp(const IrOperation &operation)
      : VarUpdateOp(operation) {}

  static InIndex getUpdaterInIndex() { return 1; }

protected:
  VarUpdateWithUpdaterOp(const OperatorIdentifier &opid,
                         const OperatorIdentifier &meaning,
                         const Op::Settings &settings,
                         Attributes attributes = {})
      : VarUpdateOp(opid, meaning, settings, std::move(attributes)) {}
};

} // namespace popart
