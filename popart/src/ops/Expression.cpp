// An element-wise expression as an operation of its own: what most gradients
// are made of. And a tensor of one value, for those that are zero.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <kernels/Expression.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <sstream>

namespace popart {
namespace {

std::vector<std::string> operandsOf(const Op &op) {
  std::vector<std::string> names;
  std::istringstream text(op.attributes.getString("operands", ""));
  for (std::string name; std::getline(text, name, ',');) {
    names.push_back(name);
  }
  return names;
}

std::vector<TensorInfo> inferExpression(const Op &op) {
  requireOp(op, operandsOf(op).size() == op.inputs.size(),
            "{} names for {} inputs", operandsOf(op).size(), op.inputs.size());
  auto type = static_cast<DataType>(op.attributes.getInt(
      "type", static_cast<Attributes::Int>(op.inInfo(0).dataType())));
  return {
      TensorInfo(type, op.attributes.getInts("shape", broadcastInputs(op)))};
}

void lowerExpression(LoweringContext &context, const Op &op) {
  std::vector<std::string> names = operandsOf(op);
  auto expression = kernels::Expression::parse(
      op.attributes.getString("expression", ""),
      std::vector<std::string_view>(names.begin(), names.end()));
  if (op.outInfo(0).dataType() != op.inInfo(0).dataType()) {
    expression = kernels::Expression::cast(deviceType(op.outInfo(0).dataType()),
                                           expression);
  }
  std::vector<poplar::Tensor> inputs;
  inputs.reserve(op.inputs.size());
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    inputs.push_back(broadcastTo(context.in(i), op.outShape(0)));
  }
  context.setOut(0, context.emit(expression, inputs));
}

std::vector<TensorInfo> inferFill(const Op &op) {
  requireInputCount(op, 0, 0);
  return {TensorInfo(static_cast<DataType>(op.attributes.getInt("type", 0)),
                     op.attributes.getInts("shape", {}))};
}

void lowerFill(LoweringContext &context, const Op &op) {
  context.setOut(0, context.addConstant(op.outInfo(0),
                                        op.attributes.getFloat("value", 0)));
}

} // namespace

std::vector<OpRule> expressionRules() {
  return {{.domain = "aspen",
           .type = "Elementwise",
           .infer = inferExpression,
           .lower = lowerExpression},
          {.domain = "aspen",
           .type = "Fill",
           .infer = inferFill,
           .lower = lowerFill}};
}

} // namespace popart
