// Operators that look at their input differently, as classes.
#include <popart/op/detach.hpp>
#include <popart/op/identity.hpp>
#include <popart/op/reshape.hpp>
#include <popart/op/slice.hpp>
#include <popart/op/transpose.hpp>

#include <ops/Common.hpp>
#include <popart/graph.hpp>

#include <algorithm>
#include <numeric>

namespace popart {
namespace {

using Priorities = std::vector<std::tuple<OperatorIdentifier, float>>;

OperatorIdentifier variantOf(const char *type) {
  return {"ai.graphcore", type};
}

// The variant of that type if that is what is asked for; otherwise an error.
template <typename Variant, typename OP>
std::unique_ptr<Op> makeVariant(const OP &op, const char *type,
                                const OperatorIdentifier &asked) {
  requireOp(op, asked == variantOf(type),
            "has no in-place variant {}; it has {}", asked.type, type);
  return std::make_unique<Variant>(op);
}

// From constant inputs or attributes, whichever there are.
std::vector<std::int64_t> listOf(const Op &op, InIndex input,
                                 const char *name) {
  return op.hasInput(input) ? constantInts(op, input)
                            : op.attributes.getInts(name, {});
}

} // namespace

Priorities IdentityOp::inplacePriorityDefault() const {
  return Priorities{{variantOf("IdentityInplace"), 10.0f}};
}

std::unique_ptr<Op>
IdentityOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<IdentityInplaceOp>(*this, "IdentityInplace", asked);
}

const std::vector<GradInOutMapper> &IdentityGradOp::gradInputInfo() const {
  static const std::vector<GradInOutMapper> inputs = {
      {getInIndex(), IdentityOp::getOutIndex(), GradOpInType::GradOut}};
  return inputs;
}

const std::map<int, int> &IdentityGradOp::gradOutToNonGradIn() const {
  static const std::map<int, int> outputs = {
      {getOutIndex(), IdentityOp::getInIndex()}};
  return outputs;
}

Priorities DetachOp::inplacePriorityDefault() const {
  return Priorities{{variantOf("DetachInplace"), 10.0f}};
}

std::unique_ptr<Op>
DetachOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<DetachInplaceOp>(*this, "DetachInplace", asked);
}

Shape TransposeBaseOp::getPerm() const {
  Shape reversed(hasInput(getInIndex()) ? inShape(getInIndex()).size() : 0);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return attributes.getInts("perm", reversed);
}

Shape TransposeBaseOp::generateReversePermutation() const {
  Shape perm = getPerm();
  Shape inverse(perm.size());
  for (std::size_t d = 0; d < perm.size(); ++d) {
    inverse.at(static_cast<std::size_t>(perm[d])) =
        static_cast<std::int64_t>(d);
  }
  return inverse;
}

bool TransposeBaseOp::canBeReplacedByIdentity() const {
  Shape perm = getPerm();
  return std::is_sorted(perm.begin(), perm.end());
}

Priorities TransposeOp::inplacePriorityDefault() const {
  return Priorities{{variantOf("TransposeInplace"), 100.0f}};
}

std::unique_ptr<Op>
TransposeOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<TransposeInplaceOp>(*this, "TransposeInplace", asked);
}

Shape ReshapeBaseOp::getOutShape() const {
  return hasOutput(getOutIndex()) ? outShape(getOutIndex())
                                  : attributes.getInts("shape", {});
}

bool ReshapeBaseOp::canBeReplacedByIdentity() const {
  return inShape(getInIndex()) == outShape(getOutIndex());
}

Priorities ReshapeOp::inplacePriorityDefault() const {
  return Priorities{{variantOf("ReshapeInplace"), 10.0f}};
}

std::unique_ptr<Op>
ReshapeOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<ReshapeInplaceOp>(*this, "ReshapeInplace", asked);
}

BaseSliceOp::BaseSliceOp(const OperatorIdentifier &opid,
                         const std::vector<std::int64_t> &starts,
                         const std::vector<std::int64_t> &ends,
                         const std::vector<std::int64_t> &axes,
                         const std::vector<std::int64_t> &steps,
                         const Op::Settings &settings)
    : Op(opid, OperatorIdentifier("ai.onnx", "Slice"), settings) {
  setStarts(starts);
  setEnds(ends);
  setAxes(axes);
  setSteps(steps);
}

std::vector<std::int64_t> BaseSliceOp::getStarts() const {
  return listOf(*this, getStartsInIndex(), "starts");
}

std::vector<std::int64_t> BaseSliceOp::getEnds() const {
  return listOf(*this, getEndsInIndex(), "ends");
}

// The first ones where none are given.
std::vector<std::int64_t> BaseSliceOp::getAxes() const {
  std::vector<std::int64_t> axes = listOf(*this, getAxesInIndex(), "axes");
  if (axes.empty()) {
    axes.resize(getStarts().size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

std::vector<std::int64_t> BaseSliceOp::getSteps() const {
  std::vector<std::int64_t> steps = listOf(*this, getStepsInIndex(), "steps");
  steps.resize(std::max(steps.size(), getStarts().size()), 1);
  return steps;
}

Priorities SliceOp::inplacePriorityDefault() const {
  std::vector<std::int64_t> steps = getSteps();
  bool isBackwards = std::any_of(steps.begin(), steps.end(),
                                 [](std::int64_t step) { return step < 0; });
  return isBackwards ? Priorities{}
                     : Priorities{{variantOf("SliceInplace"), 10.0f}};
}

std::unique_ptr<Op>
SliceOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<SliceInplaceOp>(*this, "SliceInplace", asked);
}

} // namespace popart
