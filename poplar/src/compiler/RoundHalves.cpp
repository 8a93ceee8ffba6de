#include "compiler/RoundHalves.hpp"

#include <kernels/Expression.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::ComputeSetData;
using internal::GraphData;
using internal::TensorView;
using internal::VariableId;
using internal::VertexGroup;
using kernels::Attributes;
using kernels::ElementwiseOp;
using kernels::Expression;
using kernels::ExpressionStep;
using support::DataType;

// As "floatControl" has it.
constexpr std::uint32_t stochasticBit = 1U << 3;

const VertexGroup *findControl(const GraphData &graph) {
  for (const ComputeSetData &set : graph.computeSets) {
    for (const VertexGroup &group : set.groups) {
      if (group.kind->name == "floatControl") {
        return &group;
      }
    }
  }
  return nullptr;
}

TensorView addVariable(GraphData &graph, DataType type,
                       const support::Shape &shape, const std::string &path) {
  internal::Variable variable;
  variable.type = type;
  variable.shape = shape;
  variable.debugPath = path;
  graph.variables.push_back(std::move(variable));
  const VariableId id(graph.variables.size() - 1);
  return {type, shape, {{id, 0, shape, support::rowMajorStrides(shape)}}};
}

// What rounding depends on: the control, seeds to draw from, the replica.
struct MachineState {
  TensorView control, seeds, replica;
};

// Where programs keep it, or new variables that are zero.
MachineState findState(GraphData &graph) {
  if (const VertexGroup *group = findControl(graph)) {
    return {group->inputs[0], group->inputs[1], group->inputs[2]};
  }
  const auto addWords = [&](const support::Shape &shape) {
    const TensorView view =
        addVariable(graph, DataType::UnsignedInt, shape, "floatControl");
    graph.variables.back().initialData.resize(
        static_cast<std::size_t>(view.elements()) * sizeof(std::uint32_t));
    return view;
  };
  MachineState state{addWords({1}), addWords({4}), addWords({})};
  graph.variables.back().isConstant = true;
  graph.variables.back().isReplicaIndex = true;
  return state;
}

// Kinds whose halves are elements of their operands, or constants, or made as
// halves: there is nothing to round.
bool movesElements(const VertexGroup &group) {
  constexpr std::string_view kinds[] = {
      "dynamicSlice", "fill",          "maxPool", "oneHot",        "random",
      "roundHalf",    "sequenceSlice", "topK",    "triangularMask"};
  const std::string_view name = group.kind->name;
  return std::find(std::begin(kinds), std::end(kinds), name) !=
             std::end(kinds) ||
         (name == "dynamicUpdate" &&
          group.attributes.getString("op") == "COPY");
}

// Operators whose result is a half when their operands are.
bool isExact(ElementwiseOp op) {
  switch (op) {
  case ElementwiseOp::ABSOLUTE:
  case ElementwiseOp::CEIL:
  case ElementwiseOp::CLAMP:
  case ElementwiseOp::FLOOR:
  case ElementwiseOp::MAXIMUM:
  case ElementwiseOp::MINIMUM:
  case ElementwiseOp::NEARBY_INT:
  case ElementwiseOp::NEGATE:
  case ElementwiseOp::RELU:
  case ElementwiseOp::ROUND:
  case ElementwiseOp::SELECT:
  case ElementwiseOp::SIGNUM:
  case ElementwiseOp::STEP:
  case ElementwiseOp::TRUNC:
    return true;
  default:
    return false;
  }
}

// Operators that halves may take beyond the largest float: their infinities are
// overflows. Others have infinities from infinite operands and from poles.
bool overflowsFloat(ElementwiseOp op) {
  switch (op) {
  case ElementwiseOp::EXPONENT:
  case ElementwiseOp::EXPONENT2:
  case ElementwiseOp::EXPONENT_MINUS_ONE:
  case ElementwiseOp::POWER:
  case ElementwiseOp::SINH:
    return true;
  default:
    return false;
  }
}

class HalfRounder {
public:
  HalfRounder(GraphData &graph, MachineState state)
      : graph_(graph), state_(std::move(state)) {}

  void run() {
    for (ComputeSetData &set : graph_.computeSets) {
      for (VertexGroup &group : std::exchange(set.groups, {})) {
        groups_ = &set.groups;
        if (!hasHalfResults(group) || movesElements(group)) {
          groups_->push_back(std::move(group));
        } else if (group.kind->name == "elementwise") {
          roundOperators(group);
        } else {
          roundResults(group);
        }
      }
    }
  }

private:
  // Of operands without elements come constants.
  static bool hasHalfResults(const VertexGroup &group) {
    const bool isConstant = std::any_of(
        group.inputs.begin(), group.inputs.end(),
        [](const TensorView &input) { return input.elements() == 0; });
    return !isConstant &&
           std::any_of(group.outputs.begin(), group.outputs.end(),
                       [](const TensorView &output) {
                         return output.type == DataType::Half &&
                                output.elements() != 0;
                       });
  }

  TensorView addVariable(DataType type, const support::Shape &shape) {
    return compiler::addVariable(graph_, type, shape, path_);
  }

  void emit(std::string_view kind, Attributes attributes,
            std::vector<TensorView> inputs, std::vector<TensorView> outputs) {
    VertexGroup group;
    group.kind = &kernels::findKind(kind);
    group.attributes = std::move(attributes);
    group.inputs = std::move(inputs);
    group.outputs = std::move(outputs);
    group.debugPath = path_;
    groups_->push_back(std::move(group));
  }

  // Begins an operation: one seed for all that it rounds.
  void begin(const VertexGroup &group) {
    path_ = group.debugPath;
    modifier_ = 0;
    words_ = addVariable(DataType::UnsignedInt, {3});
    emit("roundingControl", {}, {state_.control, state_.seeds, state_.replica},
         {state_.seeds, words_});
  }

  void round(const TensorView &from, const TensorView &to,
             bool infinityOverflows) {
    emit("roundHalf",
         {{"modifier", modifier_++},
          {"infinityOverflows", std::int64_t{infinityOverflows}}},
         {from, words_}, {to});
  }

  // The expression over those of `operands_` that it uses.
  void emitExpression(const Expression &expression, const TensorView &output) {
    std::vector<Expression> numbers(operands_.size(), Expression::constant(0));
    std::vector<TensorView> used;
    for (const ExpressionStep &step : expression.steps()) {
      const bool isNew =
          step.kind == ExpressionStep::Kind::Input &&
          numbers[step.index].steps()[0].kind == ExpressionStep::Kind::Constant;
      if (isNew) {
        numbers[step.index] =
            Expression::input(static_cast<unsigned>(used.size()));
        used.push_back(operands_[step.index]);
      }
    }
    emit("elementwise", expression.substitute(numbers).toAttributes(), used,
         {output});
  }

  // In float all along; what is updated in place is so in its copy.
  void roundResults(const VertexGroup &group) {
    begin(group);
    VertexGroup inFloat = group;
    if (inFloat.attributes.has("outType")) {
      inFloat.attributes.set("outType",
                             static_cast<std::int64_t>(DataType::Float));
    }
    if (inFloat.attributes.has("isHalf")) {
      inFloat.attributes.set("isHalf", std::int64_t{0});
    }
    for (TensorView &input : inFloat.inputs) {
      if (input.type == DataType::Half) {
        operands_ = {input};
        input = addVariable(DataType::Float, input.shape);
        emitExpression(Expression::cast(DataType::Float, Expression::input(0)),
                       input);
      }
    }
    for (TensorView &output : inFloat.outputs) {
      if (output.type == DataType::Half) {
        const auto updated =
            std::find(group.inputs.begin(), group.inputs.end(), output);
        output = updated == group.inputs.end()
                     ? addVariable(DataType::Float, output.shape)
                     : inFloat.inputs[static_cast<std::size_t>(
                           updated - group.inputs.begin())];
      }
    }
    const std::vector<TensorView> results = inFloat.outputs;
    groups_->push_back(std::move(inFloat));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (group.outputs[i].type == DataType::Half) {
        round(results[i], group.outputs[i], false);
      }
    }
  }

  // What an expression is made of.
  struct Part {
    Expression expression; // over operands_
    DataType type;
    bool isConstant;
  };

  // The operand of an operator that computes in float.
  static Expression widened(const Part &part) {
    if (part.type != DataType::Half) {
      return part.expression;
    }
    return Expression::cast(
        DataType::Float, part.isConstant
                             ? Expression::cast(DataType::Half, part.expression)
                             : part.expression);
  }

  // A half of a float expression: the result if this is the last step, else a
  // new operand.
  Part rounded(const Expression &expression, bool infinityOverflows,
               const VertexGroup &group, bool isLast) {
    const TensorView &output = group.outputs[0];
    const TensorView exact = addVariable(DataType::Float, output.shape);
    emitExpression(expression, exact);
    const TensorView half =
        isLast ? output : addVariable(DataType::Half, output.shape);
    round(exact, half, infinityOverflows);
    operands_.push_back(half);
    return {Expression::input(static_cast<unsigned>(operands_.size() - 1)),
            DataType::Half, false};
  }

  void roundOperators(const VertexGroup &group) {
    const auto expression = Expression::fromAttributes(group.attributes);
    std::vector<DataType> types;
    for (const TensorView &input : group.inputs) {
      types.push_back(input.type);
    }
    types = expression.stepTypes(types);
    begin(group);
    operands_ = group.inputs;
    std::vector<Part> stack;
    bool isStored = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const bool isLast = i + 1 == types.size();
      const std::size_t groupsBefore = groups_->size();
      step(expression.steps()[i], types[i], group, isLast, stack);
      isStored = isLast && groups_->size() != groupsBefore;
    }
    if (!isStored) {
      emitExpression(stack.back().expression, group.outputs[0]);
    }
  }

  void step(const ExpressionStep &step, DataType type, const VertexGroup &group,
            bool isLast, std::vector<Part> &stack) {
    switch (step.kind) {
    case ExpressionStep::Kind::Input:
      stack.push_back({Expression::input(step.index), type, false});
      break;
    case ExpressionStep::Kind::Constant:
      stack.push_back({Expression::constant(step.constant), type, true});
      break;
    case ExpressionStep::Kind::Cast: {
      Part &part = stack.back();
      if (type == DataType::Half && part.type != DataType::Half &&
          !part.isConstant) {
        part = rounded(Expression::cast(DataType::Float, part.expression),
                       false, group, isLast);
      } else {
        part = {Expression::cast(type, part.expression), type, part.isConstant};
      }
      break;
    }
    case ExpressionStep::Kind::Operator:
      apply(static_cast<ElementwiseOp>(step.index), type, group, isLast, stack);
      break;
    }
  }

  void apply(ElementwiseOp op, DataType type, const VertexGroup &group,
             bool isLast, std::vector<Part> &stack) {
    const auto arity = kernels::elementwiseOpInfo(op).arity;
    const std::vector<Part> parts(stack.end() - arity, stack.end());
    stack.erase(stack.end() - arity, stack.end());
    const bool isConstant = std::all_of(
        parts.begin(), parts.end(), [](const Part &p) { return p.isConstant; });
    const bool isRounded =
        type == DataType::Half && !isExact(op) && !isConstant;
    std::vector<Expression> operands;
    for (const Part &part : parts) {
      operands.push_back(isRounded ? widened(part) : part.expression);
    }
    const Expression applied = Expression::apply(op, std::move(operands));
    stack.push_back(isRounded
                        ? rounded(applied, overflowsFloat(op), group, isLast)
                        : Part{applied, type, isConstant});
  }

  GraphData &graph_;
  MachineState state_;
  std::vector<VertexGroup> *groups_ = nullptr; // of the compute set
  // Of the operation:
  std::string path_;
  TensorView words_;
  std::int64_t modifier_ = 0;
  std::vector<TensorView> operands_;
};

} // namespace

bool hasFloatControl(const GraphData &graph) {
  return findControl(graph) != nullptr;
}

void roundHalves(GraphData &graph, bool startsStochastic) {
  const MachineState state = findState(graph);
  if (startsStochastic) {
    internal::Variable &control = graph[state.control.pieces[0].variable];
    std::memcpy(control.initialData.data(), &stochasticBit,
                sizeof stochasticBit);
  }
  HalfRounder(graph, state).run();
}

} // namespace poplar::compiler
