// Operators that ask where an element is: triangles, diagonals, ranges, the
// largest of a row, sequences turned around, maxima put back where they were.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

#include <algorithm>
#include <cmath>

namespace popart {
namespace {

// Whether column - row is `k` or more; or, of the diagonal, `k` itself.
TensorId compareToDiagonal(Composer &composer, std::int64_t rows,
                           std::int64_t columns, std::int64_t k,
                           const char *comparison) {
  return composer.addFormula(
      fmt::format("b-a{}c", comparison), {"", "", ""},
      {composer.reshape(composer.counting(rows), {rows, 1}),
       composer.counting(columns),
       composer.scalar(static_cast<double>(k), DataType::INT32)},
      true);
}

void composeTrilu(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 2);
  const Shape &shape = op.inShape(0);
  requireOp(op, shape.size() >= 2, "shape {} is not one of matrices",
            support::toString(shape));
  bool isUpper = op.attributes.getInt("upper", 1) != 0;
  std::int64_t k =
      op.hasInput(1) ? static_cast<std::int64_t>(constantScalar(op, 1)) : 0;
  TensorId isKept = compareToDiagonal(composer, shape[shape.size() - 2],
                                      shape.back(), k, isUpper ? ">=" : "<=");
  TensorId zero = composer.scalar(0, op.inInfo(0).dataType());
  composer.setOutput(
      0, composer.add("Where", {isKept, op.inputs[0], zero}, {}, 9));
}

void composeEyeLike(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  const Shape &shape = op.inShape(0);
  requireOp(op, shape.size() == 2, "shape {} is not that of a matrix",
            support::toString(shape));
  DataType type = op.attributes.hasAttribute("dtype")
                      ? typeOfOnnx(op, op.attributes.getInt("dtype", 0))
                      : op.inInfo(0).dataType();
  TensorId isOne = compareToDiagonal(composer, shape[0], shape[1],
                                     op.attributes.getInt("k", 0), "==");
  composer.setOutput(0, composer.cast(isOne, type));
}

void composeRange(Composer &composer, const Op &op) {
  requireInputCount(op, 3, 3);
  double start = constantScalar(op, 0);
  double delta = constantScalar(op, 2);
  requireOp(op, delta != 0, "the step is 0");
  double count = std::ceil((constantScalar(op, 1) - start) / delta);
  std::vector<double> values;
  for (double i = 0; i < count; ++i) {
    values.push_back(start + i * delta);
  }
  composer.setOutput(
      0,
      composer.constant(values, {op.inInfo(0).dataType(),
                                 {static_cast<std::int64_t>(values.size())}}));
}

// Before ONNX 13 everything from the axis on is one row.
void composeHardmax(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  const Shape shape = op.inShape(0);
  bool isOneAxis = op.opid.version >= 13;
  Rank rank = op.inInfo(0).rank();
  std::int64_t axis = normaliseAxis(
      op, op.attributes.getInt("axis", isOneAxis || rank == 1 ? -1 : 1), rank);
  Shape rows = shape;
  if (!isOneAxis) {
    std::int64_t count = support::elementCount(
        std::span(shape).first(static_cast<std::size_t>(axis)));
    rows = {count, count == 0 ? 0 : op.inInfo(0).nelms() / count};
    axis = 1;
  }
  std::int64_t size = rows[static_cast<std::size_t>(axis)];
  Shape along(rows.size(), 1);
  along[static_cast<std::size_t>(axis)] = size;
  TensorId largest =
      composer.add("ArgMax", {composer.reshape(op.inputs[0], rows)},
                   Attributes().set("axis", axis));
  TensorId isLargest =
      composer.add("Equal",
                   {composer.cast(largest, DataType::INT32),
                    composer.reshape(composer.counting(size), along)},
                   {}, 11);
  composer.setOutput(
      0, composer.reshape(composer.cast(isLargest, op.inInfo(0).dataType()),
                          shape));
}

void composeReverseSequence(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 2);
  const Shape &shape = op.inShape(0);
  auto batch = static_cast<std::size_t>(op.attributes.getInt("batch_axis", 1));
  auto time = static_cast<std::size_t>(op.attributes.getInt("time_axis", 0));
  requireOp(op, shape.size() >= 2 && batch + time == 1,
            "batch_axis {} and time_axis {} of shape {} must be 0 and 1", batch,
            time, support::toString(shape));
  requireOp(op, op.inShape(1) == Shape{shape[batch]},
            "sequence_lens has shape {}; it must be {{{}}}",
            support::toString(op.inShape(1)), shape[batch]);
  auto along = [&](std::size_t axis) {
    Shape dims(shape.size(), 1);
    dims[axis] = shape[axis];
    return dims;
  };
  TensorId places = composer.addFormula(
      "select(b-1-a,a,a<b)", {"", ""},
      {composer.reshape(composer.counting(shape[time]), along(time)),
       composer.reshape(composer.cast(op.inputs[1], DataType::INT32),
                        along(batch))});
  composer.setOutput(
      0, composer.add(
             "GatherElements", {op.inputs[0], composer.expand(places, shape)},
             Attributes().set("axis", static_cast<Attributes::Int>(time)), 11));
}

// The shape that was pooled, as far as windows and strides tell.
Shape pooledShape(const Op &op) {
  Shape shape = op.inShape(0);
  auto kernel = op.attributes.getInts("kernel_shape", {});
  requireOp(op, shape.size() == kernel.size() + 2,
            "a window of shape {} does not fit {}", support::toString(kernel),
            support::toString(shape));
  auto count = static_cast<int>(kernel.size());
  auto strides = intsOf(op, "strides", count, 1);
  auto pads = intsOf(op, "pads", 2 * count, 0);
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    shape[d + 2] = (shape[d + 2] - 1) * strides[d] + kernel[d] - pads[d] -
                   pads[d + kernel.size()];
  }
  return shape;
}

// Places count through the whole tensor. What output_shape has more is empty.
void composeMaxUnpool(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 3);
  requireOp(op, op.inShape(0) == op.inShape(1),
            "indices of shape {} are not those of {}",
            support::toString(op.inShape(1)), support::toString(op.inShape(0)));
  Shape shape = pooledShape(op);
  std::int64_t count = op.inInfo(0).nelms();
  std::int64_t all = support::elementCount(shape);
  TensorId result = composer.add(
      "ScatterElements",
      {composer.expand(composer.scalar(0, op.inInfo(0).dataType()), {all}),
       composer.reshape(composer.cast(op.inputs[1], DataType::INT32), {count}),
       composer.reshape(op.inputs[0], {count})},
      {}, 11);
  result = composer.reshape(result, shape);
  if (op.hasInput(2)) {
    Shape wanted = constantInts(op, 2);
    Attributes::Ints pads(2 * shape.size(), 0);
    requireOp(op, wanted.size() == shape.size(),
              "output_shape {} does not fit {}", support::toString(wanted),
              support::toString(shape));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      pads[shape.size() + d] = wanted[d] - shape[d];
    }
    result = composer.add("Pad", {result}, Attributes().set("pads", pads), 2);
  }
  composer.setOutput(0, result);
}

OpRule rule(const char *type, std::vector<int> versions,
            std::span<const DataType> types,
            void (*compose)(Composer &, const Op &)) {
  return {.domain = "ai.onnx",
          .type = type,
          .schema = {std::move(versions), types},
          .compose = compose};
}

} // namespace

std::vector<OpRule> positionRules() {
  return {rule("EyeLike", {9}, types::all(), composeEyeLike),
          rule("Hardmax", {1, 11, 13}, types::floats(), composeHardmax),
          rule("MaxUnpool", {9, 11}, types::floats(), composeMaxUnpool),
          rule("Range", {11}, types::allNumbers(), composeRange),
          rule("ReverseSequence", {10}, types::all(), composeReverseSequence),
          rule("Trilu", {14}, types::all(), composeTrilu)};
}

} // namespace popart
