// Reverse-mode differentiation over the schedule, last operation first.
#include <autodiff/Autodiff.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <ir/GraphEditor.hpp>
#include <ops/Common.hpp>
#include <ops/OpRule.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>
#include <set>

namespace popart {
namespace {

class Autodiff {
public:
  explicit Autodiff(Ir &ir)
      : ir_(ir), graph_(ir.getMainGraph()), editor_(graph_) {}

  void run() {
    findWanted();
    if (wanted_.count(ir_.loss) == 0) {
      return; // nothing to train and nothing anchored
    }
    lossStage_ = graph_.getTensor(ir_.loss).producer->settings.pipelineStage;
    std::vector<Op *> forward;
    for (const auto &op : graph_.getOps()) {
      forward.push_back(op.get());
    }
    seedLossGradient();
    for (auto it = forward.rbegin(); it != forward.rend(); ++it) {
      differentiate(**it);
    }
    // Variables and streams have no producer to ask for their gradients.
    for (const TensorId &id : wanted_) {
      if (!graph_.getTensor(id).producer) {
        gradientOf(id);
      }
    }
  }

private:
  // Tensors whose gradient leads to a variable, or to an anchor that asks.
  void findWanted() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      bool isTrained =
          tensor.type == TensorType::Variable &&
          tensor.variableUpdateType == VariableUpdateType::Gradient &&
          isFloat(tensor.info.dataType());
      if (isTrained || ir_.dataFlow.isAnchored(getGradId(id))) {
        wanted_.insert(id);
      }
    }
    for (const auto &op : graph_.getOps()) {
      bool reaches = op->rule().differentiate &&
                     std::any_of(op->inputs.begin(), op->inputs.end(),
                                 [&](auto &id) { return wanted_.count(id); });
      for (const TensorId &id : op->outputs) {
        if (reaches && isFloat(graph_.getTensor(id).info.dataType())) {
          wanted_.insert(id);
        }
      }
    }
  }

  // A backward operation of forward stage s runs in stage 2S - s, S being the
  // loss's: the pipeline folds back at the loss.
  Op::Settings backwardSettings(const Op::Settings &forward) const {
    Op::Settings settings = forward;
    settings.isBackward = true;
    if (forward.pipelineStage != unusedPipelineStage) {
      settings.pipelineStage = 2 * lossStage_ - forward.pipelineStage;
    }
    // Of N phases, phase p comes again as 2N - 2 - p.
    if (forward.executionPhase != unusedExecutionPhase) {
      settings.executionPhase =
          2 * (ir_.sessionOptions.executionPhaseSettings.phases - 1) -
          forward.executionPhase;
    }
    return settings;
  }

  void seedLossGradient() {
    const Tensor &loss = graph_.getTensor(ir_.loss);
    OptimizerValue scaling = ir_.optimizer->lossScaling();
    DataType type = loss.info.dataType();
    TensorId id = reservedLossScalingPrefix() + loss.info.data_type();
    TensorInfo info(DataType::FLOAT, {});
    float value = scaling.val();
    if (scaling.isConst() &&
        !ir_.sessionOptions.automaticLossScalingSettings.enabled) {
      graph_.addConstant(id, info, &value);
    } else {
      graph_.addVariable(id, info, &value);
      graph_.getTensor(id).variableUpdateType = VariableUpdateType::None;
    }
    Op::Settings settings = backwardSettings(loss.producer->settings);
    // An operation even where the types agree: the loss's gradient has its
    // own name and may have another shape, {1}.
    graph_.addOp({"aspen", "Elementwise"}, {id}, {getGradId(ir_.loss)},
                 Attributes()
                     .set("expression", Attributes::String("s"))
                     .set("operands", Attributes::String("s"))
                     .set("type", static_cast<Attributes::Int>(type))
                     .set("shape", loss.info.shape()),
                 settings);
    edges_[ir_.loss] = {getGradId(ir_.loss)};
  }

  void differentiate(const Op &op) {
    if (!op.rule().differentiate) {
      return;
    }
    std::vector<TensorId> gradients;
    bool any = false;
    for (const TensorId &id : op.outputs) {
      gradients.push_back(gradientOf(id));
      any = any || !gradients.back().empty();
    }
    std::vector<bool> wanted;
    for (const TensorId &id : op.inputs) {
      wanted.push_back(wanted_.count(id) > 0);
    }
    if (!any || std::find(wanted.begin(), wanted.end(), true) == wanted.end()) {
      return;
    }
    GradientBuilder builder(graph_, op, gradients, wanted,
                            backwardSettings(op.settings));
    op.rule().differentiate(builder, op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const TensorId &gradient = builder.inputGradients()[i];
      if (!gradient.empty()) {
        edges_[op.inputs[i]].push_back(gradient);
        edgeSettings_[op.inputs[i]] = backwardSettings(op.settings);
      }
    }
  }

  // The whole gradient of a tensor whose consumers have all been visited, under
  // its own name; empty when no path reaches it.
  TensorId gradientOf(const TensorId &id) {
    auto found = edges_.find(id);
    if (found == edges_.end()) {
      return {};
    }
    TensorId name = getGradId(id);
    if (graph_.hasTensor(name)) {
      return name;
    }
    const std::vector<TensorId> &edges = found->second;
    Op::Settings settings = placeOfSum(id);
    if (edges.size() > 1) {
      graph_.addOp({"ai.onnx", "Sum"}, edges, {name}, {}, settings);
    } else if (edges[0].rfind(reservedGradientPrefix(), 0) == 0) {
      graph_.addOp({"ai.onnx", "Identity"}, edges, {name}, {}, settings);
    } else {
      editor_.renameTensor(edges[0], name);
    }
    return name;
  }

  // Gradients meet where the tensor was made, or where the last edge was.
  Op::Settings placeOfSum(const TensorId &id) const {
    const Op *producer = graph_.getTensor(id).producer;
    return producer ? backwardSettings(producer->settings)
                    : edgeSettings_.at(id);
  }

  Ir &ir_;
  Graph &graph_;
  GraphEditor editor_;
  PipelineStage lossStage_ = unusedPipelineStage;
  std::set<TensorId> wanted_;
  std::map<TensorId, std::vector<TensorId>> edges_;
  std::map<TensorId, Op::Settings> edgeSettings_;
};

} // namespace

void differentiate(Ir &ir) {
  Autodiff(ir).run();
}

} // namespace popart
