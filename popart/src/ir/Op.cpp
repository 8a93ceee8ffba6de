// An operation's view of its own inputs and outputs.
#include <popart/op.hpp>

#include <ops/OpRule.hpp>
#include <popart/graph.hpp>

#include <utility>

namespace popart {

Op::Op(Graph &graph, const OpRule &rule, OperatorIdentifier opid,
       Attributes attributes, Settings settings)
    : opid(std::move(opid)), attributes(std::move(attributes)),
      settings(std::move(settings)), graph_(&graph), rule_(&rule) {}

const TensorInfo &Op::inInfo(InIndex i) const {
  return graph_->getTensor(inputs.at(static_cast<std::size_t>(i))).info;
}

const TensorInfo &Op::outInfo(OutIndex i) const {
  return graph_->getTensor(outputs.at(static_cast<std::size_t>(i))).info;
}

bool Op::hasInput(InIndex i) const {
  auto index = static_cast<std::size_t>(i);
  return index < inputs.size() && !inputs[index].empty();
}

InIndex Op::modifiedInput(OutIndex i) const {
  return rule_->modifiedInput ? rule_->modifiedInput(*this, i) : -1;
}

std::string Op::str() const {
  return (settings.name.empty() ? "" : settings.name + " ") + "(" +
         opid.domain + "." + opid.type + ")";
}

} // namespace popart
