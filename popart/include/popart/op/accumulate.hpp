// A variable that gathers values: sums, sums that decay, averages.
#pragma once

#include <popart/op/varupdate.hpp>

namespace popart {

// a: the variable, g: the updater, f: the factor.
enum class AccumulationType {
  Add = 0,             // a + g
  DampenedAdd,         // a + f g
  DampenedAddSquare,   // a + f g g
  DecayAdd,            // f a + g
  DecayAddSquare,      // f a + g g
  MovingAverage,       // f a + (1 - f) g
  MovingAverageSquare, // f a + (1 - f) g g
  Infinity,            // max(f a, |g|)
  Mean,                // (f a + g) / (f + 1)
};

class AccumulateBaseOp : public VarUpdateWithUpdaterOp {
public:
  explicit AccumulateBaseOp(const IrOperation &operation)
      : VarUpdateWithUpdaterOp(operation) {}

  static InIndex getFactorInIndex() { return 2; }

  AccumulationType getAccumulationType() const;
  // What it was made with; an input may have it instead.
  const OptimizerValue getFactor() const;
  std::map<InIndex, TensorId> optimizerInputs() const override;
  std::set<InIndex> optionalInputs() const override {
    return {getFactorInIndex()};
  }

protected:
  AccumulateBaseOp(const OperatorIdentifier &opid,
                   const OperatorIdentifier &meaning, AccumulationType type,
                   OptimizerValue factor, const Op::Settings &settings);
};

class AccumulateOp : public AccumulateBaseOp {
public:
  AccumulateOp(AccumulationType type, OptimizerValue factor,
               const Op::Settings &settings)
      : AccumulateBaseOp(OperatorIdentifier("aspen", "Accumulate"),
                         OperatorIdentifier("aspen", "Accumulate"), type,
                         factor, settings) {}
  POPART_OP_CLASS(AccumulateOp, AccumulateBaseOp)
};

// The variable's part is multiplied by a ratio.
class RescaleAccumulateOp : public AccumulateBaseOp {
public:
  RescaleAccumulateOp(AccumulationType type, OptimizerValue factor,
                      const Op::Settings &settings)
      : AccumulateBaseOp(OperatorIdentifier("aspen", "RescaleAccumulate"),
                         OperatorIdentifier("aspen", "RescaleAccumulate"), type,
                         factor, settings) {}
  POPART_OP_CLASS(RescaleAccumulateOp, AccumulateBaseOp)

  static InIndex getRescaleRatioInIndex() { return 3; }
};

// Rows of the variable, by their indices.
class SparseAccumulateOp : public AccumulateBaseOp {
public:
  // Throws popart::error for types that supportsAccumulationType() denies.
  SparseAccumulateOp(AccumulationType type, const OptimizerValue &factor,
                     unsigned axis, const Op::Settings &settings);
  POPART_OP_CLASS(SparseAccumulateOp, AccumulateBaseOp)

  static InIndex getIndicesInIndex() { return 3; }
  static InIndex getOriginalVarToUpdateInIndex() { return 4; }

  unsigned getAxis() const {
    return static_cast<unsigned>(attributes.getInt("axis", 0));
  }
  static bool supportsAccumulationType(AccumulationType type) {
    return type == AccumulationType::Add ||
           type == AccumulationType::DampenedAdd;
  }
  std::set<InIndex> optionalInputs() const override {
    return {getFactorInIndex(), getOriginalVarToUpdateInIndex()};
  }
};

} // namespace popart
