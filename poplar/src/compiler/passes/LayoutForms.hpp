// The forms that values have in layouts other than their own while kernels are
// chosen: who makes them, where copies between them go, and what loops carry.
#pragma once

#include "compiler/Rewrite.hpp"
#include "compiler/ValueIr.hpp"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace poplar::compiler {

// Follows the walk over the program: enter() and leave() around the body of a
// loop, visit() after each node of any kind.
class LayoutForms {
public:
  LayoutForms(ValueProgram &program, NodeEdits &edits);

  // `layouts` are those in which the body sees and leaves what is carried.
  void enter(Node &loop, std::vector<kernels::Layout> layouts);
  void leave();
  void visit(const Node &node);

  // The layout in which a value was made: Plain, unless it exists in another
  // form only.
  kernels::Layout layoutOf(ValueId value) const;

  // The form of what the window shows, if it is a whole value that has one.
  ValueId find(const Window &window, kernels::Layout layout) const;

  // Makes the value itself, after its producer, if it is not there.
  void needPlain(ValueId value);

  // What the window shows, in the layout: copied if it is not there. The copy
  // is made before the loops around `reader` that the value is older than.
  Window inLayout(const Node &reader, const Window &window,
                  kernels::Layout layout);

  // Gives the node a value of its own to define, in the layout, in place of
  // output `output`.
  void define(Node &node, std::size_t output, kernels::Layout layout);

private:
  // A value that so far exists in its producer's layout only.
  struct Pending {
    const Node *producer; // or, for what a loop carries, its body's first node
    bool isBefore;
    ValueId form;
    Definition plain;
  };
  // The body of a loop, or the program's.
  struct Scope {
    Node *loop = nullptr;
    std::vector<kernels::Layout> carried;
    std::map<std::pair<ValueId, kernels::Layout>, ValueId> forms;
  };

  ValueId addForm(ValueId value, const support::Shape &shape,
                  kernels::Layout layout);
  bool isWhole(const Window &window) const;
  void addPending(ValueId value, const Pending &pending);
  bool isCarriedOut(ValueId value, kernels::Layout layout) const;
  void carryIn(Carried &carried, kernels::Layout layout);
  ValueId formAtEnd(const Carried &carried, kernels::Layout layout);
  void carryOut(Node &loop, Carried &carried, ValueId form);

  ValueProgram &program_;
  NodeEdits &edits_;
  std::vector<Scope> scopes_;
  std::unordered_map<ValueId, Pending> pending_;
  // By value: the scope of its definition, and how many bindings, loops and
  // later versions hold on to it.
  std::vector<std::size_t> depths_;
  std::vector<unsigned> holders_;
};

} // namespace poplar::compiler
