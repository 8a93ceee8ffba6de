// What the leaves of program trees become in the value IR.
#include "compiler/Lifter.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace poplar::compiler {

using internal::Piece;
using internal::ProgramPtr;
using internal::TensorView;
using internal::VariableId;

namespace {

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

} // namespace

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

} // namespace poplar::compiler
