// Operations that draw random numbers, and what gives them their seeds. An
// operation's numbers follow from its seed, which is that of the micro-batch,
// and from its modifier, which is its own (transforms/InsertSeeds.cpp): where
// it is repeated with both, they are the same.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>

#include <limits>

namespace popart {
namespace {

bool isLike(const Op &op) {
  return op.opid.type.find("Like") != std::string::npos;
}

InIndex seedOfRandom(const Op &op, bool) {
  return isLike(op) ? 1 : 0;
}

std::vector<TensorInfo> inferRandom(const Op &op) {
  InIndex seed = seedOfRandom(op, false);
  requireInputCount(op, seed, seed + 1);
  requireOp(op, !op.attributes.hasAttribute("seed"),
            "the attribute `seed' is not supported; use "
            "session::setRandomSeed instead");
  bool isAsInput = isLike(op) && !op.attributes.hasAttribute("dtype");
  DataType type = isAsInput ? op.inInfo(0).dataType()
                            : typeOfOnnx(op, op.attributes.getInt("dtype", 1));
  requireOp(op, isFloat(type),
            "numbers of type {} are wanted; they must be FLOAT or FLOAT16",
            TensorInfo(type, {}).data_type());
  return {TensorInfo(type, isLike(op) ? op.inShape(0)
                                      : op.attributes.getInts("shape", {}))};
}

void lowerRandom(LoweringContext &context, const Op &op) {
  poprand::addCodelets(context.graph());
  poplar::Tensor seed = context.in(seedOfRandom(op, false));
  auto modifier =
      static_cast<std::uint32_t>(op.attributes.getInt("seedModifier", 0));
  poplar::Tensor like =
      isLike(op) ? context.in(0)
                 : context.addVariable(op.outInfo(0), op.settings.vgraphId,
                                       op.outputs[0]);
  poplar::Type type = poplarType(op.outInfo(0).dataType());
  bool isNormal = op.opid.type.rfind("RandomNormal", 0) == 0;
  auto number = [&](const char *name, float fallback) {
    return double{op.attributes.getFloat(name, fallback)};
  };
  context.setOut(
      0, isNormal ? poprand::normal(context.graph(), &seed, modifier, like,
                                    type, number("mean", 0), number("scale", 1),
                                    context.program(), context.debugPath())
                  : poprand::uniform(context.graph(), &seed, modifier, like,
                                     type, number("low", 0), number("high", 1),
                                     context.program(), context.debugPath()));
}

// The session's seed, two words, and how many micro-batches have been drawn
// for: their seed, and the state moved on.
std::vector<TensorInfo> inferNextSeed(const Op &op) {
  requireInputCount(op, 1, 1);
  return {TensorInfo(DataType::UINT32, {2}), op.inInfo(0)};
}

InIndex nextSeedModifies(const Op &, OutIndex output) {
  return output == 1 ? 0 : -1;
}

// Micro-batches are counted over all replicas, replica by replica: a program
// that runs them in turn on one counts the same.
void lowerNextSeed(LoweringContext &context, const Op &) {
  using kernels::Expression;
  using Limits = std::numeric_limits<std::int32_t>;
  poplar::Graph &graph = context.graph();
  poprand::addCodelets(graph);
  poplar::Tensor state = context.in(0);
  poplar::Tensor key = state.slice(0, 2);
  poplar::Tensor count = state.slice(2, 3);
  // Neighbouring seeds must not be neighbouring micro-batches of one another.
  poplar::Tensor mixed =
      poprand::uniform(graph, &key, 0, key, poplar::INT, Limits::min(),
                       Limits::max(), context.program(), context.debugPath())
          .reinterpret(poplar::UNSIGNED_INT);
  std::vector<poplar::Tensor> operands = {mixed.slice(0, 1), count};
  std::string sum = "m+c";
  if (graph.getReplicationFactor() > 1) {
    poplar::Tensor replica = graph.addReplicationIndexConstant();
    graph.setTileMapping(replica, 0);
    operands.push_back(replica.reshape({1}));
    sum = fmt::format("m+c*{}+r", graph.getReplicationFactor());
  }
  const std::string_view names[] = {"m", "c", "r"};
  poplar::Tensor first = context.emit(Expression::parse(sum, names), operands);
  context.setOut(0, poplar::concat(first, mixed.slice(1, 2)));
  const std::string_view counted[] = {"c"};
  context.emitTo(Expression::parse("c+1", counted), {count}, count);
  context.setOut(1, state);
}

OpRule randomRule(const char *type) {
  return {.domain = "ai.onnx",
          .type = type,
          .schema = {.versions = {1}},
          .infer = inferRandom,
          .lower = lowerRandom,
          .seedInput = seedOfRandom};
}

} // namespace

std::vector<OpRule> randomRules() {
  return {randomRule("RandomNormal"),
          randomRule("RandomNormalLike"),
          randomRule("RandomUniform"),
          randomRule("RandomUniformLike"),
          {.domain = "aspen",
           .type = "NextSeed",
           .infer = inferNextSeed,
           .lower = lowerNextSeed,
           .modifiedInput = nextSeedModifies}};
}

} // namespace popart
