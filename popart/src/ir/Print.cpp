// Dumps for people: "y FLOAT{2,3} = ai.onnx.Relu(x) @ipu 0, stage 1".
#include <ir/Print.hpp>

#include <support/Shape.hpp>

#include <fmt/format.h>

#include <map>
#include <set>

namespace popart {
namespace {

std::string typed(const Tensor &tensor) {
  return fmt::format("{} {}{}", tensor.id, tensor.info.data_type(),
                     support::toString(tensor.info.shape()));
}

class Serialiser : public OpSerialiserBase {
public:
  void leaveOut(const Serialiser &known) {
    std::erase_if(values_, [&](const auto &entry) {
      auto found = known.values_.find(entry.first);
      return found != known.values_.end() && found->second == entry.second;
    });
  }
  std::string str() const {
    std::vector<std::string> texts;
    for (const auto &[name, value] : values_) {
      texts.push_back(name + "=" + value);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

private:
  void append(const std::string &name, const std::string &value) override {
    values_[name] = value;
  }

  std::map<std::string, std::string> values_;
};

std::string printAttributes(const Op &op) {
  std::string own = ownAttributes(op);
  return own.empty() ? op.attributes.str() : own;
}

std::string printOp(const Op &op) {
  std::vector<std::string> outputs;
  for (const TensorId &id : op.outputs) {
    outputs.push_back(typed(op.getGraph().getTensor(id)));
  }
  std::string line =
      fmt::format("{} = {}.{}({})", fmt::join(outputs, ", "), op.opid.domain,
                  op.opid.type, fmt::join(op.inputs, ", "));
  std::string attributes = printAttributes(op);
  if (!attributes.empty()) {
    line += " {" + attributes + "}";
  }
  if (op.settings.vgraphId != unusedVGraphId) {
    line += fmt::format(" @ipu {}", op.settings.vgraphId);
  }
  if (op.settings.pipelineStage != unusedPipelineStage) {
    line += fmt::format(", stage {}", op.settings.pipelineStage);
  }
  if (op.settings.executionContext ==
      ExecutionContext::AccumulateOuterFragment) {
    line += ", once per update";
  }
  return line + "\n";
}

// `done`: graphs that have been printed, since several operations may call one.
std::string printGraph(const Graph &graph, std::set<const Graph *> &done) {
  std::string text;
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    const char *kind = tensor.type == TensorType::Stream     ? "stream"
                       : tensor.type == TensorType::Variable ? "variable"
                       : tensor.type == TensorType::Const    ? "constant"
                                                             : nullptr;
    if (kind) {
      text += fmt::format("{} {}\n", kind, typed(tensor));
    }
  }
  for (const auto &op : graph.getOps()) {
    text += printOp(*op);
  }
  for (const TensorId &id : graph.getOutputIds()) {
    text += fmt::format("return {}\n", id);
  }
  for (const auto &op : graph.getOps()) {
    for (const Graph *called : op->getCalledGraphs()) {
      if (done.insert(called).second) {
        text +=
            fmt::format("graph {}:\n{}", called->id, printGraph(*called, done));
      }
    }
  }
  return text;
}

} // namespace

std::string printGraph(const Graph &graph) {
  std::set<const Graph *> done;
  return printGraph(graph, done);
}

std::string ownAttributes(const Op &op) {
  Serialiser serialiser;
  op.appendAttributes(serialiser);
  // What is said of every operation is elsewhere in the dump.
  Serialiser common;
  op.Op::appendAttributes(common);
  serialiser.leaveOut(common);
  return serialiser.str();
}

} // namespace popart
