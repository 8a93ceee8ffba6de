#include "compiler/passes/FuseElementwise.hpp"

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

using kernels::Expression;
using kernels::ExpressionStep;

// What one pass over memory may still read and compute at full speed.
constexpr std::size_t maxInputs = 8;
constexpr std::size_t maxSteps = 48;

bool isElementwise(const Node &node) {
  return isKind(node, "elementwise");
}

std::size_t countUses(const Expression &expression, std::size_t input) {
  return static_cast<std::size_t>(std::count_if(
      expression.steps().begin(), expression.steps().end(),
      [&](const ExpressionStep &step) {
        return step.kind == ExpressionStep::Kind::Input && step.index == input;
      }));
}

// Collects the operands of the joined node, each window once.
class Operands {
public:
  Expression add(const Window &window) {
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      if (windows_[i].value == window.value &&
          windows_[i].offset == window.offset &&
          windows_[i].strides == window.strides) {
        return Expression::input(static_cast<unsigned>(i));
      }
    }
    windows_.push_back(window);
    return Expression::input(static_cast<unsigned>(windows_.size() - 1));
  }
  std::vector<Window> &windows() { return windows_; }

private:
  std::vector<Window> windows_;
};

// The producer can be computed where the consumer reads it, once per element.
bool isJoinable(const ValueProgram &program, const Analysis &analysis,
                const Node &producer, const Node &consumer, std::size_t input) {
  if (!isElementwise(producer)) {
    return false; // a loop, for example, lists its results elsewhere
  }
  const Window &read = consumer.inputs[input];
  const Definition &output = producer.outputs[0];
  return !output.base.isValid() &&
         isWholeInAnyOrder(output.window, program[read.value]) &&
         !analysis.isPinned(read.value) &&
         analysis.reads(read.value).size() == 1 && !hasBroadcast(read) &&
         analysis.placeOf(producer).loop == analysis.placeOf(consumer).loop &&
         countUses(Expression::fromAttributes(consumer.attributes), input) == 1;
}

// Rewrites the consumer; returns false and leaves it alone when the result
// would be too large or reads what is gone.
bool join(const Analysis &analysis, const Node &producer, Node &consumer,
          std::size_t input) {
  const Place place = analysis.placeOf(consumer);
  Operands operands;
  std::vector<Expression> replacements;
  for (std::size_t i = 0; i < consumer.inputs.size(); ++i) {
    if (i != input) {
      replacements.push_back(operands.add(consumer.inputs[i]));
      continue;
    }
    std::vector<Expression> inner;
    for (const Window &read : producer.inputs) {
      const auto seen =
          seeThrough(consumer.inputs[i], producer.outputs[0].window, read);
      if (!seen || !analysis.isIntact(read.value, place)) {
        return false;
      }
      inner.push_back(operands.add(*seen));
    }
    replacements.push_back(
        Expression::fromAttributes(producer.attributes).substitute(inner));
  }
  const Expression joined =
      Expression::fromAttributes(consumer.attributes).substitute(replacements);
  if (operands.windows().size() > maxInputs ||
      joined.steps().size() > maxSteps) {
    return false;
  }
  consumer.attributes = joined.toAttributes();
  consumer.inputs = std::move(operands.windows());
  return true;
}

} // namespace

void fuseElementwise(ValueProgram &program) {
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    const Analysis analysis(program);
    NodeEdits edits;
    std::unordered_set<const Node *> touched;
    forEachNode(program.body, [&](Node &consumer) {
      if (!isElementwise(consumer) || touched.contains(&consumer)) {
        return;
      }
      for (std::size_t i = 0; i < consumer.inputs.size(); ++i) {
        Node *producer = analysis.definingNode(consumer.inputs[i].value);
        if (producer != nullptr && !touched.contains(producer) &&
            isJoinable(program, analysis, *producer, consumer, i) &&
            join(analysis, *producer, consumer, i)) {
          edits.remove(*producer);
          touched.insert({producer, &consumer});
          isChanged = true;
          return;
        }
      }
    });
    edits.apply(program.body);
  }
}

} // namespace poplar::compiler
