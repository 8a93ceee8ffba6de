// Losses as classes.
#include <popart/op/identity.hpp>
#include <popart/op/nll.hpp>

#include <ops/Common.hpp>

namespace popart {
namespace {

Attributes withReduction(Attributes attributes, ReductionType reduction) {
  attributes.set("reduction", static_cast<Attributes::Int>(reduction));
  return attributes;
}

} // namespace

LossOp::LossOp(const OperatorIdentifier &opid, const Op::Settings &settings,
               const ReductionType reduction)
    : Op(opid, settings) {
  attributes = withReduction({}, reduction);
}

LossOp::LossOp(const OperatorIdentifier &opid,
               const OperatorIdentifier &meaning, const Op::Settings &settings,
               ReductionType reduction, Attributes attributes)
    : Op(opid, meaning, settings,
         withReduction(std::move(attributes), reduction)) {}

ReductionType LossOp::getReductionType() const {
  return reductionOf(*this);
}

std::string LossOp::reductionTypeToString(ReductionType reduction) {
  switch (reduction) {
  case ReductionType::Sum:
    return "Sum";
  case ReductionType::Mean:
    return "Mean";
  case ReductionType::NoReduction:
    return "NoReduction";
  }
  throw error("{} is no reduction type", static_cast<int>(reduction));
}

ReductionType LossOp::reductionTypeFromString(std::string name) {
  for (ReductionType type :
       {ReductionType::Sum, ReductionType::Mean, ReductionType::NoReduction}) {
    if (name == reductionTypeToString(type)) {
      return type;
    }
  }
  throw error("'{}' is no reduction type; they are Sum, Mean and NoReduction",
              name);
}

NllOp::NllOp(const OperatorIdentifier &opid, const optional<int> ignoreIndex,
             const ReductionType reduction, bool inputIsLogProbability,
             const Op::Settings &settings)
    : LossOp(opid, OperatorIdentifier("ai.graphcore", "Nllloss"), settings,
             reduction,
             Attributes().set("inputIsLogProbability",
                              Attributes::Int{inputIsLogProbability})) {
  if (ignoreIndex) {
    attributes.set("ignoreIndex", Attributes::Int{*ignoreIndex});
  }
}

optional<int> NllOp::getOptionalIgnoreIndex() const {
  return hasIgnoreIndex() ? optional<int>(getIgnoreIndex()) : optional<int>();
}

int NllOp::getIgnoreIndex() const {
  return static_cast<int>(
      attributes.getAttribute<Attributes::Int>("ignoreIndex"));
}

} // namespace popart
