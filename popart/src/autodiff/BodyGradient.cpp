// A copy of the subgraph, with its backward pass after it.
#include <autodiff/BodyGradient.hpp>

#include <autodiff/Backward.hpp>
#include <popart/ir.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>

namespace popart {
namespace {

// Operations that no output depends on, last first.
void eraseUnused(Graph &graph) {
  GraphEditor editor(graph);
  std::vector<Op *> ops;
  for (const auto &op : graph.getOps()) {
    ops.push_back(op.get());
  }
  const auto &results = graph.getOutputIds();
  for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
    bool isUsed = std::any_of(
        (*it)->outputs.begin(), (*it)->outputs.end(), [&](const TensorId &id) {
          return !graph.getTensor(id).consumers.empty() ||
                 std::find(results.begin(), results.end(), id) != results.end();
        });
    if (!isUsed) {
      editor.erase(**it);
    }
  }
}

TensorId addZeros(Graph &graph, const TensorInfo &info) {
  return graph.addOp(
      {"aspen", "Fill"}, {}, 1,
      Attributes()
          .set("type", static_cast<Attributes::Int>(info.dataType()))
          .set("shape", info.shape()),
      {})[0];
}

} // namespace

Graph &differentiateBody(const Graph &body, const std::vector<bool> &arrives,
                         const std::vector<bool> &wanted) {
  Graph &graph = body.getIr().createGraph(body.id + "_gradient");
  GraphEditor(graph).copyFrom(body);
  std::vector<TensorId> results = GraphEditor(graph).takeOutputs();
  std::set<TensorId> leaves;
  std::vector<TensorId> inputs = graph.getInputIds();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) {
      leaves.insert(inputs[i]);
    }
  }
  // The operation that runs the graph has its place.
  Backward backward(graph, leaves, unusedPipelineStage, unusedExecutionPhase);
  for (std::size_t i = 0; i < arrives.size(); ++i) {
    if (arrives[i]) {
      TensorId gradient = getGradId(results[i]) + "/" + std::to_string(i);
      graph.addInput(gradient, graph.getTensor(results[i]).info);
      backward.seed(results[i], gradient, {});
    }
  }
  backward.run();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) {
      TensorId gradient = backward.gradientOf(inputs[i]);
      graph.markAsOutput(gradient.empty()
                             ? addZeros(graph, graph.getTensor(inputs[i]).info)
                             : gradient);
    }
  }
  eraseUnused(graph);
  return graph;
}

} // namespace popart
