#include "compiler/Lift.hpp"

#include "compiler/Coverage.hpp"
#include "compiler/Windows.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::Piece;
using internal::ProgramPtr;
using internal::TensorView;
using internal::VariableId;

bool isContiguous(const Piece &piece) {
  return compiler::isContiguous(
      {{}, piece.offset, piece.extents, piece.strides});
}

// The first `count` elements of a contiguous piece; the rest stays in it.
Piece cutFront(Piece &piece, std::int64_t count) {
  const std::int64_t rest = support::elementCount(piece.extents) - count;
  Piece front = {piece.variable, piece.offset, {count}, {1}};
  piece = {piece.variable, piece.offset + count, {rest}, {1}};
  return front;
}

struct PiecePair {
  Piece source;
  Piece target;
};

// The copy as pairs of pieces of equal extents that can be copied one after
// another; empty when it has to go through a packed value.
std::vector<PiecePair> pairPieces(const TensorView &source,
                                  const TensorView &target) {
  std::vector<PiecePair> pairs;
  std::vector<Piece> from(source.pieces.rbegin(), source.pieces.rend());
  std::vector<Piece> to(target.pieces.rbegin(), target.pieces.rend());
  while (!from.empty() && !to.empty()) {
    PiecePair pair = {from.back(), to.back()};
    const std::int64_t count =
        std::min(support::elementCount(pair.source.extents),
                 support::elementCount(pair.target.extents));
    for (auto [pieces, piece] :
         {std::pair(&from, &pair.source), std::pair(&to, &pair.target)}) {
      if (support::elementCount(piece->extents) == count) {
        pieces->pop_back();
      } else if (isContiguous(*piece)) {
        *piece = cutFront(pieces->back(), count);
      } else {
        return {};
      }
    }
    Window a{{}, 0, pair.source.extents, pair.source.strides};
    Window b{{}, 0, pair.target.extents, pair.target.strides};
    if (!makeShapesEqual(a, b)) {
      return {};
    }
    pair.source.extents = a.shape, pair.source.strides = a.strides;
    pair.target.extents = b.shape, pair.target.strides = b.strides;
    pairs.push_back(std::move(pair));
  }
  // A later pair must not read what an earlier one wrote.
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (pairs[i].source.variable == pairs[j].target.variable) {
        return {};
      }
    }
  }
  return pairs;
}

class Lifter {
public:
  Lifter(const internal::GraphData &graph,
         const std::vector<bool> &isPersistent)
      : graph_(graph), isPersistent_(isPersistent),
        current_(graph.variables.size()), isBound_(graph.variables.size()) {}

  ValueProgram lift(const ProgramPtr &program) {
    region_ = &program_.body;
    visit(program);
    for (Binding &binding : program_.bindings) {
      binding.exit = current_[binding.variable.index()];
    }
    return std::move(program_);
  }

private:
  void visit(const ProgramPtr &program) {
    if (program != nullptr) {
      const ProgramPtr outer = std::exchange(visited_, program);
      std::visit([&](const auto &op) { visit(*program, op); }, program->op);
      visited_ = outer;
    }
  }
  void visit(const internal::ProgramNode &node,
             const internal::SequenceNode &op);
  void visit(const internal::ProgramNode &node,
             const internal::ExecuteNode &op);
  void visit(const internal::ProgramNode &node, const internal::CopyNode &op);
  void visit(const internal::ProgramNode &node,
             const internal::StreamInNode &op);
  void visit(const internal::ProgramNode &node,
             const internal::StreamOutNode &op);
  void visit(const internal::ProgramNode &node, const internal::RepeatNode &op);
  void visit(const internal::ProgramNode &, const internal::WriteUndefNode &) {}
  void visit(const internal::ProgramNode &, const internal::SyncNode &) {}
  void visit(const internal::ProgramNode &, const internal::BlockNode &op) {
    visit(op.body);
  }
  void visit(const internal::ProgramNode &, const internal::CallNode &op) {
    visit(graph_.functions[op.function.index()]);
  }
  void visit(const internal::ProgramNode &,
             const internal::CycleCountNode &op) {
    visit(op.body);
    addHostNode({}, &op.result);
  }
  void visit(const internal::ProgramNode &,
             const internal::PrintTensorNode &op) {
    addHostNode({&op.view}, nullptr);
  }
  void visit(const internal::ProgramNode &, const internal::AbortNode &op) {
    addHostNode({&op.condition}, nullptr);
  }
  void visit(const internal::ProgramNode &, const internal::ErrorNode &op) {
    addHostNode({&op.view}, nullptr);
  }
  void visit(const internal::ProgramNode &,
             const internal::RemoteReadNode &op) {
    addHostNode({&op.offsets}, &op.destination);
  }
  void visit(const internal::ProgramNode &,
             const internal::RemoteWriteNode &op) {
    addHostNode({&op.offsets, &op.source}, nullptr);
  }
  // Control that depends on data is cut off before (ControlTree.hpp), replicas
  // are made single (ExpandReplicas.hpp).
  template <typename Op> void visit(const internal::ProgramNode &, const Op &) {
    support::requireInternal(false, "a program that cannot be lifted");
  }
  void lift(const internal::VertexGroup &group);
  void liftVertices(const internal::ComputeSetData &computeSet,
                    const internal::ExecuteNode &op);
  void addHostNode(std::vector<const TensorView *> inputs,
                   const TensorView *output);

  ValueId addValue(support::DataType type, support::Shape shape,
                   std::string name, VariableId variable = {});
  ValueId addVersion(VariableId variable);
  // The value of a variable now, or an invalid id when it has none yet.
  ValueId currentOf(VariableId variable);
  // The current version, which must exist.
  Window windowOnto(const Piece &piece);
  // A new version, changed in the piece.
  Definition definitionOf(const Piece &piece);

  bool isDirect(const TensorView &view, Piece &piece) const;
  // One contiguous window.
  Window readContiguous(const TensorView &view, const std::string &name);
  Window read(const TensorView &view, const std::string &name);
  Window pack(const TensorView &view, const std::string &name);
  void unpack(const Window &packed, const TensorView &view,
              const std::string &name);
  void addCopy(Window source, Definition target, const std::string &name);

  const internal::GraphData &graph_;
  const std::vector<bool> &isPersistent_;
  ValueProgram program_;
  Region *region_ = nullptr;
  std::vector<ValueId> current_; // by variable
  std::vector<bool> isBound_;    // by variable
  ProgramPtr visited_;
};

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
  if (isPersistent_[variable.index()] && !isBound_[variable.index()]) {
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
  if (isWholeInAnyOrder(result.window, program_[version])) {
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

void Lifter::visit(const internal::ProgramNode &,
                   const internal::ExecuteNode &op) {
  const internal::ComputeSetData &computeSet =
      graph_.computeSets[op.computeSet.index()];
  for (const internal::VertexGroup &group : computeSet.groups) {
    lift(group);
  }
  if (!computeSet.vertices.empty() || internal::isPresent(op.exitStatus)) {
    liftVertices(computeSet, op);
  }
}

// One node for all vertices. They see whole variables, because their fields
// hold addresses; shards know what they touch of them.
void Lifter::liftVertices(const internal::ComputeSetData &computeSet,
                          const internal::ExecuteNode &op) {
  std::map<VariableId, bool> isWritten; // by variable
  for (internal::VertexId vertex : computeSet.vertices) {
    internal::forEachEdge(graph_.vertices, vertex,
                          [&](const internal::VertexField &field,
                              const internal::FieldSlot &slot) {
                            const auto add = [&](VariableId variable) {
                              bool &written = isWritten[variable];
                              written = written || field.isWritten();
                            };
                            if (slot.kind == internal::FieldSlot::Kind::Run) {
                              add(VariableId(slot.index));
                            } else {
                              for (const Piece &piece :
                                   graph_.vertices.views[slot.index].pieces) {
                                add(piece.variable);
                              }
                            }
                          });
  }
  Node node;
  node.op = NodeOp::Vertices;
  node.computeSet = op.computeSet;
  node.name = computeSet.debugPath;
  for (const auto &[variable, written] : isWritten) {
    const ValueId current = currentOf(variable);
    if (current.isValid()) {
      node.inputs.push_back(wholeWindow(current, program_[current]));
    }
  }
  for (const auto &[variable, written] : isWritten) {
    if (written) {
      const ValueId base = currentOf(variable);
      const ValueId version = addVersion(variable);
      node.outputs.push_back({wholeWindow(version, program_[version]), base});
      current_[variable.index()] = version;
    }
  }
  Window status;
  if (internal::isPresent(op.exitStatus)) {
    const ValueId value =
        addValue(op.exitStatus.type, op.exitStatus.shape, computeSet.debugPath);
    status = wholeWindow(value, program_[value]);
    node.outputs.push_back({status, {}});
    node.hasExitStatus = true;
  }
  region_->nodes.push_back(std::move(node));
  if (status.value.isValid()) {
    unpack(status, op.exitStatus, computeSet.debugPath);
  }
}

void Lifter::addHostNode(std::vector<const TensorView *> inputs,
                         const TensorView *output) {
  Node node;
  node.op = NodeOp::Host;
  node.program = visited_;
  node.name = visited_->debugPath;
  for (const TensorView *input : inputs) {
    if (internal::isPresent(*input)) {
      node.inputs.push_back(readContiguous(*input, node.name));
    }
  }
  if (output == nullptr) {
    region_->nodes.push_back(std::move(node));
    return;
  }
  const std::string name = node.name;
  const ValueId value = addValue(output->type, output->shape, name);
  const Window whole = wholeWindow(value, program_[value]);
  node.outputs.push_back({whole, {}});
  region_->nodes.push_back(std::move(node));
  unpack(whole, *output, name);
}

// Outputs that are not one window, and a second output into the same variable,
// are computed into a value of their own and copied.
void Lifter::lift(const internal::VertexGroup &group) {
  if (std::all_of(group.outputs.begin(), group.outputs.end(),
                  [](const TensorView &out) { return out.elements() == 0; })) {
    return;
  }
  Node node;
  node.op = NodeOp::Kernel;
  node.kind = group.kind;
  node.attributes = group.attributes;
  node.name = group.debugPath;
  for (const TensorView &input : group.inputs) {
    node.inputs.push_back(read(input, group.debugPath));
  }
  std::vector<VariableId> defined;
  std::vector<std::pair<Window, const TensorView *>> unpackLater;
  for (const TensorView &output : group.outputs) {
    Piece piece;
    if (isDirect(output, piece) && std::find(defined.begin(), defined.end(),
                                             piece.variable) == defined.end()) {
      defined.push_back(piece.variable);
      node.outputs.push_back(definitionOf(piece));
    } else {
      const ValueId value =
          addValue(output.type, output.shape, group.debugPath);
      node.outputs.push_back({wholeWindow(value, program_[value]), {}});
      unpackLater.emplace_back(node.outputs.back().window, &output);
    }
  }
  region_->nodes.push_back(std::move(node));
  for (const auto &[window, view] : unpackLater) {
    unpack(window, *view, group.debugPath);
  }
}

void Lifter::visit(const internal::ProgramNode &node,
                   const internal::CopyNode &op) {
  std::vector<PiecePair> pairs = pairPieces(op.source, op.destination);
  if (pairs.empty() && op.source.elements() != 0) {
    unpack(pack(op.source, node.debugPath), op.destination, node.debugPath);
  }
  for (PiecePair &pair : pairs) {
    Window source = windowOnto(pair.source);
    addCopy(std::move(source), definitionOf(pair.target), node.debugPath);
  }
}

void Lifter::visit(const internal::ProgramNode &node,
                   const internal::StreamInNode &op) {
  const TensorView &view = op.destination;
  Node stream;
  stream.op = NodeOp::StreamIn;
  stream.stream = op.stream;
  stream.replica = op.replica;
  stream.name = node.debugPath;
  Piece piece;
  if (isDirect(view, piece) && isContiguous(piece)) {
    stream.outputs.push_back(definitionOf(piece));
    region_->nodes.push_back(std::move(stream));
    return;
  }
  const ValueId value = addValue(view.type, view.shape, node.debugPath);
  const Window whole = wholeWindow(value, program_[value]);
  stream.outputs.push_back({whole, {}});
  region_->nodes.push_back(std::move(stream));
  unpack(whole, view, node.debugPath);
}

void Lifter::visit(const internal::ProgramNode &node,
                   const internal::StreamOutNode &op) {
  Node stream;
  stream.op = NodeOp::StreamOut;
  stream.stream = op.stream;
  stream.name = node.debugPath;
  stream.replica = op.replica;
  stream.inputs.push_back(readContiguous(op.source, node.debugPath));
  region_->nodes.push_back(std::move(stream));
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

} // namespace

ValueProgram lift(const internal::GraphData &graph, const ProgramPtr &program,
                  const std::vector<bool> &isPersistent) {
  return Lifter(graph, isPersistent).lift(program);
}

} // namespace poplar::compiler
