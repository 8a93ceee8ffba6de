// Calls, slices and stacks in the place of loops.
#include <onnx/Unroll.hpp>

#include <ops/ScanShape.hpp>

#include <algorithm>

namespace popart {

Shape Unroller::shapeOf(const TensorId &id) const {
  return graph_.getTensor(id).info.shape();
}

TensorId Unroller::reshape(const TensorId &id, const Shape &shape) {
  return graph_.addOp({"aspen", "Reshape"}, {id}, 1,
                      Attributes().set("shape", shape), settings_)[0];
}

std::vector<TensorId> Unroller::call(const Graph &callee,
                                     const std::vector<TensorId> &inputs,
                                     const std::vector<TensorId> &outputs) {
  return graph_
      .addOp({"ai.graphcore", "Call"}, inputs, outputs,
             Attributes().set("callee", Attributes::Graph{callee.id}),
             settings_)
      .outputs;
}

TensorId Unroller::slice(const TensorId &id, std::int64_t axis,
                         std::int64_t index) {
  TensorId part = graph_.addOp({"ai.onnx", "Slice"}, {id}, 1,
                               Attributes()
                                   .set("axes", Attributes::Ints{axis})
                                   .set("starts", Attributes::Ints{index})
                                   .set("ends", Attributes::Ints{index + 1}),
                               settings_)[0];
  Shape shape = shapeOf(part);
  shape.erase(shape.begin() + axis);
  return reshape(part, shape);
}

void Unroller::stack(const std::vector<TensorId> &values, std::int64_t axis,
                     const TensorId &name) {
  std::vector<TensorId> parts;
  for (const TensorId &value : values) {
    Shape shape = shapeOf(value);
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(reshape(value, shape));
  }
  graph_.addOp({"ai.onnx", "Concat"}, parts, std::vector<TensorId>{name},
               Attributes().set("axis", Attributes::Int{axis}), settings_);
}

void Unroller::rename(const TensorId &id, const TensorId &name) {
  graph_.addOp({"ai.onnx", "Identity"}, {id}, std::vector<TensorId>{name}, {},
               settings_);
}

namespace {

void unrollScan(Graph &graph, const ScanNode &scan) {
  ScanShape shape(graph, scan.body, scan.attributes, scan.inputs);
  Unroller unroller(graph, scan.settings);
  auto states = static_cast<std::size_t>(shape.states);
  std::vector<TensorId> values(scan.inputs.begin(),
                               scan.inputs.begin() + shape.states);
  std::vector<std::vector<TensorId>> collected(shape.outputAxes.size());
  for (std::int64_t turn = 0; turn < shape.turns; ++turn) {
    std::vector<TensorId> inputs = values;
    for (std::size_t i = 0; i < shape.inputAxes.size(); ++i) {
      bool isBackward = shape.inputDirections[i] != 0;
      inputs.push_back(
          unroller.slice(scan.inputs[states + i], shape.inputAxes[i],
                         isBackward ? shape.turns - 1 - turn : turn));
    }
    inputs.insert(inputs.end(), scan.captured.begin(), scan.captured.end());
    std::vector<TensorId> results = unroller.call(scan.body, inputs);
    std::copy_n(results.begin(), states, values.begin());
    for (std::size_t i = 0; i < collected.size(); ++i) {
      auto &list = collected[i];
      bool isBackward = shape.outputDirections[i] != 0;
      list.insert(isBackward ? list.begin() : list.end(), results[states + i]);
    }
  }
  for (std::size_t i = 0; i < scan.outputs.size(); ++i) {
    if (scan.outputs[i].empty()) {
      continue;
    }
    if (i < states) {
      unroller.rename(values[i], scan.outputs[i]);
    } else {
      unroller.stack(collected[i - states], shape.outputAxes[i - states],
                     scan.outputs[i]);
    }
  }
}

} // namespace

void addScan(Graph &graph, ScanNode scan, bool isUnrolled) {
  if (isUnrolled) {
    unrollScan(graph, scan);
    return;
  }
  std::vector<TensorId> inputs = scan.inputs;
  inputs.insert(inputs.end(), scan.captured.begin(), scan.captured.end());
  scan.attributes.set("body", Attributes::Graph{scan.body.id})
      .set("captured", static_cast<Attributes::Int>(scan.captured.size()));
  graph.addOp({"ai.onnx", "Scan", 11}, inputs, scan.outputs, scan.attributes,
              scan.settings);
}

} // namespace popart
