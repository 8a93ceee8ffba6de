#include "compiler/passes/ChooseKernels.hpp"

#include "compiler/Patterns.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"
#include "compiler/passes/CarriedLayouts.hpp"
#include "compiler/passes/LayoutForms.hpp"
#include "compiler/plans/CopyPlan.hpp"
#include "compiler/plans/ReferencePlan.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace poplar::compiler {
namespace {

using kernels::Layout;
using kernels::OperandSpec;

using Specs = std::vector<OperandSpec>; // inputs, then outputs

// Which operands are copied to be contiguous: none, those of which each element
// is there once, or repeated ones as well.
enum class Packing { None, Distinct, All };

bool mustPack(Packing packing, const Window &window) {
  return packing != Packing::None && !isContiguous(window) &&
         (packing == Packing::All || !hasBroadcast(window));
}

class KernelChooser {
public:
  explicit KernelChooser(ValueProgram &program)
      : program_(program), forms_(program, edits_) {
    for (const Binding &binding : program.bindings) {
      if (binding.isKept()) {
        kept_.insert(binding.entry);
      }
    }
  }

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
  void choose(Region &region);
  void choose(Node &node);
  void noteKept(const Node &node);
  bool chooseKernel(Node &node, const Specs &specs, Packing packing);
  bool chooseFlat(Node &node);
  bool chooseFlat(Node &node, Layout layout);
  bool planFlat(Node &node, const Specs &specs);
  Layout wantedLayout(const Node &node, std::size_t operand) const;
  void commit(Node &node, const std::vector<Layout> &layouts, Packing packing);

  OperandSpec specOf(const Window &window) const;
  Specs specsOf(const Node &node) const;
  kernels::Signature signatureOf(const Node &node, const Specs &specs) const;

  ValueProgram &program_;
  NodeEdits edits_;
  LayoutForms forms_;
  std::unordered_set<ValueId> kept_; // what stays from run to run
};

// A dimension of one element may have any stride. This gives it the one that
// it has where the rest is row-major, so that kernels know more views.
std::vector<std::int64_t> settledStrides(const Window &window) {
  std::vector<std::int64_t> strides = window.strides;
  std::int64_t next = 1;
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = window.shape[d] == 1 ? next : strides[d];
    next = strides[d] * window.shape[d];
  }
  return strides;
}

OperandSpec KernelChooser::specOf(const Window &window) const {
  const Value &value = program_[window.value];
  return {value.type, window.shape, settledStrides(window), value.layout};
}

Specs KernelChooser::specsOf(const Node &node) const {
  Specs specs;
  for (const Window &input : node.inputs) {
    specs.push_back(specOf(input));
    specs.back().found = forms_.layoutOf(input.value);
    specs.back().isKept = kept_.contains(input.value);
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
    noteKept(node);
    forms_.visit(node);
  }
}

// What follows from such values alone stays too (SplitConstants.hpp).
void KernelChooser::noteKept(const Node &node) {
  if (followsFrom(node, kept_)) {
    for (const Definition &output : node.outputs) {
      kept_.insert(output.window.value);
    }
  }
}

void KernelChooser::choose(Node &node) {
  switch (node.op) {
  case NodeOp::Loop:
    forms_.enter(node, CarriedLayouts(program_, [&](const Node &reader,
                                                    std::size_t operand) {
                         return wantedLayout(reader, operand);
                       }).of(node));
    choose(node.loop->body);
    forms_.leave();
    break;
  case NodeOp::StreamIn:
    break;
  case NodeOp::StreamOut:
  case NodeOp::Vertices:
  case NodeOp::Host:
    for (const Window &input : node.inputs) {
      forms_.needPlain(input.value);
    }
    break;
  case NodeOp::Copy: {
    // The copy itself can reorder.
    Window &input = node.inputs[0];
    const ValueId form = forms_.find(input, forms_.layoutOf(input.value));
    if (form.isValid()) {
      input = wholeWindow(form, program_[form]);
    } else {
      forms_.needPlain(input.value);
    }
    break;
  }
  case NodeOp::Kernel: {
    if (chooseFlat(node)) {
      break;
    }
    const Specs specs = specsOf(node);
    if (chooseKernel(node, specs, Packing::None) ||
        chooseKernel(node, specs, Packing::Distinct) ||
        chooseKernel(node, specs, Packing::All)) {
      break;
    }
    for (const Window &input : node.inputs) {
      forms_.needPlain(input.value);
    }
    node.plan = makeReferencePlan(*node.kind, signatureOf(node, specs));
    node.kernelName = "reference";
    break;
  }
  }
}

bool KernelChooser::chooseKernel(Node &node, const Specs &given,
                                 Packing packing) {
  Specs specs = given;
  for (OperandSpec &spec : specs) {
    if (mustPack(packing, {{}, 0, spec.shape, spec.strides})) {
      spec.strides = support::rowMajorStrides(spec.shape);
    }
  }
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
      commit(node, *layouts, packing);
      return true;
    }
  }
  return false;
}

// Of the kernel that comes first, whether or not it can plan the call.
Layout KernelChooser::wantedLayout(const Node &node,
                                   std::size_t operand) const {
  const Specs specs = specsOf(node);
  for (const kernels::KernelEntry &entry : node.kind->kernels) {
    if (const auto layouts = entry.layouts(signatureOf(node, specs))) {
      return (*layouts)[operand];
    }
  }
  return Layout::Plain;
}

// An element-wise node over values that all have a form in one layout runs over
// their bytes as they are.
bool KernelChooser::chooseFlat(Node &node) {
  return isElementwise(*node.kind) &&
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const Window &input) {
                       return chooseFlat(node, forms_.layoutOf(input.value));
                     });
}

// Lanes of padding must stay zero, so there must be none.
bool KernelChooser::chooseFlat(Node &node, Layout layout) {
  const support::Shape &shape = node.outputs[0].window.shape;
  const std::int64_t elements = support::elementCount(shape);
  if (layout == Layout::Plain || !kernels::isLayoutFor(layout, shape) ||
      kernels::storageElements(layout, shape) != elements) {
    return false;
  }
  const bool broadcasts = node.kind->name == "elementwise";
  Specs specs = specsOf(node);
  std::vector<ValueId> forms;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool isInput = i < node.inputs.size();
    const bool isScalar =
        std::all_of(specs[i].strides.begin(), specs[i].strides.end(),
                    [](std::int64_t stride) { return stride == 0; });
    if (isInput) {
      forms.push_back(isScalar ? ValueId()
                               : forms_.find(node.inputs[i], layout));
    }
    const bool isLikeResult =
        specs[i].shape == shape || (isScalar && broadcasts);
    if (isLikeResult && (isScalar || !isInput || forms.back().isValid())) {
      specs[i].shape = {elements};
      specs[i].strides = {isScalar ? 0 : 1};
    } else if (support::elementCount(specs[i].shape) != 1) {
      return false;
    }
  }
  if (!planFlat(node, specs)) {
    return false;
  }
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (forms[i].isValid()) {
      node.inputs[i] = wholeWindow(forms[i], program_[forms[i]]);
    } else {
      forms_.needPlain(node.inputs[i].value);
    }
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    if (node.outputs[o].window.shape == shape) {
      forms_.define(node, o, layout);
    }
  }
  return true;
}

bool KernelChooser::planFlat(Node &node, const Specs &specs) {
  for (const kernels::KernelEntry &entry : node.kind->kernels) {
    if (!entry.layouts(signatureOf(node, specs))) {
      continue;
    }
    if (auto plan = entry.plan(signatureOf(node, specs))) {
      node.plan = std::move(plan);
      node.kernelName = entry.name;
      return true;
    }
  }
  return false;
}

void KernelChooser::commit(Node &node, const std::vector<Layout> &layouts,
                           Packing packing) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Window &input = node.inputs[i];
    if (layouts[i] != Layout::Plain) {
      input = forms_.inLayout(node, input, layouts[i]);
      continue;
    }
    forms_.needPlain(input.value);
    if (mustPack(packing, input)) {
      Window packed;
      edits_.insertBefore(
          node, packing == Packing::All
                    ? makeDenseCopy(program_, input, node.name, packed)
                    : makePackingCopy(program_, input, node.name, packed));
      input = packed;
    }
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const Layout layout = layouts[node.inputs.size() + o];
    if (layout != Layout::Plain || mustPack(packing, node.outputs[o].window)) {
      forms_.define(node, o, layout);
    }
  }
}

} // namespace

void chooseKernels(ValueProgram &program) {
  KernelChooser(program).run();
}

} // namespace poplar::compiler
