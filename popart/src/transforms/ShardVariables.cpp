// Replicated tensor sharding: a replica keeps its part of a weight, of the
// optimiser's state or of an accumulator. Weights are gathered before use,
// gradients combined and scattered, and the optimiser works on parts.
#include <transforms/Passes.hpp>

#include <transforms/PipelineSchedule.hpp>
#include <transforms/UpdateSharder.hpp>

namespace popart {

void shardVariables(PassContext &context) {
  // Where the engine runs this program, the host has its variables whole.
  if (runsMachineProgram(context.ir) ||
      context.ir.sessionOptions.getGlobalReplicationFactor() == 1) {
    return;
  }
  GraphEditor editor(context.graph);
  for (const TensorId &id : context.graph.getTensorIds()) {
    const Tensor &tensor = context.graph.getTensor(id);
    if (tensor.type == TensorType::Variable &&
        tensor.variableUpdateType == VariableUpdateType::Gradient) {
      UpdateSharder(context, editor, id).run();
    }
  }
}

} // namespace popart
