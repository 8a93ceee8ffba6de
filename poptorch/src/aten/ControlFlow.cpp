// Loops, conditions and gradients that run graphs of their own, and functions
// that run on the host.
#include "AtenTable.hpp"
#include "Error.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;
using popart::TensorInfo;

void requireInference(const CallLowering &call, const char *function) {
  if (call.isTraining()) {
    throw Error(fmt::format("poptorch.{}() is only supported in inference.{}",
                            function, calledIn(call.call())));
  }
}

Attributes::Int sizeOf(const CallLowering::Ids &ids) {
  return static_cast<Attributes::Int>(ids.size());
}

// for_loop(count, inputs, captured, body). PopART's loop hands its bodies the
// number of the turn and a condition first, and takes a condition back.
void lowerLoop(CallLowering &call) {
  requireInference(call, "for_loop");
  popart::Graph &graph = call.makeGraph("loop");
  graph.addInput("turn", TensorInfo(DataType::INT32, {}));
  TensorId condition =
      graph.addInput("condition", TensorInfo(DataType::BOOL, {}));
  auto outputs = call.fill(graph, 3, 2);
  graph.markAsOutput(condition);
  for (const TensorId &id : outputs) {
    graph.markAsOutput(id);
  }
  auto turns = call.integer(0);
  auto captured = call.tensors(2);
  CallLowering::Ids inputs = {
      call.scalar(static_cast<double>(turns), DataType::INT32), TensorId()};
  for (const auto &ids : {call.tensors(1), captured}) {
    inputs.insert(inputs.end(), ids.begin(), ids.end());
  }
  auto results = call.addSeveral("ai.onnx", "Loop", inputs,
                                 static_cast<unsigned>(outputs.size()),
                                 Attributes()
                                     .set("body", Attributes::Graph{graph.id})
                                     .set("turns", Attributes::Int{turns})
                                     .set("captured", sizeOf(captured)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    call.setResult(i, results[i]);
  }
}

// cond(condition, captured, then_body, else_body)
void lowerCondition(CallLowering &call) {
  requireInference(call, "cond");
  auto captured = call.tensors(1);
  Attributes attributes;
  attributes.set("captured", sizeOf(captured));
  unsigned count = 0;
  for (auto [branch, body] :
       {std::pair{"then_branch", 2}, std::pair{"else_branch", 3}}) {
    popart::Graph &graph = call.makeGraph(branch);
    auto outputs = call.fill(graph, static_cast<std::size_t>(body), 1);
    for (const TensorId &id : outputs) {
      graph.markAsOutput(id);
    }
    count = static_cast<unsigned>(outputs.size());
    attributes.set(branch, Attributes::Graph{graph.id});
  }
  CallLowering::Ids inputs = {
      call.reshape(call.tensorAs(0, DataType::BOOL), {})};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  auto results = call.addSeveral("ai.onnx", "If", inputs, count, attributes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    call.setResult(i, results[i]);
  }
}

// custom_gradient(values, inputs, captured, body, failure): the values, whose
// gradients the body turns into those of the inputs; a body of -1 is an error
// where a gradient is needed.
void lowerCustomGradient(CallLowering &call) {
  Attributes attributes;
  if (call.integer(3) < 0) {
    attributes.set("failure", call.string(4) + calledIn(call.call()));
  } else {
    popart::Graph &graph = call.makeGraph("gradient");
    for (const TensorId &id : call.fill(graph, 3, 2)) {
      graph.markAsOutput(id);
    }
    attributes.set("gradient", Attributes::Graph{graph.id});
  }
  auto values = call.tensors(0);
  auto captured = call.tensors(2);
  CallLowering::Ids inputs;
  for (const auto &ids : {values, call.tensors(1), captured}) {
    inputs.insert(inputs.end(), ids.begin(), ids.end());
  }
  attributes.set("values", sizeOf(values)).set("captured", sizeOf(captured));
  auto results =
      call.addSeveral("aspen", "CustomGradient", inputs,
                      static_cast<unsigned>(values.size()), attributes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    call.setResult(i, results[i]);
  }
}

// cpu_op(inputs, number): the function of this number, which the Executable
// connects.
void lowerHostFunction(CallLowering &call) {
  requireInference(call, "CPU");
  auto count = call.call().results.size();
  Attributes attributes;
  attributes.set("handle", hostFunctionHandle(call.integer(1)));
  attributes.set("num_outputs", static_cast<Attributes::Int>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const TensorInfo &info = call.resultInfo(i);
    attributes.set(fmt::format("type_{}", i), info.data_type());
    attributes.set(fmt::format("shape_{}", i), info.shape());
  }
  auto results = call.addSeveral("aspen", "HostFunction", call.tensors(0),
                                 static_cast<unsigned>(count), attributes);
  for (std::size_t i = 0; i < count; ++i) {
    call.setResult(i, results[i]);
  }
}

} // namespace

std::string hostFunctionHandle(std::int64_t number) {
  return fmt::format("poptorch.host_op_{}", number);
}

std::vector<AtenRow> controlFlowRows() {
  std::vector<AtenRow> rows = {
      {"poptorch::for_loop", lowerLoop},
      {"poptorch::cond", lowerCondition},
      {"poptorch::custom_gradient", lowerCustomGradient},
      {"poptorch::cpu_op", lowerHostFunction},
  };
  rows.back().hasEffect = true;
  return rows;
}

} // namespace poptorch
