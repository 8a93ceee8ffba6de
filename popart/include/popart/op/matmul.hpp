// Matrix products.
#pragma once

#include <popart/op/builtin.hpp>
#include <popart/optional.hpp>

namespace popart {

// The type of sums while they are made.
enum class MatMulPartialsType { HALF, FLOAT };
std::string toString(const MatMulPartialsType &type);
std::ostream &operator<<(std::ostream &out, const MatMulPartialsType &type);

using OptionalDataType = optional<DataType>;

class MatMulBaseOp : public Op {
public:
  // Which product of a layer it is.
  enum class Phase { Fwd, BwdLHS, BwdRHS };
  // Whether it is cut into pieces that run one after another, and which
  // dimension is.
  struct SerialiseSettings {
    enum class Mode { None, InputChannels, ReducingDim, OutputChannels };
    Mode mode = Mode::None;
    std::uint32_t factor = 0;
    bool keep_precision = false;
  };

  MatMulBaseOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(MatMulBaseOp, Op)

  const optional<float> getAvailableMemoryProportion() const;
  void setAvailableMemoryProportion(const optional<float> proportion);
  MatMulPartialsType getPartialsType() const;
  void setPartialsType(const MatMulPartialsType &type);
  // As it is now; changes go back by setSerialiseSettings().
  SerialiseSettings getSerialiseSettings() const;
  void setSerialiseSettings(const SerialiseSettings &settings);
  OptionalDataType getOutputType() const;
  Phase getPhase() const { return phase_; }
  void setPhase(Phase phase) { phase_ = phase; }
  // Which products share a plan, and who lays operands out: hints that nothing
  // reads.
  bool useFullyConnectedPass() const { return fullyConnectedPass_; }
  void setUseFullyConnectedPass(bool use) { fullyConnectedPass_ = use; }
  bool getCanCreateInputs() const { return canCreateInputs_; }
  void setCanCreateInputs(bool can) { canCreateInputs_ = can; }

protected:
  MatMulBaseOp(const OperatorIdentifier &opid,
               const OperatorIdentifier &meaning, const Op::Settings &settings,
               Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}

private:
  Phase phase_ = Phase::Fwd;
  bool fullyConnectedPass_ = true;
  bool canCreateInputs_ = true;
};

class MatMulOp : public MatMulBaseOp {
public:
  MatMulOp(const OperatorIdentifier &opid, const Op::Settings &settings,
           const optional<float> &availableMemoryProportion,
           const SerialiseSettings &serialization,
           const OptionalDataType &outputType,
           const MatMulPartialsType &partialsType = MatMulPartialsType::FLOAT);
  POPART_OP_CLASS(MatMulOp, MatMulBaseOp)

  static InIndex getLhsInIndex() { return 0; }
  static InIndex getRhsInIndex() { return 1; }
  static InIndex getLog2ScaleInIndex() { return 2; }
  static OutIndex getOutIndex() { return 0; }

  Tensor *lhsIn() { return inTensor(getLhsInIndex()); }
  const Tensor *lhsIn() const { return inTensor(getLhsInIndex()); }
  Tensor *rhsIn() { return inTensor(getRhsInIndex()); }
  const Tensor *rhsIn() const { return inTensor(getRhsInIndex()); }
  Tensor *out() { return outTensor(getOutIndex()); }
  const Tensor *out() const { return outTensor(getOutIndex()); }

  // As products of matrices in groups: [groups, rows, columns].
  Shape getExpandedLhsShape() const;
  Shape getExpandedRhsShape() const;
  Shape getExpandedOutShape() const;
  const MatMulOp *getCloneOfCreator() const { return this; }
};

} // namespace popart
