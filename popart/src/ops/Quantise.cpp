// Numbers as 8-bit integers with a scale, and products of those: exact, as long
// as sums are kept below the whole numbers that FLOAT has.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

#include <algorithm>

namespace popart {
namespace {

// A scale or zero point as it meets x: one number, or one for each entry of an
// axis.
TensorId alongAxis(Composer &composer, const Op &op, const TensorId &id) {
  if (composer.info(id).nelms() == 1) {
    return composer.reshape(id, {});
  }
  Rank rank = op.inInfo(0).rank();
  auto axis = normaliseAxis(op, op.attributes.getInt("axis", 1), rank);
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[static_cast<std::size_t>(axis)] = composer.info(id).nelms();
  requireOp(op,
            shape[static_cast<std::size_t>(axis)] ==
                op.inShape(0)[static_cast<std::size_t>(axis)],
            "a scale of shape {} does not fit axis {} of {}",
            support::toString(composer.shape(id)), axis,
            support::toString(op.inShape(0)));
  return composer.reshape(id, shape);
}

// Rounded to even, and the nearest that the type has.
TensorId toBytes(Composer &composer, const TensorId &quotient,
                 const TensorId &zero, DataType type) {
  TensorId sum = composer.add("Add", {composer.add("Round", {quotient}, {}, 11),
                                      composer.cast(zero, DataType::FLOAT)});
  const char *nearest =
      type == DataType::INT8 ? "clamp(a,-128,127)" : "clamp(a,0,255)";
  return composer.cast(composer.addFormula(nearest, {""}, {sum}), type);
}

void composeQuantise(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 3);
  DataType type = op.hasInput(2) ? op.inInfo(2).dataType() : DataType::UINT8;
  TensorId zero = op.hasInput(2) ? alongAxis(composer, op, op.inputs[2])
                                 : composer.scalar(0, type);
  TensorId quotient =
      composer.add("Div", {composer.cast(op.inputs[0], DataType::FLOAT),
                           alongAxis(composer, op, op.inputs[1])});
  composer.setOutput(0, toBytes(composer, quotient, zero, type));
}

void composeDequantise(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 3);
  TensorId x = composer.cast(op.inputs[0], DataType::FLOAT);
  if (op.hasInput(2)) {
    TensorId zero = alongAxis(composer, op, op.inputs[2]);
    x = composer.add("Sub", {x, composer.cast(zero, DataType::FLOAT)});
  }
  composer.setOutput(
      0, composer.add("Mul", {x, alongAxis(composer, op, op.inputs[1])}));
}

// The range of 256 steps is that of the values and zero.
void composeDynamicQuantise(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  auto whole = Attributes().set("keepdims", Attributes::Int{0});
  const TensorId &x = op.inputs[0];
  TensorId least = composer.addFormula("min(a,0)", {""},
                                       {composer.add("ReduceMin", {x}, whole)});
  TensorId most = composer.addFormula("max(a,0)", {""},
                                      {composer.add("ReduceMax", {x}, whole)});
  TensorId scale = composer.addFormula("(a-b)/255", {"", ""}, {most, least});
  TensorId start =
      composer.addFormula("clamp(-a/b,0,255)", {"", ""}, {least, scale});
  TensorId zero =
      composer.cast(composer.add("Round", {start}, {}, 11), DataType::UINT8);
  composer.setOutput(0, toBytes(composer, composer.add("Div", {x, scale}), zero,
                                DataType::UINT8));
  composer.setOutput(1, scale);
  composer.setOutput(2, zero);
}

// An operand less its zero point, in FLOAT; a zero point for each row of the
// first or column of the second has that dimension.
TensorId centred(Composer &composer, const Op &op, InIndex i) {
  TensorId x =
      composer.cast(op.inputs[static_cast<std::size_t>(i)], DataType::FLOAT);
  if (!op.hasInput(i + 2)) {
    return x;
  }
  TensorId zero = op.inputs[static_cast<std::size_t>(i) + 2];
  Shape shape = op.inShape(i + 2);
  if (shape.size() == 1 && shape[0] > 1 && i == 0) {
    shape.push_back(1);
  } else if (shape.size() == 1 && shape[0] == 1) {
    shape.clear();
  }
  zero = composer.reshape(zero, shape);
  return composer.add("Sub", {x, composer.cast(zero, DataType::FLOAT)});
}

// 256 products of 9-bit numbers add up to less than 2^24.
constexpr std::int64_t mostTerms = 256;

void composeMatMulInteger(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 4);
  TensorId a = centred(composer, op, 0);
  TensorId b = centred(composer, op, 1);
  auto axisOfA = static_cast<std::int64_t>(composer.shape(a).size()) - 1;
  auto axisOfB = std::max<std::int64_t>(
      static_cast<std::int64_t>(composer.shape(b).size()) - 2, 0);
  requireOp(op, axisOfA >= 0 && !composer.shape(b).empty(),
            "operands of shapes {} and {} are no matrices",
            support::toString(op.inShape(0)), support::toString(op.inShape(1)));
  std::int64_t terms = composer.shape(a).back();
  TensorId sum;
  for (std::int64_t begin = 0; begin < terms; begin += mostTerms) {
    std::int64_t end = std::min(terms, begin + mostTerms);
    TensorId part = composer.cast(
        composer.add("MatMul", {composer.slice(a, axisOfA, begin, end),
                                composer.slice(b, axisOfB, begin, end)}),
        DataType::INT32);
    sum = sum.empty() ? part : composer.add("Add", {sum, part});
  }
  requireOp(op, !sum.empty(),
            "operands of shapes {} and {} have nothing to sum",
            support::toString(op.inShape(0)), support::toString(op.inShape(1)));
  composer.setOutput(0, sum);
}

} // namespace

std::vector<OpRule> quantiseRules() {
  auto rule = [](const char *type, std::vector<int> versions,
                 void (*compose)(Composer &, const Op &)) {
    return OpRule{.domain = "ai.onnx",
                  .type = type,
                  .schema = {std::move(versions), types::allNumbers()},
                  .compose = compose};
  };
  return {rule("DequantizeLinear", {10, 13}, composeDequantise),
          rule("DynamicQuantizeLinear", {11}, composeDynamicQuantise),
          rule("MatMulInteger", {10}, composeMatMulInteger),
          rule("QuantizeLinear", {10, 13}, composeQuantise)};
}

} // namespace popart
