// Normalisations that others make up: over the last dimensions, over any, by a
// norm; and pools of norms.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

namespace popart {
namespace {

// Scale or bias of a layer norm as one vector of all that is normalised.
TensorId asChannels(Composer &composer, const TensorId &id,
                    const Shape &normalised) {
  return composer.reshape(composer.expand(id, normalised),
                          {support::elementCount(normalised)});
}

// The normalised dimensions are the channels of a single group.
void composeLayerNorm(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 3);
  const TensorId &x = op.inputs[0];
  const Shape shape = op.inShape(0);
  auto axis = normaliseAxis(op, op.attributes.getInt("axis", -1),
                            static_cast<Rank>(shape.size()));
  Shape normalised(shape.begin() + axis, shape.end());
  std::int64_t channels = support::elementCount(normalised);
  DataType type = op.inInfo(0).dataType();
  TensorId bias = op.hasInput(2) ? op.inputs[2] : composer.scalar(0, type);
  auto results = composer.addSeveral(
      {"ai.graphcore", "GroupNormalization"},
      {composer.reshape(
           x, {op.inInfo(0).nelms() / std::max<std::int64_t>(channels, 1),
               channels}),
       asChannels(composer, op.inputs[1], normalised),
       asChannels(composer, bias, normalised)},
      3,
      Attributes()
          .set("num_groups", Attributes::Int{1})
          .set("epsilon", op.attributes.getFloat("epsilon", 1e-5f)));
  composer.setOutput(0, composer.reshape(results[0], shape));
  Shape statistics(shape.begin(), shape.begin() + axis);
  statistics.resize(shape.size(), 1);
  bool isStashedInFloat = op.attributes.getInt("stash_type", 1) == 1;
  for (OutIndex i : {1, 2}) {
    if (composer.isWanted(i)) {
      composer.setOutput(
          i,
          composer.cast(composer.reshape(results[static_cast<std::size_t>(i)],
                                         statistics),
                        isStashedInFloat ? DataType::FLOAT : type));
    }
  }
}

Attributes over(const Attributes::Ints &axes) {
  return Attributes().set("axes", axes);
}

void composeMeanVariance(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  Attributes::Ints axes = op.attributes.getInts("axes", {0, 2, 3});
  TensorId mean = composer.add("ReduceMean", {op.inputs[0]}, over(axes));
  TensorId centred = composer.add("Sub", {op.inputs[0], mean});
  TensorId variance = composer.add(
      "ReduceMean", {composer.add("Mul", {centred, centred})}, over(axes));
  TensorId deviation = composer.addFormula(
      "sqrt(a)+1e-9", {"select(g*0.5/sqrt(a),0,a>0)"}, {variance});
  composer.setOutput(0, composer.add("Div", {centred, deviation}));
}

// The sum over some dimensions of the p-th powers of absolute values, or the
// root of such a sum.
TensorId powers(Composer &composer, const TensorId &x, std::int64_t p) {
  return p == 1   ? composer.add("Abs", {x})
         : p == 2 ? composer.add("Mul", {x, x})
                  : composer.add("Pow",
                                 {composer.add("Abs", {x}),
                                  composer.scalar(static_cast<double>(p),
                                                  composer.type(x))},
                                 {}, 7);
}
TensorId root(Composer &composer, const TensorId &x, std::int64_t p) {
  return p == 1   ? x
         : p == 2 ? composer.add("Sqrt", {x})
                  : composer.add("Pow",
                                 {x, composer.scalar(1 / static_cast<double>(p),
                                                     composer.type(x))},
                                 {}, 7);
}

std::int64_t orderOf(const Op &op) {
  std::int64_t p = op.attributes.getInt("p", 2);
  requireOp(op, p >= 1, "p is {}; it must be 1 or more", p);
  return p;
}

TensorId norm(Composer &composer, const Op &op, const Attributes::Ints &axes) {
  std::int64_t p = orderOf(op);
  return root(composer,
              composer.add("ReduceSum", {powers(composer, op.inputs[0], p)},
                           over(axes)),
              p);
}

void composeLpNormalisation(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  std::int64_t axis =
      normaliseAxis(op, op.attributes.getInt("axis", -1), op.inInfo(0).rank());
  composer.setOutput(
      0, composer.add("Div", {op.inputs[0], norm(composer, op, {axis})}));
}

void composeGlobalLpPool(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  Attributes::Ints axes = allAxes(op.inInfo(0).rank());
  requireOp(op, axes.size() >= 2, "shape {} has no channels",
            support::toString(op.inShape(0)));
  axes.erase(axes.begin(), axes.begin() + 2);
  composer.setOutput(0, norm(composer, op, axes));
}

// Sums over windows are convolutions of each channel by ones.
void composeLpPool(Composer &composer, const Op &op) {
  requireInputCount(op, 1, 1);
  std::int64_t p = orderOf(op);
  Attributes::Ints kernel = op.attributes.getInts("kernel_shape", {});
  requireOp(op, op.inInfo(0).rank() == static_cast<Rank>(kernel.size()) + 2,
            "a window of shape {} does not fit {}", support::toString(kernel),
            support::toString(op.inShape(0)));
  Shape weights = {op.inShape(0)[1], 1};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  Attributes attributes;
  attributes.set("group", weights[0]).set("kernel_shape", kernel);
  for (const char *name : {"pads", "strides"}) {
    if (op.attributes.hasAttribute(name)) {
      attributes.set(name, op.attributes.getInts(name, {}));
    }
  }
  attributes.set("auto_pad", op.attributes.getString("auto_pad", "NOTSET"));
  TensorId ones =
      composer.expand(composer.scalar(1, op.inInfo(0).dataType()), weights);
  TensorId sums = composer.add(
      "Conv", {powers(composer, op.inputs[0], p), ones}, attributes);
  composer.setOutput(0, root(composer, sums, p));
}

OpRule rule(const char *type, std::vector<int> versions,
            void (*compose)(Composer &, const Op &)) {
  return {.domain = "ai.onnx",
          .type = type,
          .schema = {std::move(versions), types::floats()},
          .compose = compose};
}

} // namespace

std::vector<OpRule> normalisationRules() {
  return {rule("GlobalLpPool", {2}, composeGlobalLpPool),
          rule("LayerNormalization", {17}, composeLayerNorm),
          rule("LpNormalization", {1}, composeLpNormalisation),
          rule("LpPool", {2, 11}, composeLpPool),
          rule("MeanVarianceNormalization", {9, 13}, composeMeanVariance)};
}

} // namespace popart
