// The gradient of the loss by everything that is trained.
#include <autodiff/Autodiff.hpp>

#include <autodiff/Backward.hpp>
#include <ops/Common.hpp>
#include <popart/tensornames.hpp>

namespace popart {
namespace {

// Variables that the optimiser updates, and tensors whose gradient is anchored.
std::set<TensorId> wantedTensors(const Ir &ir) {
  const Graph &graph = ir.getMainGraph();
  std::set<TensorId> wanted;
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    bool isTrained =
        tensor.type == TensorType::Variable &&
        tensor.variableUpdateType == VariableUpdateType::Gradient &&
        isFloat(tensor.info.dataType());
    if (isTrained || ir.dataFlow.isAnchored(getGradId(id))) {
      wanted.insert(id);
    }
  }
  return wanted;
}

void seedLossGradient(Ir &ir, Backward &backward) {
  Graph &graph = ir.getMainGraph();
  const Tensor &loss = graph.getTensor(ir.loss);
  OptimizerValue scaling = ir.optimizer->lossScaling();
  DataType type = loss.info.dataType();
  TensorId id = reservedLossScalingPrefix() + loss.info.data_type();
  TensorInfo info(DataType::FLOAT, {});
  float value = scaling.val();
  if (scaling.isConst() &&
      !ir.sessionOptions.automaticLossScalingSettings.enabled) {
    graph.addConstant(id, info, &value);
  } else {
    graph.addVariable(id, info, &value);
    graph.getTensor(id).variableUpdateType = VariableUpdateType::None;
  }
  Op::Settings settings = backward.backwardSettings(loss.producer->settings);
  // An operation even where the types agree: the loss's gradient has its
  // own name and may have another shape, {1}.
  graph.addOp({"aspen", "Elementwise"}, {id}, {getGradId(ir.loss)},
              Attributes()
                  .set("expression", Attributes::String("s"))
                  .set("operands", Attributes::String("s"))
                  .set("type", static_cast<Attributes::Int>(type))
                  .set("shape", loss.info.shape()),
              settings);
  backward.seed(ir.loss, getGradId(ir.loss), settings);
}

} // namespace

void differentiate(Ir &ir) {
  Graph &graph = ir.getMainGraph();
  std::set<TensorId> wanted = wantedTensors(ir);
  const Op *last = graph.getTensor(ir.loss).producer;
  Backward backward(graph, wanted,
                    last ? last->settings.pipelineStage : unusedPipelineStage,
                    ir.sessionOptions.executionPhaseSettings.phases - 1);
  if (!backward.isWanted(ir.loss)) {
    return; // nothing to train and nothing anchored
  }
  seedLossGradient(ir, backward);
  backward.run();
  // Variables and streams have no producer to ask for their gradients.
  for (const TensorId &id : wanted) {
    if (!graph.getTensor(id).producer) {
      backward.gradientOf(id);
    }
  }
}

} // namespace popart
