// Bodies of loops and conditions: a graph of the IR for each.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

#include <popart/ir.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace poptorch {
namespace {

using popart::TensorId;

class BodyFiller {
public:
  BodyFiller(const TraceRecord &record, popart::Graph &graph,
             popart::Op::Settings settings, CallOptions options)
      : record_(record), graph_(graph), settings_(std::move(settings)),
        options_(options), ids_(record.tensors.size()) {
    options_.readTensors = nullptr; // those of the model, not of its bodies
  }

  void addInput(TensorNumber number) {
    id(number) =
        graph_.addInput(fmt::format("input_{}", number), tensor(number).info);
  }

  void addCall(const TracedCall &call) {
    for (TensorNumber number : tensorArguments(call)) {
      requireValue(number);
    }
    const AtenRow &row = *findAtenRow(call.op);
    popart::Op::Settings settings = settings_;
    settings.name = call.scope;
    CallLowering lowering(graph_, record_, call, ids_, settings, row.popart,
                          options_);
    row.lower(lowering);
  }

  // An input that is handed on goes through an operation.
  TensorId output(TensorNumber number) {
    requireValue(number);
    return graph_.addOp({"ai.onnx", "Identity"}, {id(number)}, 1, {},
                        settings_)[0];
  }

private:
  const TracedTensor &tensor(TensorNumber number) const {
    return record_.tensors.at(static_cast<std::size_t>(number));
  }
  TensorId &id(TensorNumber number) {
    return ids_.at(static_cast<std::size_t>(number));
  }

  // What is neither passed nor computed is a constant.
  void requireValue(TensorNumber number) {
    auto constant = std::find_if(
        record_.constants.begin(), record_.constants.end(),
        [number](const auto &entry) { return entry.first == number; });
    if (id(number).empty() && constant != record_.constants.end()) {
      id(number) =
          graph_.addConstant(fmt::format("captured_{}", number),
                             tensor(number).info, constant->second.data());
    }
  }

  const TraceRecord &record_;
  popart::Graph &graph_;
  popart::Op::Settings settings_;
  CallOptions options_;
  CallLowering::Ids ids_; // by number, in this graph
};

} // namespace

popart::Graph &CallLowering::makeGraph(const std::string &stem) const {
  return graph_.getIr().createGraph(stem);
}

CallLowering::Ids CallLowering::fill(popart::Graph &graph, std::size_t body,
                                     std::size_t captured) const {
  const TracedBody &traced =
      record_.bodies.at(static_cast<std::size_t>(integer(body)));
  BodyFiller filler(record_, graph, settings_, options_);
  for (TensorNumber number : traced.inputs) {
    filler.addInput(number);
  }
  for (TensorReference reference :
       std::get<std::vector<TensorReference>>(call_.arguments.at(captured))) {
    filler.addInput(reference.number);
  }
  for (const TracedCall &call : traced.calls) {
    filler.addCall(call);
  }
  Ids outputs;
  for (TensorNumber number : traced.outputs) {
    outputs.push_back(filler.output(number));
  }
  return outputs;
}

} // namespace poptorch
