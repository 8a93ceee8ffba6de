#include "compiler/Lift.hpp"

#include "compiler/Lifter.hpp"
#include "compiler/Windows.hpp"

#include <utility>

namespace poplar::compiler {

using internal::Piece;
using internal::ProgramPtr;
using internal::TensorView;
using internal::VariableId;

bool isContiguous(const Piece &piece) {
  return isContiguous(Window{{}, piece.offset, piece.extents, piece.strides});
}

ValueId Lifter::addValue(support::DataType type, support::Shape shape,
                         std::string name, VariableId variable) {
  Value value;
  value.type = type;
  value.shape = std::move(shape);
  value.variable = variable;
  value.name = std::move(name);
  program_.values.push_back(std::move(value));
  return ValueId(program_.values.size() - 1);
}

ValueId Lifter::addVersion(VariableId variable) {
  const internal::Variable &data = graph_.variables[variable.index()];
  return addValue(data.type, data.shape, data.debugPath, variable);
}

ValueId Lifter::currentOf(VariableId variable) {
  ValueId &current = current_[variable.index()];
  if (roles_.isPersistent[variable.index()] && !isBound_[variable.index()]) {
    current = addVersion(variable);
    isBound_[variable.index()] = true;
    program_.bindings.push_back({variable, current, current});
  }
  return current;
}

Window Lifter::windowOnto(const Piece &piece) {
  const ValueId value = currentOf(piece.variable);
  support::requireInternal(value.isValid(),
                           "'{}' is read but has no value here",
                           graph_.variables[piece.variable.index()].debugPath);
  return {value, piece.offset, piece.extents, piece.strides};
}

Definition Lifter::definitionOf(const Piece &piece) {
  const ValueId base = currentOf(piece.variable);
  const ValueId version = addVersion(piece.variable);
  Definition result{{version, piece.offset, piece.extents, piece.strides},
                    base};
  if (!roles_.isPinned[piece.variable.index()] &&
      isWholeInAnyOrder(result.window, program_[version])) {
    result.base = {};
  }
  current_[piece.variable.index()] = version;
  return result;
}

// Kernels can work on the view in the variable's own storage: one affine piece
// with the view's shape, not reinterpreted.
bool Lifter::isDirect(const TensorView &view, Piece &piece) const {
  internal::AffineView affine;
  if (!toAffine(view, affine) ||
      graph_.variables[affine.variable.index()].type != view.type) {
    return false;
  }
  piece = {affine.variable, affine.offset, affine.shape, affine.strides};
  return true;
}

void Lifter::addCopy(Window source, Definition target,
                     const std::string &name) {
  Node node;
  node.op = NodeOp::Copy;
  node.inputs.push_back(std::move(source));
  node.outputs.push_back(std::move(target));
  node.name = name;
  region_->nodes.push_back(std::move(node));
}

// Copies the pieces of a view, in order, into a new row-major value.
Window Lifter::pack(const TensorView &view, const std::string &name) {
  ValueId packed = addValue(view.type, view.shape, name);
  const Window whole = wholeWindow(packed, program_[packed]);
  std::int64_t offset = 0;
  ValueId base;
  for (const Piece &piece : view.pieces) {
    if (base.isValid()) {
      packed = addValue(view.type, view.shape, name);
    }
    addCopy(windowOnto(piece),
            {{packed, offset, piece.extents,
              support::rowMajorStrides(piece.extents)},
             base},
            name);
    base = packed;
    offset += support::elementCount(piece.extents);
  }
  return {packed, 0, whole.shape, whole.strides};
}

void Lifter::unpack(const Window &packed, const TensorView &view,
                    const std::string &name) {
  std::int64_t offset = packed.offset;
  for (const Piece &piece : view.pieces) {
    addCopy({packed.value, offset, piece.extents,
             support::rowMajorStrides(piece.extents)},
            definitionOf(piece), name);
    offset += support::elementCount(piece.extents);
  }
}

Window Lifter::readContiguous(const TensorView &view, const std::string &name) {
  Piece piece;
  return isDirect(view, piece) && isContiguous(piece) ? windowOnto(piece)
                                                      : pack(view, name);
}

Window Lifter::read(const TensorView &view, const std::string &name) {
  Piece piece;
  return isDirect(view, piece) ? windowOnto(piece) : pack(view, name);
}

void Lifter::visit(const internal::ProgramNode &,
                   const internal::SequenceNode &op) {
  for (const ProgramPtr &child : op.children) {
    visit(child);
  }
}

// Every variable that the body writes is carried; those that it may read, or
// leave in part, before writing them enter it as arguments.
void Lifter::visit(const internal::ProgramNode &node,
                   const internal::RepeatNode &op) {
  if (op.count == 0 || op.body == nullptr) {
    return;
  }
  const std::vector<VariableUse> uses = findVariableUses(graph_, op.body);
  Node loopNode;
  loopNode.op = NodeOp::Loop;
  loopNode.name = node.debugPath;
  loopNode.loop = std::make_unique<Loop>();
  Loop &loop = *loopNode.loop;
  loop.count = op.count;
  std::vector<VariableId> carriedVariables;
  for (std::size_t v = 0; v < uses.size(); ++v) {
    const VariableId variable{v};
    if (uses[v].isExposed) {
      currentOf(variable); // an entry belongs before the loop
    }
    if (!uses[v].isWritten) {
      continue;
    }
    Carried carried;
    if (uses[v].isExposed || !uses[v].isCovered) {
      carried.initial = currentOf(variable);
      carried.argument = addVersion(variable);
    } else {
      currentOf(variable);
    }
    current_[v] = carried.argument;
    carriedVariables.push_back(variable);
    loop.carried.push_back(carried);
  }
  Region *outer = std::exchange(region_, &loop.body);
  visit(op.body);
  region_ = outer;
  for (std::size_t i = 0; i < loop.carried.size(); ++i) {
    ValueId &current = current_[carriedVariables[i].index()];
    loop.carried[i].next = current;
    current = addVersion(carriedVariables[i]);
    loop.carried[i].result = current;
  }
  region_->nodes.push_back(std::move(loopNode));
}

ValueProgram lift(const internal::GraphData &graph, const ProgramPtr &program,
                  const VariableRoles &roles) {
  return Lifter(graph, roles).lift(program);
}

} // namespace poplar::compiler
