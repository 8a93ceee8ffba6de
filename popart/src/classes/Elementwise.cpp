// What operators of single elements have in common.
#include <popart/op/elementwise.hpp>

#include <popart/graph.hpp>

namespace popart {

void ElementWiseUnaryOp::setup() {
  if (builtInRule()) {
    Op::setup();
  } else {
    outInfo(getOutIndex()) = inInfo(getInIndex());
  }
}

void ElementWiseUnaryBooleanOp::setup() {
  outInfo(getOutIndex()) = {DataType::BOOL, inShape(getInIndex())};
}

void ElementWiseBinaryBaseOp::setup() {
  if (builtInRule()) {
    Op::setup();
  } else {
    outInfo(getOutIndex()) =
        prettyNpOut(inInfo(getArg0InIndex()), inInfo(getArg1InIndex()));
  }
}

void BinaryComparisonOp::setup() {
  outInfo(getOutIndex()) = {
      DataType::BOOL,
      prettyNpOut(inShape(getArg0InIndex()), inShape(getArg1InIndex()))};
}

const std::vector<GradInOutMapper> &
ElementWiseNonLinearUnaryGradOp::gradInputInfo() const {
  static const std::vector<GradInOutMapper> inputs = {
      {getGradInIndex(), ElementWiseUnaryOp::getOutIndex(),
       GradOpInType::GradOut},
      {getFwdArgInIndex(), ElementWiseUnaryOp::getInIndex(), GradOpInType::In}};
  return inputs;
}

const std::map<int, int> &
ElementWiseNonLinearUnaryGradOp::gradOutToNonGradIn() const {
  static const std::map<int, int> outputs = {
      {getOutIndex(), ElementWiseUnaryOp::getInIndex()}};
  return outputs;
}

const std::vector<GradInOutMapper> &
ElementWiseBinaryGradOp::gradInputInfo() const {
  using Forward = ElementWiseBinaryBaseOp;
  static const std::vector<GradInOutMapper> inputs = {
      {getGradInIndex(), Forward::getOutIndex(), GradOpInType::GradOut},
      {getFwdArg0InIndex(), Forward::getArg0InIndex(), GradOpInType::In},
      {getFwdArg1InIndex(), Forward::getArg1InIndex(), GradOpInType::In},
      {getFwdOutIndex(), Forward::getOutIndex(), GradOpInType::Out}};
  return inputs;
}

const std::map<int, int> &
ElementWiseBinaryArg0GradOp::gradOutToNonGradIn() const {
  static const std::map<int, int> outputs = {
      {getOutIndex(), ElementWiseBinaryBaseOp::getArg0InIndex()}};
  return outputs;
}

const std::map<int, int> &
ElementWiseBinaryArg1GradOp::gradOutToNonGradIn() const {
  static const std::map<int, int> outputs = {
      {getOutIndex(), ElementWiseBinaryBaseOp::getArg1InIndex()}};
  return outputs;
}

std::vector<std::tuple<OperatorIdentifier, float>>
ElementWiseBinaryOp::inplacePriorityDefault() const {
  std::vector<std::tuple<OperatorIdentifier, float>> variants;
  auto offer = [&](const OperatorIdentifier &variant, InIndex operand) {
    if (!variant.type.empty() && hasInput(operand) &&
        inInfo(operand).nelms() == outInfo(getOutIndex()).nelms()) {
      variants.emplace_back(variant, getInplacePriority(variant));
    }
  };
  offer(getLhsVariantOpId(), getArg0InIndex());
  offer(getRhsVariantOpId(), getArg1InIndex());
  return variants;
}

float ElementWiseBinaryOp::getInplacePriority(
    const OperatorIdentifier &variant) const {
  auto found = priorities_.find(variant);
  return found == priorities_.end() ? 10.0f : found->second;
}

namespace {

view::Regions regionsOf(const Op &op, InIndex in, bool isWritten) {
  return isWritten ? op.uses(in)
                   : view::Regions{view::Region::getEmpty(op.inRank(in))};
}

} // namespace

view::Regions ElementWiseBinaryInplaceLhsOp::modifies(InIndex i) const {
  return regionsOf(*this, i, i == getArg0InIndex());
}

view::Regions ElementWiseBinaryInplaceLhsOp::aliases(InIndex in,
                                                     OutIndex) const {
  return modifies(in);
}

view::Regions ElementWiseBinaryInplaceRhsOp::modifies(InIndex i) const {
  return regionsOf(*this, i, i == getArg1InIndex());
}

view::Regions ElementWiseBinaryInplaceRhsOp::aliases(InIndex in,
                                                     OutIndex) const {
  return modifies(in);
}

} // namespace popart
