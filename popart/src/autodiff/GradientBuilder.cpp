// Adding operations to the backward pass.
#include <autodiff/GradientBuilder.hpp>

#include <ir/GraphEditor.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace popart {

GradientBuilder::GradientBuilder(Graph &graph, const Op &op,
                                 std::vector<TensorId> gradients,
                                 std::vector<bool> wanted,
                                 Op::Settings settings)
    : graph_(graph), gradients_(std::move(gradients)),
      wanted_(std::move(wanted)), results_(op.inputs.size()),
      settings_(std::move(settings)) {}

const Shape &GradientBuilder::shapeOf(const TensorId &id) const {
  return graph_.getTensor(id).info.shape();
}

std::vector<TensorId>
GradientBuilder::addAll(const std::string &domain, const std::string &type,
                        const std::vector<TensorId> &inputs,
                        const Attributes &attributes) {
  return graph_
      .addOp({domain, type}, inputs, std::vector<TensorId>(), attributes,
             settings_)
      .outputs;
}

TensorId GradientBuilder::add(const std::string &domain,
                              const std::string &type,
                              const std::vector<TensorId> &inputs,
                              const Attributes &attributes) {
  return addAll(domain, type, inputs, attributes).front();
}

std::vector<TensorId>
GradientBuilder::addOp(std::unique_ptr<Op> op,
                       const std::vector<TensorId> &inputs) {
  op->settings = settings_;
  return graph_.addOp(std::move(op), inputs, {}).outputs;
}

std::vector<TensorId>
GradientBuilder::addCopyOf(const Graph &body,
                           const std::vector<TensorId> &inputs) {
  std::map<TensorId, TensorId> names = {{"", ""}}; // left out
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names[body.getInputIds().at(i)] = inputs[i];
  }
  GraphEditor editor(graph_);
  for (const TensorId &id : body.getTensorIds()) {
    const Tensor &tensor = body.getTensor(id);
    if (tensor.type == TensorType::Const) {
      names[id] = graph_.addConstant(editor.uniqueName(body.id + "/" + id),
                                     tensor.info, tensor.data.data());
    }
  }
  for (const auto &op : body.getOps()) {
    std::unique_ptr<Op> copied = op->clone();
    std::string name = std::move(copied->settings.name);
    copied->settings = settings_;
    copied->settings.name = std::move(name);
    std::vector<TensorId> read;
    for (const TensorId &id : op->inputs) {
      read.push_back(names.at(id));
    }
    const Op &added = graph_.addOp(std::move(copied), read, {});
    for (std::size_t i = 0; i < op->outputs.size(); ++i) {
      names[op->outputs[i]] = added.outputs[i];
    }
  }
  std::vector<TensorId> results;
  for (const TensorId &id : body.getOutputIds()) {
    results.push_back(names.at(id));
  }
  return results;
}

TensorId GradientBuilder::addElementwise(const std::string &expression,
                                         const std::string &names,
                                         const std::vector<TensorId> &inputs,
                                         const Shape &shape) {
  return add("aspen", "Elementwise", inputs,
             Attributes()
                 .set("expression", expression)
                 .set("operands", names)
                 .set("shape", shape));
}

TensorId GradientBuilder::addReshape(const TensorId &input,
                                     const Shape &shape) {
  return shapeOf(input) == shape ? input
                                 : add("aspen", "Reshape", {input},
                                       Attributes().set("shape", shape));
}

TensorId GradientBuilder::addFill(const TensorInfo &info, float value) {
  return add("aspen", "Fill", {},
             Attributes()
                 .set("type", static_cast<Attributes::Int>(info.dataType()))
                 .set("shape", info.shape())
                 .set("value", value));
}

TensorId GradientBuilder::addReduceTo(const TensorId &input,
                                      const Shape &shape) {
  const Shape &full = shapeOf(input);
  if (full == shape) {
    return input;
  }
  std::size_t shift = full.size() - shape.size();
  Attributes::Ints axes;
  for (std::size_t d = 0; d < full.size(); ++d) {
    if (d < shift || (shape[d - shift] == 1 && full[d] != 1)) {
      axes.push_back(static_cast<std::int64_t>(d));
    }
  }
  TensorId sum =
      add("ai.onnx", "ReduceSum", {input},
          Attributes().set("axes", axes).set("keepdims", Attributes::Int{0}));
  return addReshape(sum, shape);
}

void GradientBuilder::setGradient(InIndex i, const TensorId &gradient) {
  if (!isWanted(i)) {
    return;
  }
  // A tensor stands for one gradient only: it will be named after it.
  bool isTaken =
      std::find(results_.begin(), results_.end(), gradient) != results_.end();
  results_.at(static_cast<std::size_t>(i)) =
      isTaken ? add("ai.onnx", "Identity", {gradient}) : gradient;
}

} // namespace popart
