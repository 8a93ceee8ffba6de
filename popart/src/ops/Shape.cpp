// Tensors whose values are known when the graph is built: shapes, and one value
// in a given shape.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>

#include <algorithm>

namespace popart {
namespace {

// The dimensions [start, end), which version 15 may name.
Shape wantedDims(const Op &op) {
  const Shape &shape = op.inShape(0);
  auto rank = static_cast<std::int64_t>(shape.size());
  auto inside = [&](std::int64_t d) {
    return std::clamp<std::int64_t>(d < 0 ? d + rank : d, 0, rank);
  };
  std::int64_t begin = inside(op.attributes.getInt("start", 0));
  std::int64_t end = std::max(begin, inside(op.attributes.getInt("end", rank)));
  return {shape.begin() + begin, shape.begin() + end};
}

std::vector<TensorInfo> inferShape(const Op &op) {
  requireInputCount(op, 1, 1);
  return {TensorInfo(DataType::INT64,
                     {static_cast<std::int64_t>(wantedDims(op).size())})};
}

void lowerShape(LoweringContext &context, const Op &op) {
  Shape dims = wantedDims(op);
  context.setOut(
      0, context.addConstant(std::vector<int>(dims.begin(), dims.end())));
}

std::vector<TensorInfo> inferSize(const Op &op) {
  requireInputCount(op, 1, 1);
  return {TensorInfo(DataType::INT64, {})};
}

void lowerSize(LoweringContext &context, const Op &op) {
  context.setOut(
      0, context.addConstant(op.outInfo(0),
                             static_cast<double>(op.inInfo(0).nelms())));
}

// "value" is a tensor of one element, a FLOAT of zero where there is none.
TensorInfo valueInfo(const Op &op) {
  const Attributes::Tensor *value = op.attributes.findTensor("value");
  return value ? value->info : TensorInfo(DataType::FLOAT, {1});
}

std::vector<TensorInfo> inferConstantOfShape(const Op &op) {
  requireInputCount(op, 1, 1);
  return {TensorInfo(valueInfo(op).dataType(), constantInts(op, 0))};
}

void lowerConstantOfShape(LoweringContext &context, const Op &op) {
  const Attributes::Tensor *value = op.attributes.findTensor("value");
  context.setOut(0, context.addConstant(
                        op.outInfo(0),
                        value ? scalarOf(op, value->info, value->data) : 0));
}

} // namespace

std::vector<OpRule> shapeRules() {
  return {{.domain = "ai.onnx",
           .type = "Shape",
           .schema = {{1, 13, 15}, types::all()},
           .infer = inferShape,
           .lower = lowerShape},
          {.domain = "ai.onnx",
           .type = "Size",
           .schema = {{1, 13}, types::all()},
           .infer = inferSize,
           .lower = lowerSize},
          {.domain = "ai.onnx",
           .type = "ConstantOfShape",
           .schema = {{9}, {}},
           .infer = inferConstantOfShape,
           .lower = lowerConstantOfShape}};
}

} // namespace popart
