// Tensors made of nothing, tensors laid out anew, and the end of a program.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <popart/operatorenums.hpp>

#include <poplar/Program.hpp>

namespace popart {
namespace {

using poplar::program::Abort;
using poplar::program::AbortOnCondition;

std::vector<TensorInfo> inferInit(const Op &op) {
  requireInputCount(op, 0, 0);
  std::int64_t kind = op.attributes.getInt("init_type", 0);
  requireOp(op, 0 <= kind && kind <= static_cast<int>(InitType::Zero),
            "init_type {} is neither NoInit (0) nor Zero (1)", kind);
  std::int64_t type = op.attributes.getInt("data_type", -1);
  requireOp(op, 0 <= type && type < static_cast<int>(DataType::UNDEFINED),
            "data_type {} is no number of a DataType", type);
  return {TensorInfo(static_cast<DataType>(type),
                     op.attributes.getInts("shape", {}))};
}

// What is not initialised may be anything: it is zero too.
void lowerInit(LoweringContext &context, const Op &op) {
  context.setOut(0, context.addConstant(op.outInfo(0), 0));
}

std::vector<TensorInfo> inferRemap(const Op &op) {
  requireInputCount(op, 1, 1);
  std::int64_t kind = op.attributes.getInt("remap_type", 0);
  requireOp(op, 0 <= kind && kind <= static_cast<int>(TensorRemapType::Fwd),
            "remap_type {} is none of FwdBwdReverse, FwdBwd and Fwd (0 to 2)",
            kind);
  return {op.inInfo(0)};
}

// The layout is that of a new variable, spread over all tiles.
void lowerRemap(LoweringContext &context, const Op &op) {
  poplar::Tensor laidOut =
      context.addVariable(op.outInfo(0), op.settings.vgraphId, op.outputs[0]);
  context.program().add(poplar::program::Copy(context.in(0), laidOut, false,
                                              context.debugPath()));
  context.setOut(0, laidOut);
}

void differentiateRemap(GradientBuilder &builder, const Op &op) {
  auto kind =
      static_cast<TensorRemapType>(op.attributes.getInt("remap_type", 0));
  builder.setGradient(0, kind == TensorRemapType::Fwd
                             ? builder.outputGradient(0)
                             : builder.add("ai.graphcore", "TensorRemap",
                                           {builder.outputGradient(0)},
                                           op.attributes));
}

std::vector<TensorInfo> inferAbort(const Op &op) {
  requireInputCount(op, 0, 1);
  requireOp(op, !op.hasInput(0) || op.inInfo(0).nelms() == 1,
            "the condition has shape {}; it must have one element",
            op.hasInput(0) ? support::toString(op.inShape(0)) : "");
  return {TensorInfo(DataType::BOOL, {})};
}

poplar::Tensor addAbort(LoweringContext &context, const poplar::Tensor &input,
                        const std::string &message) {
  const std::string_view names[] = {"c"};
  poplar::Tensor isSet = context.emit(kernels::Expression::parse("c!=0", names),
                                      {input.reshape({})});
  context.program().add(AbortOnCondition(isSet, message, context.debugPath()));
  return isSet;
}

// ONNX wants a node to have an input or an output: this one is the condition.
void lowerAbort(LoweringContext &context, const Op &op) {
  std::string message = fmt::format("[{}] the model ends here", op.str());
  if (!op.hasInput(0)) {
    context.program().add(Abort(message, context.debugPath()));
    context.setOut(0, context.addConstant(op.outInfo(0), 1));
    return;
  }
  context.setOut(0, addAbort(context, context.in(0), message));
}

// Input 0, unless input 1 is not zero: then the run ends with a message.
std::vector<TensorInfo> inferValid(const Op &op) {
  requireInputCount(op, 2, 2);
  requireOp(op, op.inInfo(1).nelms() == 1,
            "the condition has shape {}; it must have one element",
            support::toString(op.inShape(1)));
  return {op.inInfo(0)};
}

void differentiateValid(GradientBuilder &builder, const Op &) {
  builder.setGradient(0, builder.outputGradient(0));
}

void lowerValid(LoweringContext &context, const Op &op) {
  addAbort(context, context.in(1), op.attributes.getString("message", ""));
  context.setOut(0, context.in(0));
}

} // namespace

std::vector<OpRule> initRules() {
  return {{.domain = "ai.graphcore",
           .type = "Init",
           .schema = {.attributes = {{"shape", Attributes::Ints{}, true},
                                     {"data_type", Attributes::Int{0}, true},
                                     {"init_type", Attributes::Int{0}, true},
                                     {"batch_axis", Attributes::Int{-1}}},
                      .inputs = BuilderInputs::None},
           .infer = inferInit,
           .lower = lowerInit},
          {.domain = "aspen",
           .type = "Valid",
           .infer = inferValid,
           .differentiate = differentiateValid,
           .lower = lowerValid},
          {.domain = "ai.graphcore",
           .type = "TensorRemap",
           .schema = {.attributes = {{"remap_type", Attributes::Int{0}}}},
           .infer = inferRemap,
           .differentiate = differentiateRemap,
           .lower = lowerRemap},
          {.domain = "ai.graphcore",
           .type = "Abort",
           .schema = {.inputs = BuilderInputs::OptionalList},
           .infer = inferAbort,
           .lower = lowerAbort,
           .hasSideEffect = true}};
}

} // namespace popart
