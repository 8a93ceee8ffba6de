// Group normalisation, and instance normalisation, which is one group for each
// channel.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

// Every channel of an instance is a group of its own.
std::int64_t groupsOf(const Op &op) {
  return meaningOf(op) == "InstanceNormalization"
             ? op.inShape(1)[0]
             : op.attributes.getInt("num_groups", 1);
}

std::vector<TensorInfo> inferGroupNorm(const Op &op) {
  requireInputCount(op, 3, 3);
  requireFloat(op, 0);
  const Shape &x = op.inShape(0);
  requireOp(op, x.size() >= 2, "shape {} needs samples and channels",
            support::toString(x));
  for (InIndex i : {1, 2}) {
    requireOp(op, op.inShape(i) == Shape{x[1]},
              "input {} has shape {}; it must be {{{}}}", i,
              support::toString(op.inShape(i)), x[1]);
  }
  std::int64_t groups = groupsOf(op);
  requireOp(op, groups > 0 && x[1] % groups == 0,
            "{} channels do not split into {} groups", x[1], groups);
  TensorInfo statistics(op.inInfo(0).dataType(), {x[0] * groups});
  return {op.inInfo(0), statistics, statistics};
}

void differentiateGroupNorm(GradientBuilder &builder, const Op &op) {
  auto gradients = builder.addAll("aspen", "GroupNormGrad",
                                  {builder.outputGradient(0), op.inputs[0],
                                   op.inputs[1], op.outputs[1], op.outputs[2]},
                                  Attributes().set("num_groups", groupsOf(op)));
  for (InIndex i : {0, 1, 2}) {
    builder.setGradient(i, gradients[static_cast<std::size_t>(i)]);
  }
}

// With groupNormStridedChannelGrouping neighbours are in different groups: the
// kinds, of which a group is a run of channels, see them in another order.
class ChannelOrder {
public:
  ChannelOrder(const LoweringContext &context, const Op &op)
      : isStrided_(context.options().groupNormStridedChannelGrouping),
        groups_(static_cast<std::size_t>(groupsOf(op))) {}

  // Of channels in dimension `dim`.
  poplar::Tensor toKind(const poplar::Tensor &tensor, unsigned dim) const {
    return reordered(tensor, dim, tensor.dim(dim) / groups_);
  }
  poplar::Tensor fromKind(const poplar::Tensor &tensor, unsigned dim) const {
    return reordered(tensor, dim, groups_);
  }

private:
  // [rows * columns] as [columns * rows].
  poplar::Tensor reordered(const poplar::Tensor &tensor, unsigned dim,
                           std::size_t rows) const {
    return isStrided_ ? tensor
                            .reshapePartial(dim, dim + 1,
                                            {rows, tensor.dim(dim) / rows})
                            .dimShufflePartial({dim, dim + 1}, {dim + 1, dim})
                            .flatten(dim, dim + 2)
                      : tensor;
  }

  bool isStrided_;
  std::size_t groups_;
};

void lowerGroupNorm(LoweringContext &context, const Op &op) {
  ChannelOrder order(context, op);
  kernels::Attributes attributes{
      {"groups", groupsOf(op)},
      {"epsilon", double{op.attributes.getFloat("epsilon", 1e-5f)}}};
  auto outputs = context.emit("groupNorm", attributes,
                              {order.toKind(context.in(0), 1),
                               order.toKind(context.in(1), 0),
                               order.toKind(context.in(2), 0)});
  context.setOut(0, order.fromKind(outputs[0], 1));
  context.setOut(1, outputs[1].flatten());
  context.setOut(2, outputs[2].flatten());
}

std::vector<TensorInfo> inferGroupNormGrad(const Op &op) {
  return {op.inInfo(0), op.inInfo(2), op.inInfo(2)};
}

void lowerGroupNormGrad(LoweringContext &context, const Op &op) {
  auto statistics = poplarShape({op.inShape(0)[0], groupsOf(op)});
  ChannelOrder order(context, op);
  auto outputs = context.emit(
      "groupNormGrad", {{"groups", groupsOf(op)}},
      {order.toKind(context.in(0), 1), order.toKind(context.in(1), 1),
       order.toKind(context.in(2), 0), context.in(3).reshape(statistics),
       context.in(4).reshape(statistics)});
  context.setOut(0, order.fromKind(outputs[0], 1));
  context.setOut(1, order.fromKind(outputs[1], 0));
  context.setOut(2, order.fromKind(outputs[2], 0));
}

} // namespace

std::vector<OpRule> groupNormRules() {
  return {{.domain = "ai.graphcore",
           .type = "GroupNormalization",
           .schema = {.attributes = {{"num_groups", Attributes::Int{1}, true},
                                     {"epsilon", 1e-5f}},
                      .outputs = 3},
           .infer = inferGroupNorm,
           .differentiate = differentiateGroupNorm,
           .lower = lowerGroupNorm},
          {.domain = "ai.onnx",
           .type = "InstanceNormalization",
           .schema = {{6}, types::floats()},
           .infer = inferGroupNorm,
           .differentiate = differentiateGroupNorm,
           .lower = lowerGroupNorm},
          {.domain = "aspen",
           .type = "GroupNormGrad",
           .infer = inferGroupNormGrad,
           .lower = lowerGroupNormGrad}};
}

} // namespace popart
