// Blocks of channels as squares of the picture, and back: reshapes around a
// transposition.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

struct Rearrangement {
  Shape before;
  std::vector<unsigned> order;
  Shape after;
};

Rearrangement rearrangementOf(const Op &op) {
  requireRank(op, 0, 4);
  const Shape &x = op.inShape(0);
  std::int64_t block = op.attributes.getInt("blocksize", 0);
  requireOp(op, block > 0, "blocksize is {}", block);
  if (meaningOf(op) == "SpaceToDepth") {
    requireOp(op, x[2] % block == 0 && x[3] % block == 0,
              "{} does not divide into blocks of {}", support::toString(x),
              block);
    return {{x[0], x[1], x[2] / block, block, x[3] / block, block},
            {0, 3, 5, 1, 2, 4},
            {x[0], x[1] * block * block, x[2] / block, x[3] / block}};
  }
  std::string mode = op.attributes.getString("mode", "DCR");
  requireOp(op, mode == "DCR" || mode == "CRD", "mode {} is not DCR or CRD",
            mode);
  std::int64_t channels = x[1] / (block * block);
  requireOp(op, x[1] % (block * block) == 0,
            "{} channels do not divide into blocks of {} by {}", x[1], block,
            block);
  Shape after = {x[0], channels, x[2] * block, x[3] * block};
  if (mode == "DCR") {
    return {
        {x[0], block, block, channels, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, after};
  }
  return {
      {x[0], channels, block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, after};
}

std::vector<TensorInfo> inferRearranged(const Op &op) {
  requireInputCount(op, 1, 1);
  return {TensorInfo(op.inInfo(0).dataType(), rearrangementOf(op).after)};
}

void differentiateRearranged(GradientBuilder &builder, const Op &op) {
  Rearrangement there = rearrangementOf(op);
  Shape between;
  for (unsigned d : there.order) {
    between.push_back(there.before[d]);
  }
  std::vector<unsigned> back = inverseOrder(there.order);
  TensorId gradient = builder.add(
      "ai.onnx", "Transpose",
      {builder.addReshape(builder.outputGradient(0), between)},
      Attributes().set("perm", Attributes::Ints(back.begin(), back.end())));
  builder.setGradient(0, builder.addReshape(gradient, op.inShape(0)));
}

void lowerRearranged(LoweringContext &context, const Op &op) {
  Rearrangement there = rearrangementOf(op);
  context.setOut(0, context.in(0)
                        .reshape(poplarShape(there.before))
                        .dimShuffle(there.order)
                        .reshape(poplarShape(there.after)));
}

} // namespace

std::vector<OpRule> depthToSpaceRules() {
  return {{.domain = "ai.onnx",
           .type = "DepthToSpace",
           .schema = {{1, 11, 13}, types::all()},
           .infer = inferRearranged,
           .differentiate = differentiateRearranged,
           .lower = lowerRearranged},
          {.domain = "ai.graphcore",
           .type = "DepthToSpace",
           .schema = {.types = types::all(),
                      .attributes = {{"blocksize", Attributes::Int{1}, true},
                                     {"mode", Attributes::String{"DCR"}}}},
           .infer = inferRearranged,
           .differentiate = differentiateRearranged,
           .lower = lowerRearranged},
          {.domain = "ai.onnx",
           .type = "SpaceToDepth",
           .schema = {{1, 13}, types::all()},
           .infer = inferRearranged,
           .differentiate = differentiateRearranged,
           .lower = lowerRearranged}};
}

} // namespace popart
