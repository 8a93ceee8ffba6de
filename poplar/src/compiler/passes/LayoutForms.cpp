#include "compiler/passes/LayoutForms.hpp"

#include "compiler/Windows.hpp"

#include <utility>

namespace poplar::compiler {

using kernels::Layout;

LayoutForms::LayoutForms(ValueProgram &program, NodeEdits &edits)
    : program_(program), edits_(edits), scopes_(1),
      depths_(program.values.size()), holders_(program.values.size()) {
  const auto hold = [&](ValueId value) {
    if (value.isValid()) {
      ++holders_[value.index()];
    }
  };
  for (const Binding &binding : program.bindings) {
    hold(binding.exit);
  }
  forEachNode(program.body, [&](const Node &node) {
    for (const Definition &output : node.outputs) {
      hold(output.base);
    }
    if (node.loop != nullptr) {
      for (const Carried &carried : node.loop->carried) {
        hold(carried.initial);
        hold(carried.next);
      }
    }
  });
}

void LayoutForms::enter(Node &loop, std::vector<Layout> layouts) {
  std::vector<Carried> &carried = loop.loop->carried;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const ValueId initial = carried[i].initial;
    if (initial.isValid() && depths_[initial.index()] + 1 != scopes_.size()) {
      layouts[i] = Layout::Plain; // the form would not be the loop's own
    }
    if (layouts[i] != Layout::Plain) {
      carried[i].initial =
          inLayout(loop, wholeWindow(initial, program_[initial]), layouts[i])
              .value;
    }
  }
  scopes_.push_back({&loop, std::move(layouts), {}});
  for (std::size_t i = 0; i < carried.size(); ++i) {
    if (carried[i].argument.isValid()) {
      depths_[carried[i].argument.index()] = scopes_.size() - 1;
    }
    if (scopes_.back().carried[i] != Layout::Plain) {
      carryIn(carried[i], scopes_.back().carried[i]);
    }
  }
}

// The body sees the form; the value itself is made where it is needed.
void LayoutForms::carryIn(Carried &carried, Layout layout) {
  const ValueId value = carried.argument;
  carried.argument = addForm(value, program_[value].shape, layout);
  scopes_.back().forms[{value, layout}] = carried.argument;
  pending_[value] = {&scopes_.back().loop->loop->body.nodes.front(),
                     true,
                     carried.argument,
                     {wholeWindow(value, program_[value]), {}}};
}

void LayoutForms::visit(const Node &node) {
  const auto define = [&](ValueId value) {
    if (value.index() < depths_.size()) { // not a form
      depths_[value.index()] = scopes_.size() - 1;
    }
  };
  for (const Definition &output : node.outputs) {
    define(output.window.value);
  }
  if (node.loop != nullptr) {
    for (const Carried &carried : node.loop->carried) {
      define(carried.result);
    }
  }
}

void LayoutForms::leave() {
  Node &loop = *scopes_.back().loop;
  std::vector<Carried> &carried = loop.loop->carried;
  std::vector<ValueId> forms;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    forms.push_back(formAtEnd(carried[i], scopes_.back().carried[i]));
  }
  scopes_.pop_back();
  for (std::size_t i = 0; i < carried.size(); ++i) {
    if (forms[i].isValid()) {
      carryOut(loop, carried[i], forms[i]);
    }
  }
}

// The form that an iteration leaves of what is carried; none where that is the
// value itself.
ValueId LayoutForms::formAtEnd(const Carried &carried, Layout layout) {
  if (layout == Layout::Plain) {
    const auto found = pending_.find(carried.next);
    return found == pending_.end() ? ValueId() : found->second.form;
  }
  const Window next = wholeWindow(carried.next, program_[carried.next]);
  ValueId form = find(next, layout);
  if (!form.isValid()) {
    const Node &last = scopes_.back().loop->loop->body.nodes.back();
    needPlain(carried.next);
    form = addForm(carried.next, next.shape, layout);
    edits_.insertAfter(
        last, makeUnpackingCopy(next, {wholeWindow(form, program_[form]), {}},
                                last.name));
  }
  return form;
}

Layout LayoutForms::layoutOf(ValueId value) const {
  const auto found = pending_.find(value);
  return found == pending_.end() ? Layout::Plain
                                 : program_[found->second.form].layout;
}

bool LayoutForms::isWhole(const Window &window) const {
  const Value &value = program_[window.value];
  return isWholeInOrder(window, value) && window.shape == value.shape;
}

ValueId LayoutForms::addForm(ValueId value, const support::Shape &shape,
                             Layout layout) {
  const ValueId form =
      addValue(program_, program_[value].type, shape, program_[value].name);
  program_[form].layout = layout;
  return form;
}

ValueId LayoutForms::find(const Window &window, Layout layout) const {
  if (isWhole(window)) {
    for (const Scope &scope : scopes_) {
      const auto found = scope.forms.find({window.value, layout});
      if (found != scope.forms.end()) {
        return found->second;
      }
    }
  }
  return {};
}

void LayoutForms::needPlain(ValueId value) {
  const auto found = pending_.find(value);
  if (found == pending_.end()) {
    return;
  }
  const Pending pending = found->second;
  pending_.erase(found);
  Node copy =
      makeUnpackingCopy(wholeWindow(pending.form, program_[pending.form]),
                        pending.plain, pending.producer->name);
  if (pending.isBefore) {
    edits_.insertBefore(*pending.producer, std::move(copy));
  } else {
    edits_.insertAfter(*pending.producer, std::move(copy));
  }
}

Window LayoutForms::inLayout(const Node &reader, const Window &window,
                             Layout layout) {
  ValueId form = find(window, layout);
  if (!form.isValid()) {
    Window source = window;
    const ValueId made = find(window, layoutOf(window.value));
    if (made.isValid()) {
      source = wholeWindow(made, program_[made]);
    } else {
      needPlain(window.value);
    }
    form = addForm(window.value, window.shape, layout);
    const std::size_t depth = depths_[window.value.index()];
    const Node &before =
        depth + 1 < scopes_.size() ? *scopes_[depth + 1].loop : reader;
    edits_.insertBefore(
        before,
        makeUnpackingCopy(source, {wholeWindow(form, program_[form]), {}},
                          reader.name));
    if (isWhole(window)) {
      scopes_[depth].forms[{window.value, layout}] = form;
    }
  }
  return wholeWindow(form, program_[form]);
}

void LayoutForms::define(Node &node, std::size_t output, Layout layout) {
  const Definition plain = node.outputs[output];
  const ValueId value = plain.window.value;
  const ValueId form = addForm(value, plain.window.shape, layout);
  depths_[value.index()] = scopes_.size() - 1;
  node.outputs[output] = {wholeWindow(form, program_[form]), {}};
  if (isWhole(plain.window)) {
    scopes_.back().forms[{value, layout}] = form;
  }
  addPending(value, {&node, false, form, plain});
}

// Whoever holds on to a value wants it as it is; but a loop can carry the form
// out.
void LayoutForms::addPending(ValueId value, const Pending &pending) {
  pending_[value] = pending;
  const bool isCarried = isWhole(pending.plain.window) &&
                         isCarriedOut(value, program_[pending.form].layout);
  if (holders_[value.index()] > (isCarried ? 1 : 0)) {
    needPlain(value);
  }
}

// Whether the loop carries the value in this layout, or its body does not look
// at it again.
bool LayoutForms::isCarriedOut(ValueId value, Layout layout) const {
  const Scope &scope = scopes_.back();
  if (scope.loop == nullptr) {
    return false;
  }
  const std::vector<Carried> &carried = scope.loop->loop->carried;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    if (carried[i].next == value) {
      return !carried[i].argument.isValid() || scope.carried[i] == layout;
    }
  }
  return false;
}

// The value is made of the form after the loop, instead of in every iteration.
void LayoutForms::carryOut(Node &loop, Carried &carried, ValueId form) {
  pending_.erase(carried.next);
  const ValueId value = carried.result;
  const Layout layout = program_[form].layout;
  const ValueId result = addForm(value, program_[value].shape, layout);
  if (!carried.argument.isValid()) {
    carried.initial = {};
  }
  carried.next = form;
  carried.result = result;
  scopes_.back().forms[{value, layout}] = result;
  depths_[value.index()] = scopes_.size() - 1;
  addPending(value,
             {&loop, false, result, {wholeWindow(value, program_[value]), {}}});
}

} // namespace poplar::compiler
