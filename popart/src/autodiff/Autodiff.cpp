// The gradient of the loss by everything that is trained.
#include <autodiff/Autodiff.hpp>

#include <autodiff/Backward.hpp>
#include <ops/Common.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>

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

void addScalar(Graph &graph, const TensorId &id, float value) {
  if (!graph.hasTensor(id)) { // the model may bring what was saved
    graph.addVariable(id, TensorInfo(DataType::FLOAT, {}), &value);
  }
  graph.getTensor(id).variableUpdateType = VariableUpdateType::None;
}

// As large as the latest gradients allow.
TensorId addFinalScale(Graph &graph, const TensorId &scaling,
                       const Op::Settings &settings) {
  TensorId factor = reservedLossScaleUpdateFactorPrefix();
  addScalar(graph, factor, 1.0f);
  TensorId scale = finalLossScaleId();
  graph.addOp({"aspen", "Elementwise"}, {scaling, factor}, {scale},
              Attributes()
                  .set("expression", Attributes::String("s*f"))
                  .set("operands", Attributes::String("s,f"))
                  .set("shape", Shape{}),
              settings);
  return scale;
}

void seedLossGradient(Ir &ir, Backward &backward) {
  Graph &graph = ir.getMainGraph();
  const Tensor &loss = graph.getTensor(ir.loss);
  OptimizerValue scaling = ir.optimizer->lossScaling();
  DataType type = loss.info.dataType();
  TensorId id = reservedLossScalingPrefix() + loss.info.data_type();
  Op::Settings settings = backward.backwardSettings(loss.producer->settings);
  float value = scaling.val();
  if (scaling.isConst()) {
    graph.addConstant(id, TensorInfo(DataType::FLOAT, {}), &value);
  } else {
    addScalar(graph, id, value);
  }
  if (ir.sessionOptions.automaticLossScalingSettings.enabled) {
    id = addFinalScale(graph, id, settings);
  }
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

PipelineStage lastForwardStage(const Graph &graph) {
  PipelineStage last = unusedPipelineStage;
  for (const auto &op : graph.getOps()) {
    if (!op->settings.isBackward) {
      last = std::max(last, op->settings.pipelineStage);
    }
  }
  return last;
}

void differentiate(Ir &ir) {
  Graph &graph = ir.getMainGraph();
  std::set<TensorId> wanted = wantedTensors(ir);
  Backward backward(graph, wanted, lastForwardStage(graph),
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
