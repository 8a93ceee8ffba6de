// The registry of custom operators' shapes.
#include <popart/shapeinference.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

std::map<OperatorIdentifier, ShapeInferenceFunction> &functions() {
  static std::map<OperatorIdentifier, ShapeInferenceFunction> all;
  return all;
}

} // namespace

const TensorInfo &ShapeInferenceContext::inInfo(int index) const {
  auto found = inputs_.find(index);
  support::requireUser<error>(0 <= index && index < numInputs_,
                              "[shape inference] there is no input {}; there "
                              "are {}",
                              index, numInputs_);
  support::requireUser<unknown_shape>(
      found != inputs_.end(),
      "[shape inference] the shape of input {} is not known", index);
  return found->second;
}

RegisterShapeInferenceFunction::RegisterShapeInferenceFunction(
    const OperatorIdentifier &opid, ShapeInferenceFunction function) {
  functions()[opid] = std::move(function);
}

const ShapeInferenceFunction *
findShapeInferenceFunction(const OperatorIdentifier &opid) {
  auto found = functions().find(opid);
  return found == functions().end() ? nullptr : &found->second;
}

void propagateElemTypeFromInputToOutput(ShapeInferenceContext &context,
                                        int input, int output) {
  context.outInfo(output) =
      TensorInfo(context.inType(input), context.outShape(output));
}

void propagateShapeFromInputToOutput(ShapeInferenceContext &context, int input,
                                     int output) {
  context.outInfo(output) =
      TensorInfo(context.outInfo(output).dataType(), context.inShape(input));
}

} // namespace popart
