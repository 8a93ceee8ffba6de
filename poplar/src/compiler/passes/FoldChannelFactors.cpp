#include "compiler/passes/FoldChannelFactors.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <kernels/Expression.hpp>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::ElementwiseOp;
using kernels::Expression;
using kernels::ExpressionStep;

// scale * y + shift, where both are expressions over the other inputs; without
// a scale, y is not part of it.
struct Affine {
  std::optional<Expression> scale;
  Expression shift;
};

Expression apply(ElementwiseOp op, const Expression &a, const Expression &b) {
  return Expression::apply(op, {a, b});
}

// What a binary operator makes of two; nothing where that is not affine in y.
std::optional<Affine> combine(ElementwiseOp op, const Affine &a,
                              const Affine &b) {
  if (!a.scale && !b.scale) {
    return Affine{{}, apply(op, a.shift, b.shift)};
  }
  switch (op) {
  case ElementwiseOp::ADD:
    if (a.scale && b.scale) {
      return std::nullopt;
    }
    return Affine{a.scale ? a.scale : b.scale, apply(op, a.shift, b.shift)};
  case ElementwiseOp::SUBTRACT:
    if (b.scale) {
      return std::nullopt;
    }
    return Affine{a.scale, apply(op, a.shift, b.shift)};
  case ElementwiseOp::MULTIPLY: {
    if (a.scale && b.scale) {
      return std::nullopt;
    }
    const Affine &with = a.scale ? a : b;
    const Expression &factor = a.scale ? b.shift : a.shift;
    return Affine{apply(op, *with.scale, factor),
                  apply(op, with.shift, factor)};
  }
  default:
    return std::nullopt;
  }
}

// The expression as an affine function of input `y`. Inputs keep their numbers.
std::optional<Affine> affineIn(const Expression &expression, std::size_t y) {
  std::vector<Affine> stack;
  for (const ExpressionStep &step : expression.steps()) {
    switch (step.kind) {
    case ExpressionStep::Kind::Input:
      stack.push_back(
          step.index == y
              ? Affine{Expression::constant(1), Expression::constant(0)}
              : Affine{{}, Expression::input(step.index)});
      break;
    case ExpressionStep::Kind::Constant:
      stack.push_back({{}, Expression::constant(step.constant)});
      break;
    case ExpressionStep::Kind::Cast:
      return std::nullopt;
    case ExpressionStep::Kind::Operator: {
      const auto op = static_cast<ElementwiseOp>(step.index);
      const unsigned arity = kernels::elementwiseOpInfo(op).arity;
      std::optional<Affine> made;
      if (arity == 1 && !stack.back().scale) {
        made = Affine{{}, Expression::apply(op, {stack.back().shift})};
      } else if (arity == 2) {
        made = combine(op, stack[stack.size() - 2], stack.back());
      }
      if (!made) {
        return std::nullopt;
      }
      stack.erase(stack.end() - arity, stack.end());
      stack.push_back(*made);
      break;
    }
    }
  }
  return stack.back().scale ? std::optional(stack.back()) : std::nullopt;
}

class ChannelFactors {
public:
  explicit ChannelFactors(ValueProgram &program)
      : program_(program), analysis_(program) {
    for (const Binding &binding : program.bindings) {
      if (binding.entry == binding.exit) {
        constants_.insert(binding.entry);
      }
    }
  }

  void run() {
    forEachNode(program_.body, [&](Node &node) {
      if (isKind(node, "elementwise")) {
        fold(node);
      }
    });
    edits_.apply(program_.body);
  }

private:
  bool isConstant(const Window &window) const {
    return constants_.contains(window.value) &&
           program_[window.value].type == support::DataType::Float;
  }

  // Whether the window has one value for each channel of an image.
  static bool isPerChannel(const Window &window) {
    for (std::size_t d = 0; d < window.shape.size(); ++d) {
      if (d != 1 && window.shape[d] != 1 && window.strides[d] != 0) {
        return false;
      }
    }
    return true;
  }

  // The convolution of input `i`, if nothing else wants its result.
  Node *convolutionOf(const Node &node, std::size_t i) const {
    const Window &read = node.inputs[i];
    Node *producer = analysis_.definingNode(read.value);
    if (producer == nullptr || !isKind(*producer, "convolution") ||
        hasActivation(*producer) || edits_.isRemoved(*producer) ||
        analysis_.isPinned(read.value) ||
        analysis_.reads(read.value).size() != 1) {
      return nullptr;
    }
    const Definition &output = producer->outputs[0];
    const Place place = analysis_.placeOf(node);
    const bool isWhole = !output.base.isValid() &&
                         isSameWindow(output.window, read) &&
                         output.window.shape == read.shape &&
                         isWholeInAnyOrder(read, program_[read.value]) &&
                         program_[read.value].type == support::DataType::Float;
    const bool isUsable =
        isWhole && analysis_.placeOf(*producer).loop == place.loop &&
        analysis_.isIntact(producer->inputs[0].value, place) &&
        std::all_of(producer->inputs.begin() + 1, producer->inputs.end(),
                    [&](const Window &input) { return isConstant(input); });
    return isUsable ? producer : nullptr;
  }

  void fold(Node &node) {
    for (std::size_t i = 0; i < node.inputs.size() && node.inputs.size() > 1;
         ++i) {
      Node *convolution = convolutionOf(node, i);
      if (convolution == nullptr || !areFactors(node, i)) {
        continue;
      }
      const auto affine =
          affineIn(Expression::fromAttributes(node.attributes), i);
      if (affine) {
        replace(node, *convolution, i, *affine);
      }
      return;
    }
  }

  bool areFactors(const Node &node, std::size_t except) const {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (i != except &&
          (!isConstant(node.inputs[i]) || !isPerChannel(node.inputs[i]))) {
        return false;
      }
    }
    return true;
  }

  // Adds a node before everything else that computes `expression` over the
  // inputs of `node`: in place of input `y` those of `own`, whose shape the
  // result has and whose dimension 0 is the channels.
  Window compute(const Expression &expression, const Node &node, std::size_t y,
                 const Window &own) {
    Node made;
    std::vector<Expression> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.push_back(
          Expression::input(static_cast<unsigned>(made.inputs.size())));
      if (i != y || usesInput(expression, y)) {
        made.inputs.push_back(i == y ? own : alongFirst(node.inputs[i], own));
      }
    }
    const ValueId value =
        addValue(program_, support::DataType::Float, own.shape, node.name);
    made.kind = node.kind;
    made.attributes = expression.substitute(inputs).toAttributes();
    made.outputs.push_back({wholeWindow(value, program_[value]), {}});
    made.name = node.name;
    const Window result = made.outputs[0].window;
    edits_.insertBefore(program_.body.nodes.front(), std::move(made));
    return result;
  }

  static bool usesInput(const Expression &expression, std::size_t input) {
    return std::any_of(expression.steps().begin(), expression.steps().end(),
                       [&](const ExpressionStep &step) {
                         return step.kind == ExpressionStep::Kind::Input &&
                                step.index == input;
                       });
  }

  // A value for each channel, repeated over `like`.
  static Window alongFirst(Window window, const Window &like) {
    const std::int64_t stride = window.strides[1];
    window.shape = like.shape;
    window.strides.assign(like.shape.size(), 0);
    window.strides[0] = stride;
    return window;
  }

  void replace(Node &node, Node &convolution, std::size_t y,
               const Affine &affine) {
    const auto own = Expression::input(static_cast<unsigned>(y));
    const Expression product =
        apply(ElementwiseOp::MULTIPLY, own, *affine.scale);
    const Window weights = convolution.inputs[1];
    const Window scaled = compute(product, node, y, weights);
    const bool hasBias = convolution.attributes.getInt("bias") != 0;
    const Window shift =
        hasBias
            ? compute(apply(ElementwiseOp::ADD, product, affine.shift), node, y,
                      convolution.inputs[2])
            : compute(affine.shift, node, y, {{}, 0, {weights.shape[0]}, {1}});
    node.kind = convolution.kind;
    node.attributes = convolution.attributes;
    node.attributes.set("bias", std::int64_t{1});
    node.inputs = {convolution.inputs[0], scaled, shift};
    edits_.remove(convolution);
  }

  ValueProgram &program_;
  Analysis analysis_;
  NodeEdits edits_;
  std::unordered_set<ValueId> constants_;
};

} // namespace

void foldChannelFactors(ValueProgram &program) {
  ChannelFactors(program).run();
}

} // namespace poplar::compiler
