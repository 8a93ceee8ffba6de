// Recurrent layers: torch's gates in the order that ONNX has them.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::TensorId;

// What the arguments after the first state say: (params, has_biases, layers,
// dropout, train, bidirectional, batch_first).
struct Layer {
  const char *name;
  Ints gates; // ONNX's order of torch's gates
  bool hasBiases;
  bool isBatchFirst;
  std::vector<TensorId> parameters;
};

// Parameters and states have the type of what the layer is applied to.
std::vector<TensorId> inTypeOfInput(CallLowering &call,
                                    std::vector<TensorId> ids) {
  for (TensorId &id : ids) {
    id = call.cast(id, call.type(call.tensor(0)));
  }
  return ids;
}

Layer layerOf(CallLowering &call, const char *name, const Ints &gates,
              bool needsBiases) {
  if (call.integer(4) != 1) {
    call.fail(fmt::format("Only {} with 1 layer supported", name));
  }
  if (call.boolean(7)) {
    call.fail(fmt::format("bidirectional {} not supported", name));
  }
  if (call.real(5) != 0) {
    call.fail(fmt::format("{} only supports dropout = 0.0", name));
  }
  bool hasBiases = call.boolean(3);
  if (needsBiases && !hasBiases) {
    call.fail(fmt::format("{} without biases not supported", name));
  }
  auto parameters = inTypeOfInput(call, call.tensors(2));
  if (parameters.size() != (hasBiases ? 4u : 2u)) {
    call.fail(fmt::format("{} with projections not supported", name));
  }
  return {name, gates, hasBiases, call.boolean(8), parameters};
}

// [gates * hidden, ...] with the gates in ONNX's order, behind a dimension
// of 1.
TensorId reordered(CallLowering &call, const TensorId &parameter,
                   const Ints &gates) {
  popart::Shape shape = call.shape(parameter);
  auto hidden = shape[0] / static_cast<std::int64_t>(gates.size());
  std::vector<TensorId> parts;
  for (std::int64_t gate : gates) {
    parts.push_back(
        sliced(call, parameter, 0, gate * hidden, (gate + 1) * hidden));
  }
  shape.insert(shape.begin(), 1);
  return call.reshape(joined(call, parts, 0), shape);
}

// ONNX's inputs up to the first states, and its results as torch's: y, and the
// last states, of which there are as many as first ones.
void lowerLayer(CallLowering &call, const char *type, const Layer &layer,
                std::vector<TensorId> states, Attributes attributes) {
  states = inTypeOfInput(call, std::move(states));
  TensorId x = call.tensor(0);
  if (layer.isBatchFirst) {
    x = call.transpose(x, {1, 0, 2});
  }
  std::vector<TensorId> inputs = {
      x, reordered(call, layer.parameters[0], layer.gates),
      reordered(call, layer.parameters[1], layer.gates), ""};
  if (layer.hasBiases) {
    inputs[3] = joined(call,
                       {reordered(call, layer.parameters[2], layer.gates),
                        reordered(call, layer.parameters[3], layer.gates)},
                       1);
  }
  inputs.push_back("");
  inputs.insert(inputs.end(), states.begin(), states.end());
  const popart::Shape weight = call.shape(layer.parameters[1]);
  attributes.set("hidden_size", weight[1]);
  auto outputs =
      call.addSeveral("ai.onnx", type, inputs,
                      static_cast<unsigned>(1 + states.size()), attributes);
  popart::Shape shape = call.shape(outputs[0]);
  shape.erase(shape.begin() + 1);
  TensorId y = call.reshape(outputs[0], shape);
  call.setResult(0, layer.isBatchFirst ? call.transpose(y, {1, 0, 2}) : y);
  for (std::size_t i = 0; i < states.size(); ++i) {
    call.setResult(i + 1, outputs[i + 1]);
  }
}

// torch: input, forget, candidate, output; ONNX: input, output, forget,
// candidate.
void lowerLstm(CallLowering &call) {
  lowerLayer(call, "LSTM", layerOf(call, "LSTM", {0, 3, 1, 2}, true),
             call.tensors(1), {});
}

// torch: reset, update, candidate; ONNX: update, reset, candidate.
void lowerGru(CallLowering &call) {
  lowerLayer(call, "GRU", layerOf(call, "GRU", {1, 0, 2}, false),
             {call.tensor(1)},
             Attributes().set("linear_before_reset", Attributes::Int{1}));
}

void lowerRnn(CallLowering &call) {
  lowerLayer(call, "RNN", layerOf(call, "RNN", {0}, true), {call.tensor(1)},
             Attributes().set("activations",
                              std::vector<std::string>{call.popartType()}));
}

} // namespace

std::vector<AtenRow> recurrentRows() {
  return {
      {"aten::lstm.input", lowerLstm},
      {"aten::gru.input", lowerGru},
      {"aten::rnn_tanh.input", lowerRnn, "Tanh"},
      {"aten::rnn_relu.input", lowerRnn, "Relu"},
  };
}

} // namespace poptorch
