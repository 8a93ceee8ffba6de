#include "compiler/passes/AssembleSums.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <kernels/Expression.hpp>
#include <support/Shape.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::ElementwiseOp;
using kernels::Expression;
using kernels::ExpressionStep;

// Adds each of its inputs once, and nothing else.
bool isSum(const Node &node) {
  if (!isKind(node, "elementwise") || node.inputs.size() < 2) {
    return false;
  }
  const Expression expression = Expression::fromAttributes(node.attributes);
  std::size_t inputs = 0;
  for (const ExpressionStep &step : expression.steps()) {
    const bool isInput = step.kind == ExpressionStep::Kind::Input;
    const bool isAdd =
        step.kind == ExpressionStep::Kind::Operator &&
        static_cast<ElementwiseOp>(step.index) == ElementwiseOp::ADD;
    if (!isInput && !isAdd) {
      return false;
    }
    inputs += isInput ? 1 : 0;
  }
  return inputs == node.inputs.size();
}

// The copy of a part into zeros that made the input, if only the sum reads it.
Node *findPart(const ValueProgram &program, const Analysis &analysis,
               const Node &sum, const Window &input) {
  Node *copy = analysis.definingNode(input.value);
  if (copy == nullptr || copy->op != NodeOp::Copy ||
      analysis.isPinned(input.value) ||
      analysis.reads(input.value).size() != 1 ||
      !isWholeInOrder(input, program[input.value]) ||
      analysis.placeOf(*copy).loop != analysis.placeOf(sum).loop) {
    return nullptr;
  }
  const ValueId base = copy->outputs[0].base;
  const Node *zeros = base.isValid() ? analysis.definingNode(base) : nullptr;
  const bool isZero = zeros != nullptr && isKind(*zeros, "fill") &&
                      zeros->attributes.getFloat("value") == 0 &&
                      isWholeInOrder(zeros->outputs[0].window, program[base]);
  return isZero ? copy : nullptr;
}

// Columns of a matrix.
struct Columns {
  std::int64_t begin, end;
};

// What the window covers if the value is a matrix with rows of `width`: columns
// side by side, of all rows. Nothing if it covers anything else.
std::optional<Columns> columnsOf(const Window &window, std::int64_t elements,
                                 std::int64_t width) {
  Window rows{}, columns{};
  for (std::size_t d = 0; d < window.shape.size(); ++d) {
    const bool isRow = window.strides[d] % width == 0;
    Window &part = isRow ? rows : columns;
    part.shape.push_back(window.shape[d]);
    part.strides.push_back(window.strides[d] / (isRow ? width : 1));
  }
  const std::int64_t count = support::elementCount(columns.shape);
  Value allRows, run;
  allRows.shape = {elements / width};
  run.shape = {count};
  const bool isRegular = window.offset + count <= width &&
                         isWholeInAnyOrder(rows, allRows) &&
                         isWholeInAnyOrder(columns, run);
  return isRegular
             ? std::optional(Columns{window.offset, window.offset + count})
             : std::nullopt;
}

// Together the parts have every element of the value, each once.
bool isPartition(const Value &value, const std::vector<Node *> &parts) {
  const std::int64_t elements = support::elementCount(value.shape);
  std::int64_t width = 1;
  for (auto extent = value.shape.rbegin(); extent != value.shape.rend();
       ++extent) {
    width *= *extent;
    std::vector<Columns> ranges;
    for (const Node *part : parts) {
      if (const auto found =
              columnsOf(part->outputs[0].window, elements, width)) {
        ranges.push_back(*found);
      }
    }
    std::sort(
        ranges.begin(), ranges.end(),
        [](const Columns &a, const Columns &b) { return a.begin < b.begin; });
    std::int64_t end = 0;
    for (const Columns &range : ranges) {
      end = range.begin == end ? range.end : elements + 1;
    }
    if (ranges.size() == parts.size() && end == width) {
      return true;
    }
  }
  return false;
}

void assemble(ValueProgram &program, const Analysis &analysis, Node &sum) {
  const Definition &output = sum.outputs[0];
  if (!isSum(sum) || output.base.isValid() ||
      !isWholeInOrder(output.window, program[output.window.value])) {
    return;
  }
  std::vector<Node *> parts;
  for (const Window &input : sum.inputs) {
    Node *part = findPart(program, analysis, sum, input);
    if (part == nullptr ||
        program[input.value].shape != program[sum.inputs[0].value].shape) {
      return;
    }
    parts.push_back(part);
  }
  if (!isPartition(program[sum.inputs[0].value], parts)) {
    return;
  }
  std::sort(parts.begin(), parts.end(), [&](const Node *a, const Node *b) {
    return analysis.placeOf(*a).position < analysis.placeOf(*b).position;
  });
  ValueId before;
  for (Node *part : parts) {
    part->outputs[0].base = before;
    before = part->outputs[0].window.value;
  }
  const auto whole =
      std::find_if(sum.inputs.begin(), sum.inputs.end(),
                   [&](const Window &input) { return input.value == before; });
  Node copy;
  copy.op = NodeOp::Copy;
  copy.inputs = {*whole};
  copy.outputs = sum.outputs;
  copy.name = sum.name;
  sum = std::move(copy);
}

} // namespace

// A sum and its parts are read by nothing that looks at another sum, so that
// what is known of those stays true.
void assembleSums(ValueProgram &program) {
  const Analysis analysis(program);
  forEachNode(program.body,
              [&](Node &node) { assemble(program, analysis, node); });
}

} // namespace poplar::compiler
