// Operators that change variables, as classes.
#include <popart/op/accumulate.hpp>

#include <ops/Common.hpp>
#include <popart/graph.hpp>

namespace popart {

void VarUpdateOp::setup() {
  if (builtInRule()) {
    Op::setup();
  } else {
    outInfo(getUpdatedVarOutIndex()) = inInfo(getVarToUpdateInIndex());
  }
}

view::Regions VarUpdateOp::modifies(InIndex i) const {
  return i == getVarToUpdateInIndex()
             ? uses(i)
             : view::Regions{view::Region::getEmpty(inRank(i))};
}

view::Regions VarUpdateOp::aliases(InIndex in, OutIndex out) const {
  return out == getUpdatedVarOutIndex() ? VarUpdateOp::modifies(in)
                                        : Op::aliases(in, out);
}

std::map<InIndex, TensorId>
VarUpdateOp::inputsAt(const std::vector<InIndex> &indices) const {
  std::map<InIndex, TensorId> map;
  for (InIndex i : indices) {
    if (hasInput(i)) {
      map[i] = inId(i);
    }
  }
  return map;
}

AccumulateBaseOp::AccumulateBaseOp(const OperatorIdentifier &opid,
                                   const OperatorIdentifier &meaning,
                                   AccumulationType type, OptimizerValue factor,
                                   const Op::Settings &settings)
    : VarUpdateWithUpdaterOp(
          opid, meaning, settings,
          Attributes()
              .set("accumulationType", static_cast<Attributes::Int>(type))
              .set("factor", factor.val())
              .set("factorIsConst", Attributes::Int{factor.isConst()})) {}

// The accumulators of gradients do not say: they add up, or with a counter of
// what they have so far they average.
AccumulationType AccumulateBaseOp::getAccumulationType() const {
  auto fallback = hasInput(getFactorInIndex()) ? AccumulationType::Mean
                                               : AccumulationType::Add;
  return static_cast<AccumulationType>(attributes.getInt(
      "accumulationType", static_cast<Attributes::Int>(fallback)));
}

const OptimizerValue AccumulateBaseOp::getFactor() const {
  return {attributes.getFloat("factor", 1.0f),
          attributes.getInt("factorIsConst", 1) != 0};
}

std::map<InIndex, TensorId> AccumulateBaseOp::optimizerInputs() const {
  return inputsAt({getFactorInIndex()});
}

SparseAccumulateOp::SparseAccumulateOp(AccumulationType type,
                                       const OptimizerValue &factor,
                                       unsigned axis,
                                       const Op::Settings &settings)
    : AccumulateBaseOp(OperatorIdentifier("aspen", "SparseAccumulate"),
                       OperatorIdentifier("aspen", "SparseAccumulate"), type,
                       factor, settings) {
  attributes.set("axis", Attributes::Int{axis});
  requireOp(*this, supportsAccumulationType(type),
            "rows can be added, and no more: accumulation type {} is neither "
            "Add nor DampenedAdd",
            static_cast<int>(type));
}

} // namespace popart
