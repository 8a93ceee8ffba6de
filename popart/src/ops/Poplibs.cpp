// Operators that are a function of PopLibs each; most have no gradient.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <popops/NormaliseImage.hpp>
#include <popops/SequenceSlice.hpp>
#include <popops/SplineBasis.hpp>
#include <popops/SplineWeighting.hpp>
#include <popops/codelets.hpp>

#include <array>

namespace popart {
namespace {

using poplar::program::Copy;

void requireType(const Op &op, InIndex i, DataType type) {
  requireOp(op, op.inInfo(i).dataType() == type,
            "input {} is {}; it must be {}", i, op.inInfo(i).data_type(),
            TensorInfo(type, {}).data_type());
}

// Inputs: source, destination, rows to copy, and where from and to.
std::vector<TensorInfo> inferSequenceSlice(const Op &op) {
  requireInputCount(op, 5, 5);
  const TensorInfo &source = op.inInfo(0);
  const TensorInfo &destination = op.inInfo(1);
  requireOp(op,
            source.dataType() == destination.dataType() && source.rank() > 0 &&
                source.rank() == destination.rank() &&
                std::equal(source.shape().begin() + 1, source.shape().end(),
                           destination.shape().begin() + 1),
            "rows of shape {} and {} and types {} and {} must be the same",
            support::toString(source.shape()),
            support::toString(destination.shape()), source.data_type(),
            destination.data_type());
  for (InIndex i : {2, 3, 4}) {
    requireRank(op, i, 1);
    requireType(op, i, DataType::UINT32);
    requireOp(op, op.inShape(i) == op.inShape(2),
              "there are {} sequences, and {} in input {}", op.inShape(2)[0],
              op.inShape(i)[0], i);
  }
  return {destination};
}

void lowerSequenceSlice(LoweringContext &context, const Op &op) {
  popops::addCodelets(context.graph());
  poplar::Tensor result =
      context.addVariable(op.outInfo(0), op.settings.vgraphId, op.outputs[0]);
  context.program().add(
      Copy(context.in(1), result, false, context.debugPath()));
  popops::sequenceSlice(context.graph(), context.in(0), result, context.in(2),
                        context.in(3), context.in(4),
                        op.attributes.getInt("zeroUnused", 0) != 0,
                        context.program(), context.debugPath());
  context.setOut(0, result);
}

// Rows of the source get the gradients of where they went, and rows of the
// destination keep theirs where nothing arrived. A row that went to several
// places has the gradient of one of them.
void differentiateSequenceSlice(GradientBuilder &builder, const Op &op) {
  const TensorId &gradient = builder.outputGradient(0);
  const TensorId &lengths = op.inId(2);
  const TensorId &to = op.inId(4);
  if (builder.isWanted(0)) {
    builder.setGradient(0,
                        builder.add("ai.graphcore", "SequenceSlice",
                                    {gradient, builder.addFill(op.inInfo(0), 0),
                                     lengths, to, op.inId(3)}));
  }
  if (builder.isWanted(1) && op.attributes.getInt("zeroUnused", 0) == 0) {
    builder.setGradient(1, builder.add("ai.graphcore", "SequenceSlice",
                                       {builder.addFill(op.inInfo(1), 0),
                                        gradient, lengths, to, to}));
  }
}

// Inputs: image [..., 3], offsets and scales [3]. A fourth channel is zero.
std::vector<TensorInfo> inferNormalize(const Op &op) {
  requireInputCount(op, 3, 3);
  Shape shape = op.inShape(0);
  requireOp(op, !shape.empty() && shape.back() == 3,
            "the image has shape {}; its last dimension must be 3 channels",
            support::toString(shape));
  requireFloat(op, 1);
  DataType type = op.inInfo(1).dataType();
  requireType(op, 2, type);
  for (InIndex i : {1, 2}) {
    requireOp(op, op.inShape(i) == Shape{3},
              "input {} has shape {}; it must be {{3}}", i,
              support::toString(op.inShape(i)));
  }
  requireOp(op,
            op.inInfo(0).dataType() == DataType::UINT8 ||
                op.inInfo(0).dataType() == type,
            "the image is {}; it must be UINT8 or {}, as the offsets",
            op.inInfo(0).data_type(), op.inInfo(1).data_type());
  shape.back() = 4;
  return {TensorInfo(type, shape)};
}

void lowerNormalize(LoweringContext &context, const Op &op) {
  popops::addCodelets(context.graph());
  context.setOut(0, popops::normaliseImage(
                        context.graph(), context.in(0),
                        op.attributes.getFloat("scale", 1.0f), context.in(1),
                        context.in(2), context.program(), context.debugPath()));
}

// Inputs: coordinates [edges, dims], sizes of the kernel and whether its
// splines are open, both [dims].
std::vector<TensorInfo> inferBasis(const Op &op) {
  requireInputCount(op, 3, 3);
  requireFloat(op, 0);
  requireRank(op, 0, 2);
  Shape dims = {op.inShape(0)[1]};
  requireType(op, 1, DataType::INT32);
  requireType(op, 2, DataType::UINT8);
  for (InIndex i : {1, 2}) {
    requireOp(op, op.inShape(i) == dims, "input {} has shape {}; it must be {}",
              i, support::toString(op.inShape(i)), support::toString(dims));
  }
  std::int64_t degree = op.attributes.getInt("degree", 1);
  requireOp(op, 1 <= degree && degree <= 3,
            "degree is {}; it must be 1, 2 or 3", degree);
  std::int64_t splines = 1;
  for (std::int64_t d = 0; d < dims[0]; ++d) {
    splines *= degree + 1;
  }
  Shape shape = {op.inShape(0)[0], splines};
  return {TensorInfo(op.inInfo(0).dataType(), shape),
          TensorInfo(DataType::INT32, shape)};
}

void lowerBasis(LoweringContext &context, const Op &op) {
  popops::addCodelets(context.graph());
  auto [basis, index] = popops::splineBasis(
      context.graph(), context.in(0), context.in(1), context.in(2),
      static_cast<unsigned>(op.attributes.getInt("degree", 1)),
      context.program(), context.debugPath());
  context.setOut(0, basis);
  context.setOut(1, index);
}

// Inputs: x [edges, in], weights [kernel, in, out], and the two results above.
std::vector<TensorInfo> inferWeighting(const Op &op) {
  requireInputCount(op, 4, 4);
  requireFloat(op, 0);
  requireRank(op, 0, 2);
  requireRank(op, 1, 3);
  requireRank(op, 2, 2);
  requireType(op, 3, DataType::INT32);
  for (InIndex i : {1, 2}) {
    requireType(op, i, op.inInfo(0).dataType());
  }
  requireOp(op,
            op.inShape(1)[1] == op.inShape(0)[1] &&
                op.inShape(2)[0] == op.inShape(0)[0] &&
                op.inShape(3) == op.inShape(2),
            "shapes {}, {}, {} and {} do not fit",
            support::toString(op.inShape(0)), support::toString(op.inShape(1)),
            support::toString(op.inShape(2)), support::toString(op.inShape(3)));
  return {TensorInfo(op.inInfo(0).dataType(),
                     {op.inShape(0)[0], op.inShape(1)[2]})};
}

void lowerWeighting(LoweringContext &context, const Op &) {
  popops::addCodelets(context.graph());
  context.setOut(0, popops::splineWeighting(context.graph(), context.in(0),
                                            context.in(1), context.in(2),
                                            context.in(3), context.program(),
                                            context.debugPath()));
}

} // namespace

std::vector<OpRule> poplibsRules() {
  static const std::array imageTypes = {DataType::UINT8, DataType::FLOAT,
                                        DataType::FLOAT16};
  return {{.domain = "ai.graphcore",
           .type = "SequenceSlice",
           .schema = {.types = types::all(),
                      .attributes = {{"zeroUnused", Attributes::Int{0}}}},
           .infer = inferSequenceSlice,
           .differentiate = differentiateSequenceSlice,
           .lower = lowerSequenceSlice},
          {.domain = "ai.graphcore",
           .type = "NormalizeImage",
           .schema = {.types = imageTypes, .attributes = {{"scale", 1.0f}}},
           .infer = inferNormalize,
           .lower = lowerNormalize},
          {.domain = "ai.graphcore",
           .type = "SplineBasis",
           .schema = {.types = types::floats(),
                      .attributes = {{"degree", Attributes::Int{1}, true}},
                      .outputs = 2},
           .infer = inferBasis,
           .lower = lowerBasis},
          {.domain = "ai.graphcore",
           .type = "SplineWeighting",
           .schema = {.types = types::floats()},
           .infer = inferWeighting,
           .lower = lowerWeighting}};
}

} // namespace popart
