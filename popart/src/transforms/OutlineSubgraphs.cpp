// Sequences of operations that occur several times become graphs that are
// called. Only the machine program has them: its code and the state of its
// vertices are there once, and tensors are copied in and out. Values are the
// same, so that the value program does without.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <transforms/ChooseOutlines.hpp>

#include <map>

namespace popart {
namespace {

// A graph that does what the first of the sequences does.
Graph &makeGraph(Ir &ir, const Graph &source, const Outline &outline) {
  Graph &callee = ir.createGraph("call_subgraph");
  std::map<TensorId, TensorId> names = {{"", ""}};
  auto nameOf = [&](const TensorId &id) {
    return names[id] = callee.id + "/" + id;
  };
  const Outline::Place &first = outline.places.front();
  for (const TensorId &id : first.inputs) {
    callee.addInput(nameOf(id), source.getTensor(id).info);
  }
  for (const Op *op : first.ops) {
    std::vector<TensorId> inputs;
    for (const TensorId &id : op->inputs) {
      if (names.count(id) == 0) { // all others are constants
        const Tensor &constant = source.getTensor(id);
        callee.addConstant(nameOf(id), constant.info, constant.data.data());
      }
      inputs.push_back(names.at(id));
    }
    std::vector<TensorId> outputs;
    for (const TensorId &id : op->outputs) {
      outputs.push_back(nameOf(id));
    }
    callee.addOp(op->clone(), inputs, outputs);
  }
  for (auto [op, output] : outline.outputs) {
    callee.markAsOutput(
        names.at(first.ops[op]->outputs[static_cast<std::size_t>(output)]));
  }
  return callee;
}

// A call in the place of the operations; what is read later keeps its name.
void replaceByCall(GraphEditor &editor, const Outline &outline,
                   const Outline::Place &place, const Graph &callee) {
  std::vector<TensorId> outputs;
  std::vector<TensorId> old;
  for (auto [op, output] : outline.outputs) {
    outputs.push_back(place.ops[op]->outputs[static_cast<std::size_t>(output)]);
    old.push_back(editor.uniqueName("outlined"));
    editor.renameTensor(outputs.back(), old.back());
  }
  editor.insertBefore(place.ops.front(), {"ai.graphcore", "Call"}, place.inputs,
                      outputs,
                      Attributes().set("callee", Attributes::Graph{callee.id}),
                      place.ops.front()->settings.copy(callee.id));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    editor.replaceReads(old[i], outputs[i]);
  }
  for (auto op = place.ops.rbegin(); op != place.ops.rend(); ++op) {
    editor.erase(**op);
  }
}

} // namespace

void outlineSubgraphs(PassContext &context) {
  if (!context.ir.sessionOptions.enableOutlining) {
    return;
  }
  GraphEditor editor(context.graph);
  for (const Outline &outline : chooseOutlines(context.ir, context.graph)) {
    const Graph &callee = makeGraph(context.ir, context.graph, outline);
    for (const Outline::Place &place : outline.places) {
      replaceByCall(editor, outline, place, callee);
    }
  }
}

} // namespace popart
