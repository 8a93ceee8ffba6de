// What turns program trees into the value IR: the state of one lift. Lift.cpp
// has values, views and loops, LiftLeaves.cpp what each leaf becomes.
#pragma once

#include "compiler/Coverage.hpp"
#include "compiler/ValueIr.hpp"

#include <poplar/internal/ProgramNode.hpp>
#include <support/Error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace poplar::compiler {

class Lifter {
public:
  Lifter(const internal::GraphData &graph, const VariableRoles &roles)
      : graph_(graph), roles_(roles), current_(graph.variables.size()),
        isBound_(graph.variables.size()) {}

  ValueProgram lift(const internal::ProgramPtr &program) {
    region_ = &program_.body;
    visit(program);
    for (Binding &binding : program_.bindings) {
      binding.exit = current_[binding.variable.index()];
    }
    return std::move(program_);
  }

private:
  void visit(const internal::ProgramPtr &program) {
    if (program != nullptr) {
      const internal::ProgramPtr outer = std::exchange(visited_, program);
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
  void addHostNode(std::vector<const internal::TensorView *> inputs,
                   const internal::TensorView *output);

  ValueId addValue(support::DataType type, support::Shape shape,
                   std::string name, internal::VariableId variable = {});
  ValueId addVersion(internal::VariableId variable);
  // The value of a variable now, or an invalid id when it has none yet.
  ValueId currentOf(internal::VariableId variable);
  // The current version, which must exist.
  Window windowOnto(const internal::Piece &piece);
  // A new version, changed in the piece.
  Definition definitionOf(const internal::Piece &piece);

  bool isDirect(const internal::TensorView &view, internal::Piece &piece) const;
  // One contiguous window.
  Window readContiguous(const internal::TensorView &view,
                        const std::string &name);
  Window read(const internal::TensorView &view, const std::string &name);
  Window pack(const internal::TensorView &view, const std::string &name);
  void unpack(const Window &packed, const internal::TensorView &view,
              const std::string &name);
  void addCopy(Window source, Definition target, const std::string &name);

  const internal::GraphData &graph_;
  const VariableRoles &roles_;
  ValueProgram program_;
  Region *region_ = nullptr;
  std::vector<ValueId> current_; // by variable
  std::vector<bool> isBound_;    // by variable
  internal::ProgramPtr visited_;
};

// The piece is one run of elements.
bool isContiguous(const internal::Piece &piece);

} // namespace poplar::compiler
