// Determinants of square matrices by elimination, a column at a time, the row
// of the largest element first.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

namespace popart {
namespace {

// Matrices [count, size, size], without the first row and column once these are
// eliminated, and what they contribute to the determinants, [count, 1, 1].
struct Step {
  TensorId factor;
  TensorId rest;
};

Step eliminate(Composer &composer, const TensorId &matrices) {
  const Shape shape = composer.shape(matrices);
  std::int64_t size = shape[1];
  DataType type = composer.type(matrices);
  TensorId place = composer.cast(
      composer.add("ArgMax",
                   {composer.add("Abs", {composer.slice(matrices, 2, 0, 1)})},
                   Attributes().set("axis", Attributes::Int{1})),
      DataType::INT32);
  TensorId row = composer.add(
      "GatherElements", {matrices, composer.expand(place, {shape[0], 1, size})},
      Attributes().set("axis", Attributes::Int{1}), 11);
  TensorId pivot = composer.slice(row, 2, 0, 1);
  TensorId isFirst = composer.add(
      "Equal", {place, composer.scalar(0, DataType::INT32)}, {}, 11);
  Step step;
  step.factor = composer.add(
      "Where", {isFirst, pivot, composer.add("Neg", {pivot})}, {}, 9);
  if (size == 1) {
    return step;
  }
  // The first row goes where the chosen one was.
  TensorId isChosen = composer.add(
      "Equal",
      {composer.add("Add", {composer.reshape(composer.counting(size - 1),
                                             {1, size - 1, 1}),
                            composer.scalar(1, DataType::INT32)}),
       place},
      {}, 11);
  TensorId others = composer.add("Where",
                                 {isChosen, composer.slice(matrices, 1, 0, 1),
                                  composer.slice(matrices, 1, 1, size)},
                                 {}, 9);
  // A determinant that is zero already needs no quotient.
  TensorId isZero =
      composer.add("Equal", {pivot, composer.scalar(0, type)}, {}, 11);
  TensorId quotient = composer.add(
      "Div", {composer.slice(others, 2, 0, 1),
              composer.add("Where", {isZero, composer.scalar(1, type), pivot},
                           {}, 9)});
  step.rest = composer.add(
      "Sub",
      {composer.slice(others, 2, 1, size),
       composer.add("Mul", {quotient, composer.slice(row, 2, 1, size)})});
  return step;
}

void composeDet(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  Shape shape = op.inShape(0);
  requireOp(op,
            shape.size() >= 2 && shape.back() == shape[shape.size() - 2] &&
                shape.back() > 0,
            "shape {} is not one of square matrices", support::toString(shape));
  std::int64_t size = shape.back();
  shape.resize(shape.size() - 2);
  TensorId rest = composer.reshape(op.inputs[0],
                                   {support::elementCount(shape), size, size});
  TensorId product;
  while (!rest.empty()) {
    Step step = eliminate(composer, rest);
    product = product.empty() ? step.factor
                              : composer.add("Mul", {product, step.factor});
    rest = step.rest;
  }
  composer.setOutput(0, composer.reshape(product, shape));
}

} // namespace

std::vector<OpRule> detRules() {
  return {{.domain = "ai.onnx",
           .type = "Det",
           .schema = {{11}, types::floats()},
           .compose = composeDet}};
}

} // namespace popart
