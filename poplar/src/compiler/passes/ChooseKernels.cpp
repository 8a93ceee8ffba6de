#include "compiler/passes/ChooseKernels.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"
#include "compiler/plans/CopyPlan.hpp"
#include "compiler/plans/ReferencePlan.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::Layout;
using kernels::OperandSpec;

using Specs = std::vector<OperandSpec>; // inputs, then outputs

class KernelChooser {
public:
  explicit KernelChooser(ValueProgram &program)
      : program_(program), analysis_(program) {}

  void run() {
    choose(program_.body);
    edits_.apply(program_.body);
    forEachNode(program_.body, [&](Node &node) {
      if (node.op == NodeOp::Copy) {
        node.plan = makeCopyPlan(specOf(node.inputs[0]),
                                 specOf(node.outputs[0].window));
        node.kernelName = "copy";
      }
    });
  }

private:
  // A value that so far exists in its producer's layout only.
  struct Pending {
    Node *producer = nullptr;
    ValueId form;
    Definition plain;
  };
  using Forms = std::map<std::pair<ValueId, Layout>, ValueId>;

  void choose(Region &region);
  void choose(Node &node);
  bool chooseKernel(Node &node, const Specs &specs, bool isPacked);
  bool chooseFlat(Node &node);
  void commit(Node &node, const std::vector<Layout> &layouts, bool isPacked);

  OperandSpec specOf(const Window &window) const;
  Specs specsOf(const Node &node) const;
  kernels::Signature signatureOf(const Node &node, const Specs &specs) const;

  void needPlain(ValueId value);
  Window inLayout(const Node &reader, const Window &window, Layout layout);
  void defineInLayout(Node &node, std::size_t output, Layout layout);
  ValueId findForm(const Window &window, Layout layout) const;

  ValueProgram &program_;
  Analysis analysis_;
  NodeEdits edits_;
  Forms forms_;
  std::unordered_map<ValueId, Pending> pending_;
};

OperandSpec KernelChooser::specOf(const Window &window) const {
  const Value &value = program_[window.value];
  return {value.type, window.shape, window.strides, value.layout};
}

Specs KernelChooser::specsOf(const Node &node) const {
  Specs specs;
  for (const Window &input : node.inputs) {
    specs.push_back(specOf(input));
  }
  for (const Definition &output : node.outputs) {
    specs.push_back(specOf(output.window));
  }
  return specs;
}

kernels::Signature KernelChooser::signatureOf(const Node &node,
                                              const Specs &specs) const {
  const std::span<const OperandSpec> all = specs;
  return {node.attributes, all.first(node.inputs.size()),
          all.subspan(node.inputs.size())};
}

void KernelChooser::choose(Region &region) {
  for (Node &node : region.nodes) {
    choose(node);
  }
}

void KernelChooser::choose(Node &node) {
  switch (node.op) {
  case NodeOp::Loop: {
    // Forms made in the body do not exist after it.
    const Forms outside = forms_;
    choose(node.loop->body);
    forms_ = outside;
    break;
  }
  case NodeOp::StreamIn:
    break;
  case NodeOp::StreamOut:
  case NodeOp::Vertices:
  case NodeOp::Host:
    for (const Window &input : node.inputs) {
      needPlain(input.value);
    }
    break;
  case NodeOp::Copy: {
    Window &input = node.inputs[0];
    const auto found = pending_.find(input.value);
    if (found == pending_.end()) {
      break;
    }
    // The copy itself can reorder.
    const ValueId form =
        findForm(input, found->second.form.isValid()
                            ? program_[found->second.form].layout
                            : Layout::Plain);
    if (form.isValid()) {
      input = wholeWindow(form, program_[form]);
    } else {
      needPlain(input.value);
    }
    break;
  }
  case NodeOp::Kernel: {
    if (chooseFlat(node)) {
      break;
    }
    const Specs specs = specsOf(node);
    Specs packed = specs;
    for (OperandSpec &spec : packed) {
      const Window window{{}, 0, spec.shape, spec.strides};
      if (!isContiguous(window) && !hasBroadcast(window)) {
        spec.strides = support::rowMajorStrides(spec.shape);
      }
    }
    if (chooseKernel(node, specs, false) || chooseKernel(node, packed, true)) {
      break;
    }
    for (const Window &input : node.inputs) {
      needPlain(input.value);
    }
    node.plan = makeReferencePlan(*node.kind, signatureOf(node, specs));
    node.kernelName = "reference";
    break;
  }
  }
}

bool KernelChooser::chooseKernel(Node &node, const Specs &specs,
                                 bool isPacked) {
  for (const kernels::KernelEntry &entry : node.kind->kernels) {
    const auto layouts = entry.layouts(signatureOf(node, specs));
    if (!layouts) {
      continue;
    }
    Specs wanted = specs;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i].layout = (*layouts)[i];
      if (wanted[i].layout != Layout::Plain) {
        wanted[i].strides = support::rowMajorStrides(wanted[i].shape);
      }
    }
    if (auto plan = entry.plan(signatureOf(node, wanted))) {
      node.plan = std::move(plan);
      node.kernelName = entry.name;
      commit(node, *layouts, isPacked);
      return true;
    }
  }
  return false;
}

// An element-wise node over values that lie in one layout runs over their bytes
// as they are. Lanes of padding must stay zero, so there must be none.
bool KernelChooser::chooseFlat(Node &node) {
  if (node.kind->name != "elementwise" || node.inputs.empty()) {
    return false;
  }
  Layout layout = Layout::Plain;
  for (const Window &input : node.inputs) {
    if (const auto found = pending_.find(input.value);
        found != pending_.end()) {
      layout = program_[found->second.form].layout;
    }
  }
  const support::Shape &shape = node.outputs[0].window.shape;
  const std::int64_t elements = support::elementCount(shape);
  if (layout == Layout::Plain ||
      kernels::storageElements(layout, shape) != elements) {
    return false;
  }
  Specs specs;
  std::vector<ValueId> forms;
  for (const Window &input : node.inputs) {
    const bool isScalar =
        std::all_of(input.strides.begin(), input.strides.end(),
                    [](std::int64_t stride) { return stride == 0; });
    forms.push_back(isScalar ? ValueId() : findForm(input, layout));
    if (!isScalar && !forms.back().isValid()) {
      return false;
    }
    specs.push_back(
        {program_[input.value].type, {elements}, {isScalar ? 0 : 1}});
  }
  specs.push_back(
      {program_[node.outputs[0].window.value].type, {elements}, {1}});
  for (const kernels::KernelEntry &entry : node.kind->kernels) {
    if (!entry.layouts(signatureOf(node, specs))) {
      continue;
    }
    if (auto plan = entry.plan(signatureOf(node, specs))) {
      node.plan = std::move(plan);
      node.kernelName = entry.name;
      for (std::size_t i = 0; i < forms.size(); ++i) {
        if (forms[i].isValid()) {
          node.inputs[i] = wholeWindow(forms[i], program_[forms[i]]);
        } else {
          needPlain(node.inputs[i].value);
        }
      }
      defineInLayout(node, 0, layout);
      return true;
    }
  }
  return false;
}

void KernelChooser::commit(Node &node, const std::vector<Layout> &layouts,
                           bool isPacked) {
  const auto mustPack = [&](const Window &window) {
    return isPacked && !isContiguous(window) && !hasBroadcast(window);
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Window &input = node.inputs[i];
    if (layouts[i] != Layout::Plain) {
      input = inLayout(node, input, layouts[i]);
      continue;
    }
    needPlain(input.value);
    if (mustPack(input)) {
      Window packed;
      edits_.insertBefore(node,
                          makePackingCopy(program_, input, node.name, packed));
      input = packed;
    }
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const Layout layout = layouts[node.inputs.size() + o];
    if (layout != Layout::Plain || mustPack(node.outputs[o].window)) {
      defineInLayout(node, o, layout);
    }
  }
}

// Gives the node a value of its own to define, in the layout, and remembers how
// to make the one it defined before from it.
void KernelChooser::defineInLayout(Node &node, std::size_t output,
                                   Layout layout) {
  const Definition plain = node.outputs[output];
  const ValueId value = plain.window.value;
  const ValueId form = addValue(program_, program_[value].type,
                                plain.window.shape, program_[value].name);
  program_[form].layout = layout;
  node.outputs[output] = {wholeWindow(form, program_[form]), {}};
  if (isWholeInOrder(plain.window, program_[value]) &&
      plain.window.shape == program_[value].shape) {
    forms_[{value, layout}] = form;
  }
  pending_[value] = {&node, form, plain};
  if (analysis_.isPinned(value)) {
    needPlain(value);
  }
}

void KernelChooser::needPlain(ValueId value) {
  const auto found = pending_.find(value);
  if (found == pending_.end()) {
    return;
  }
  const Pending pending = found->second;
  pending_.erase(found);
  Window form = wholeWindow(pending.form, program_[pending.form]);
  edits_.insertAfter(
      *pending.producer,
      makeUnpackingCopy(form, pending.plain, pending.producer->name));
}

ValueId KernelChooser::findForm(const Window &window, Layout layout) const {
  const Value &value = program_[window.value];
  if (!isWholeInOrder(window, value) || window.shape != value.shape) {
    return {};
  }
  const auto found = forms_.find({window.value, layout});
  return found == forms_.end() ? ValueId() : found->second;
}

Window KernelChooser::inLayout(const Node &reader, const Window &window,
                               Layout layout) {
  ValueId form = findForm(window, layout);
  if (!form.isValid()) {
    needPlain(window.value);
    form = addValue(program_, program_[window.value].type, window.shape,
                    program_[window.value].name);
    program_[form].layout = layout;
    edits_.insertBefore(
        reader,
        makeUnpackingCopy(window, {wholeWindow(form, program_[form]), {}},
                          reader.name));
    const Value &value = program_[window.value];
    if (isWholeInOrder(window, value) && window.shape == value.shape) {
      forms_[{window.value, layout}] = form;
    }
  }
  return wholeWindow(form, program_[form]);
}

} // namespace

void chooseKernels(ValueProgram &program) {
  KernelChooser(program).run();
}

} // namespace poplar::compiler
