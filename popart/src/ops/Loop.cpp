// Loop and Scan: a subgraph again and again, with values that one turn hands to
// the next and values of all turns side by side. They have no gradient: for
// training, loops of a known length are written out (onnx/Unroll.hpp).
#include <ops/Bodies.hpp>
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>
#include <ops/ScanShape.hpp>

#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/tensor.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace popart {
namespace {

using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Repeat;
using poplar::program::Sequence;

constexpr InIndex tripInput = 0;
constexpr InIndex conditionInput = 1;
constexpr InIndex firstValue = 2;

// An input of one element, if it is a constant.
std::optional<double> constantOf(const Op &op, InIndex input) {
  bool isConstant =
      op.hasInput(input) && op.inTensor(input)->type == TensorType::Const;
  return isConstant ? std::optional(constantScalar(op, input)) : std::nullopt;
}

// Most turns that there can be, if the model says it. The device counts with 32
// bits; "as many as it takes" is often written as the greatest of 64.
std::optional<std::int64_t> mostTurns(const Op &op) {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  std::optional<double> trips = constantOf(op, tripInput);
  return trips
             ? std::optional(static_cast<std::int64_t>(std::min(*trips, most)))
             : std::nullopt;
}

void requireSame(const Op &op, const char *what, std::size_t index,
                 const TensorInfo &before, const TensorInfo &after) {
  requireOp(op, before == after,
            "{} {} changes from {}{} to {}{} in a turn; it must stay as it is",
            what, index, before.data_type(), support::toString(before.shape()),
            after.data_type(), support::toString(after.shape()));
}

TensorInfo withDim(const TensorInfo &info, std::int64_t axis,
                   std::int64_t size) {
  Shape shape = info.shape();
  shape.insert(shape.begin() + axis, size);
  return TensorInfo(info.dataType(), shape);
}

std::vector<TensorInfo> inferLoop(const Op &op) {
  std::vector<TensorInfo> results = outputInfos(bodyOf(op, "body"));
  auto carried = static_cast<std::size_t>(ownInputs(op) - firstValue);
  requireOp(op, results.size() > carried,
            "the body returns {} tensors, which is not a condition and {} "
            "values that the next turn takes",
            results.size(), carried);
  requireOp(op,
            results[0].dataType() == DataType::BOOL && results[0].nelms() == 1,
            "the body's first output must be the condition, one BOOL");
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < carried; ++i) {
    infos.push_back(op.inInfo(static_cast<InIndex>(i) + firstValue));
    requireSame(op, "value", i, infos.back(), results[i + 1]);
  }
  std::optional<std::int64_t> turns = mostTurns(op);
  requireOp(op, turns || results.size() == carried + 1,
            "values of every turn need a constant number of turns");
  for (std::size_t i = carried + 1; i < results.size(); ++i) {
    infos.push_back(withDim(results[i], 0, *turns));
  }
  return infos;
}

// A view of `tensor` whose first dimension is the turns.
poplar::Tensor turnsFirst(const poplar::Tensor &tensor, std::int64_t axis,
                          bool isBackward) {
  poplar::Tensor view = tensor.dimRoll(static_cast<unsigned>(axis), 0);
  return isBackward ? view.reverse(0) : view;
}

std::vector<std::size_t> withOnes(std::size_t ones, const poplar::Tensor &of,
                                  std::size_t from) {
  std::vector<std::size_t> shape(ones, 1);
  for (std::size_t d = from; d < of.rank(); ++d) {
    shape.push_back(of.dim(static_cast<unsigned>(d)));
  }
  return shape;
}

// What both loops are made of: variables, a counter and the program of a turn.
class Turns {
public:
  Turns(LoweringContext &context, const Op &op)
      : context_(context), op_(op),
        counter_(filledVariable(context, op, TensorInfo(DataType::INT32, {}),
                                0.0)) {}

  const poplar::Tensor &counter() const { return counter_; }
  Sequence &turn() { return turn_; }

  // An output that turns write one after another.
  poplar::Tensor addCollected(OutIndex output) {
    poplar::Tensor variable =
        filledVariable(context_, op_, op_.outInfo(output), 0.0);
    context_.setOut(output, variable);
    return variable;
  }
  // A value that a turn hands to the next.
  poplar::Tensor addCarried(const TensorInfo &info,
                            const poplar::Tensor &first) {
    poplar::Tensor variable =
        context_.addVariable(info, op_.settings.vgraphId, context_.debugPath());
    context_.program().add(Copy(first, variable));
    return variable;
  }
  poplar::Tensor sliceOf(const poplar::Tensor &turns) {
    poplar::Tensor slice;
    context_.into(turn_, [&] {
      slice = context_.emit("dynamicSlice", sliceAttributes(),
                            {turns.expand({0}), offset()})[0];
    });
    return slice.reshape(withOnes(0, turns, 1));
  }
  void setSlice(const poplar::Tensor &turns, const poplar::Tensor &value) {
    context_.into(turn_, [&] {
      context_.emit(
          "dynamicUpdate", updateAttributes("COPY"),
          {turns.expand({0}), value.reshape(withOnes(3, value, 0)), offset()});
    });
  }
  // The seed of a turn, which follows from that of the turn before.
  poplar::Tensor addSeed(InIndex input) {
    poplar::Tensor seed = addCarried(op_.inInfo(input), context_.in(input));
    seeds_.push_back(seed);
    return seed;
  }
  // All at once: a result may be a view of what another is written over.
  void handOver(const std::vector<poplar::Tensor> &results,
                const std::vector<poplar::Tensor> &variables) {
    std::vector<poplar::Tensor> copies;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      copies.push_back(context_.graph().clone(variables[i]));
      turn_.add(Copy(results[i].reshape(variables[i].shape()), copies[i]));
    }
    for (std::size_t i = 0; i < variables.size(); ++i) {
      turn_.add(Copy(copies[i], variables[i]));
    }
    const std::string_view names[] = {"n"};
    context_.into(turn_, [&] {
      context_.emitTo(kernels::Expression::parse("n+1", names), {counter_},
                      counter_);
      // A linear congruence of full period, by Numerical Recipes.
      for (const poplar::Tensor &seed : seeds_) {
        context_.emitTo(
            kernels::Expression::parse("n*1664525+1013904223", names), {seed},
            seed);
      }
    });
  }

private:
  poplar::Tensor offset() const { return counter_.reshape({1, 1, 1}); }

  LoweringContext &context_;
  const Op &op_;
  Sequence turn_{"turn"};
  poplar::Tensor counter_;
  std::vector<poplar::Tensor> seeds_;
};

void appendCaptured(LoweringContext &context, const Op &op, Turns &turns,
                    std::vector<poplar::Tensor> &inputs) {
  for (InIndex i = ownInputs(op); i < static_cast<InIndex>(op.inputs.size());
       ++i) {
    bool isSeed = i == op.attributes.getInt("seed", -1);
    inputs.push_back(isSeed ? turns.addSeed(i) : context.in(i));
  }
}

// While the condition holds and there are turns left.
Program repeatWhile(LoweringContext &context, const Op &op, Turns &turns,
                    const poplar::Tensor &condition) {
  Sequence ask;
  poplar::Tensor goesOn = condition;
  if (op.hasInput(tripInput)) {
    const std::string_view numbers[] = {"n", "most"};
    const std::string_view flags[] = {"a", "b"};
    context.into(ask, [&] {
      poplar::Tensor hasTurns =
          context.emit(kernels::Expression::parse("n<most", numbers),
                       {turns.counter(), context.in(tripInput).reshape({})});
      goesOn =
          context.emit(kernels::Expression::parse("logical_and(a,b)", flags),
                       {condition, hasTurns});
    });
  }
  return poplar::program::RepeatWhileTrue(ask, goesOn, turns.turn());
}

void lowerLoop(LoweringContext &context, const Op &op) {
  auto carried = static_cast<std::size_t>(ownInputs(op) - firstValue);
  Turns turns(context, op);
  TensorInfo flag(DataType::BOOL, {});
  std::vector<poplar::Tensor> variables = {turns.addCarried(
      flag, op.hasInput(conditionInput) ? context.in(conditionInput).reshape({})
                                        : context.addConstant(flag, 1.0))};
  std::vector<poplar::Tensor> collected;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    auto output = static_cast<OutIndex>(i);
    if (i < carried) {
      variables.push_back(turns.addCarried(op.outInfo(output),
                                           context.in(output + firstValue)));
      context.setOut(output, variables.back());
    } else {
      collected.push_back(turns.addCollected(output));
    }
  }
  std::vector<poplar::Tensor> inputs = {turns.counter()};
  inputs.insert(inputs.end(), variables.begin(), variables.end());
  appendCaptured(context, op, turns, inputs);
  if (mostTurns(op).value_or(1) <= 0) {
    return;
  }
  auto results = context.lowerGraph(bodyOf(op, "body"), inputs, turns.turn());
  for (std::size_t i = 0; i < collected.size(); ++i) {
    turns.setSlice(collected[i], results[1 + carried + i]);
  }
  turns.handOver(results, variables);
  auto known = op.attributes.getInt("turns", 0);
  context.program().add(
      known > 0 ? Program(Repeat(static_cast<unsigned>(known), turns.turn()))
                : repeatWhile(context, op, turns, variables[0]));
}

ScanShape shapeOf(const Op &op) {
  std::vector<TensorId> own(op.inputs.begin(),
                            op.inputs.begin() + ownInputs(op));
  try {
    return ScanShape(op.getGraph(), bodyOf(op, "body"), op.attributes, own);
  } catch (const error &e) {
    throw error("[" + op.str() + "] " + e.what());
  }
}

std::vector<TensorInfo> inferScan(const Op &op) {
  ScanShape scan = shapeOf(op);
  std::vector<TensorInfo> results = outputInfos(bodyOf(op, "body"));
  auto states = static_cast<std::size_t>(scan.states);
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i < states) {
      infos.push_back(op.inInfo(static_cast<InIndex>(i)));
      requireSame(op, "state", i, infos.back(), results[i]);
    } else {
      infos.push_back(
          withDim(results[i], scan.outputAxes[i - states], scan.turns));
    }
  }
  return infos;
}

void lowerScan(LoweringContext &context, const Op &op) {
  ScanShape scan = shapeOf(op);
  Turns turns(context, op);
  auto states = static_cast<std::size_t>(scan.states);
  std::vector<poplar::Tensor> variables;
  std::vector<poplar::Tensor> collected;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    auto output = static_cast<OutIndex>(i);
    if (i < states) {
      variables.push_back(
          turns.addCarried(op.outInfo(output), context.in(output)));
      context.setOut(output, variables.back());
    } else {
      collected.push_back(turnsFirst(turns.addCollected(output),
                                     scan.outputAxes[i - states],
                                     scan.outputDirections[i - states] != 0));
    }
  }
  if (scan.turns == 0) {
    return;
  }
  std::vector<poplar::Tensor> inputs = variables;
  for (std::size_t i = 0; i < scan.inputAxes.size(); ++i) {
    poplar::Tensor scanned = context.in(static_cast<InIndex>(states + i));
    inputs.push_back(turns.sliceOf(
        turnsFirst(scanned, scan.inputAxes[i], scan.inputDirections[i] != 0)));
  }
  appendCaptured(context, op, turns, inputs);
  auto results = context.lowerGraph(bodyOf(op, "body"), inputs, turns.turn());
  for (std::size_t i = 0; i < collected.size(); ++i) {
    turns.setSlice(collected[i], results[states + i]);
  }
  turns.handOver(results, variables);
  context.program().add(
      Repeat(static_cast<unsigned>(scan.turns), turns.turn()));
}

} // namespace

std::vector<OpRule> loopRules() {
  return {{.domain = "ai.onnx",
           .type = "Loop",
           .schema = {.versions = {1, 11, 13, 16}},
           .infer = inferLoop,
           .lower = lowerLoop},
          {.domain = "ai.onnx",
           .type = "Scan",
           .schema = {.versions = {8, 9, 11, 16}},
           .infer = inferScan,
           .lower = lowerScan}};
}

} // namespace popart
