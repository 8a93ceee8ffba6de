// The loss of connectionist temporal classification, and the search for the
// likeliest labels.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/graph.hpp>

namespace popart {
namespace {

// Inputs: log probabilities [steps, samples, classes], labels [samples, most],
// numbers of steps and of labels, both [samples].
constexpr InIndex labelsInput = 1;
constexpr InIndex stepsInput = 2;
constexpr InIndex countsInput = 3;

// Behind the loss: its gradient by the log probabilities, sample by sample.
constexpr OutIndex gradientOutput = 1;

DataType resultType(const Op &op) {
  std::string name = op.attributes.getString("outDataType", "UNDEFINED");
  if (name == "UNDEFINED") {
    return op.inInfo(0).dataType();
  }
  requireOp(op, name == "FLOAT" || name == "FLOAT16",
            "outDataType is {}; UNDEFINED, FLOAT and FLOAT16 are allowed",
            name);
  return name == "FLOAT" ? DataType::FLOAT : DataType::FLOAT16;
}

void requireCounts(const Op &op, InIndex i, const Shape &shape) {
  DataType type = op.inInfo(i).dataType();
  requireOp(op, type == DataType::UINT32 || type == DataType::INT32,
            "input {} is {}; it must be UINT32", i, op.inInfo(i).data_type());
  requireOp(op, op.inShape(i) == shape, "input {} has shape {}; it must be {}",
            i, support::toString(op.inShape(i)), support::toString(shape));
}

void checkProbabilities(const Op &op) {
  requireFloat(op, 0);
  requireRank(op, 0, 3);
  std::int64_t blank = op.attributes.getInt("blank", 0);
  requireOp(op, 0 <= blank && blank < op.inShape(0)[2],
            "blank is {}; there are classes 0 to {}", blank,
            op.inShape(0)[2] - 1);
}

std::vector<TensorInfo> inferCtc(const Op &op) {
  requireInputCount(op, 4, 4);
  checkProbabilities(op);
  requireRank(op, labelsInput, 2);
  Shape samples = {op.inShape(0)[1]};
  requireCounts(op, labelsInput, {samples[0], op.inShape(labelsInput)[1]});
  requireCounts(op, stepsInput, samples);
  requireCounts(op, countsInput, samples);
  DataType type = resultType(op);
  return {TensorInfo(type, reductionOf(op) == ReductionType::NoReduction
                               ? samples
                               : Shape{}),
          TensorInfo(type, op.inShape(0))};
}

// What the mean divides a sample's loss by, over n, its number of labels.
std::string divisorOf(const Op &op) {
  return fmt::format("(max(n,1)*{})", op.inShape(0)[1]);
}

void differentiateCtc(GradientBuilder &builder, const Op &op) {
  std::int64_t samples = op.inShape(0)[1];
  TensorId g = builder.outputGradient(0);
  if (reductionOf(op) == ReductionType::NoReduction) {
    g = builder.addReshape(g, {samples, 1});
  }
  std::string share = "d*g";
  std::string names = "d,g";
  std::vector<TensorId> inputs = {op.outputs[gradientOutput], g};
  if (reductionOf(op) == ReductionType::Mean) {
    share += "/" + divisorOf(op);
    names += ",n";
    TensorId counts =
        builder.add("ai.onnx", "Cast", {op.inputs[countsInput]},
                    Attributes().set("to", op.outInfo(0).data_type()));
    inputs.push_back(builder.addReshape(counts, {samples, 1}));
  }
  TensorId gradient =
      builder.addElementwise(share, names, inputs, op.inShape(0));
  if (op.outInfo(0).dataType() != op.inInfo(0).dataType()) {
    gradient = builder.add("ai.onnx", "Cast", {gradient},
                           Attributes().set("to", op.inInfo(0).data_type()));
  }
  builder.setGradient(0, gradient);
}

void lowerCtc(LoweringContext &context, const Op &op) {
  bool isTrained = isRead(op, gradientOutput);
  auto outputs = context.emit(
      "ctcLoss",
      {{"blank", op.attributes.getInt("blank", 0)},
       {"isHalf", std::int64_t{resultType(op) == DataType::FLOAT16}},
       {"gradient", std::int64_t{isTrained}},
       {"includeSoftmax", std::int64_t{0}},
       {"zeroInfinity", op.attributes.getInt("zeroInfinity", 0)}},
      {context.in(0), context.in(labelsInput), context.in(stepsInput),
       context.in(countsInput)});
  poplar::Tensor loss = outputs[0];
  if (reductionOf(op) == ReductionType::Mean) {
    using kernels::Expression;
    const std::string_view names[] = {"l", "n"};
    const Expression operands[] = {
        Expression::input(0),
        Expression::cast(deviceType(resultType(op)), Expression::input(1))};
    loss = context.emit(
        Expression::parse("l/" + divisorOf(op), names).substitute(operands),
        {loss, context.in(countsInput)});
  }
  if (reductionOf(op) != ReductionType::NoReduction) {
    loss = context.emit(
        "reduce",
        {{"op", std::string("ADD")}, {"dims", Shape{0}}, {"scale", 1.0}},
        {loss})[0];
  }
  context.setOut(0, loss);
  context.setOut(gradientOutput,
                 isTrained
                     ? outputs[1]
                     : context.addConstant(op.outInfo(gradientOutput), 0));
}

// Inputs: log probabilities, numbers of steps. Outputs: log probabilities of
// the best paths, their lengths and labels.
std::vector<TensorInfo> inferSearch(const Op &op) {
  requireInputCount(op, 2, 2);
  checkProbabilities(op);
  std::int64_t steps = op.inShape(0)[0];
  std::int64_t samples = op.inShape(0)[1];
  requireCounts(op, 1, {samples});
  std::int64_t width = op.attributes.getInt("beam_width", 100);
  std::int64_t paths = op.attributes.getInt("top_paths", 1);
  requireOp(op, width > 0, "beam_width is {}; it must be 1 or more", width);
  requireOp(op, 0 < paths && paths <= width,
            "top_paths is {}; it must be from 1 to the beam_width, {}", paths,
            width);
  return {TensorInfo(op.inInfo(0).dataType(), {samples, paths}),
          TensorInfo(DataType::UINT32, {samples, paths}),
          TensorInfo(DataType::UINT32, {samples, paths, steps})};
}

void lowerSearch(LoweringContext &context, const Op &op) {
  auto outputs =
      context.emit("ctcBeamSearch",
                   {{"blank", op.attributes.getInt("blank", 0)},
                    {"beamWidth", op.attributes.getInt("beam_width", 100)},
                    {"topPaths", op.attributes.getInt("top_paths", 1)}},
                   {context.in(0), context.in(1)});
  for (OutIndex i : {0, 1, 2}) {
    context.setOut(i, outputs[static_cast<std::size_t>(i)]);
  }
}

} // namespace

std::vector<OpRule> ctcRules() {
  return {
      {.domain = "ai.graphcore",
       .type = "Ctcloss",
       .schema = {.types = types::floats(),
                  .attributes = {{"reduction", Attributes::Int{static_cast<int>(
                                                   ReductionType::Mean)}},
                                 {"blank", Attributes::Int{0}},
                                 {"outDataType",
                                  Attributes::String{"UNDEFINED"}},
                                 {"zeroInfinity", Attributes::Int{0}}}},
       .infer = inferCtc,
       .differentiate = differentiateCtc,
       .lower = lowerCtc},
      {.domain = "ai.graphcore",
       .type = "CtcBeamSearchDecoder",
       .schema = {.types = types::floats(),
                  .attributes = {{"blank", Attributes::Int{0}},
                                 {"beam_width", Attributes::Int{100}},
                                 {"top_paths", Attributes::Int{1}}},
                  .outputs = 3},
       .infer = inferSearch,
       .lower = lowerSearch}};
}

} // namespace popart
