// The backward pass of one graph: gradients flow from the tensors that get one
// to those that are wanted, last operation first.
#pragma once

#include <ir/GraphEditor.hpp>
#include <popart/graph.hpp>

#include <map>
#include <set>
#include <vector>

namespace popart {

class Backward {
public:
  // `wanted`: tensors whose gradients somebody needs. Operations of a forward
  // stage s get stage 2S - s, S being `lastStage`: the pipeline turns back
  // there. So do phases at `lastPhase`.
  Backward(Graph &graph, std::set<TensorId> wanted, PipelineStage lastStage,
           ExecutionPhase lastPhase);

  // The gradient of `id` leads somewhere.
  bool isWanted(const TensorId &id) const { return wanted_.count(id) > 0; }
  // `gradient` is a tensor whose name starts with the reserved prefix.
  void seed(const TensorId &id, const TensorId &gradient,
            const Op::Settings &settings);
  // Adds the gradients of all operations that the graph had when this was made.
  void run();
  // The whole gradient of a tensor whose consumers have all been visited, under
  // its own name; empty when no path reaches it.
  TensorId gradientOf(const TensorId &id);

  Op::Settings backwardSettings(const Op::Settings &forward) const;

private:
  void findWanted();
  void differentiate(const Op &op);
  Op::Settings placeOfSum(const TensorId &id) const;

  Graph &graph_;
  GraphEditor editor_;
  PipelineStage lastStage_;
  ExecutionPhase lastPhase_;
  std::vector<Op *> forward_;
  std::set<TensorId> wanted_;
  std::map<TensorId, std::vector<TensorId>> edges_;
  std::map<TensorId, Op::Settings> edgeSettings_;
};

} // namespace popart
