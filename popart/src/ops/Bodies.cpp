// Finding an operation's subgraphs.
#include <ops/Bodies.hpp>

#include <popart/ir.hpp>

namespace popart {

const Graph &bodyOf(const Op &op, const std::string &attribute) {
  return op.getIr().getGraph(
      op.attributes.getAttribute<Attributes::Graph>(attribute).id);
}

int ownInputs(const Op &op) {
  return static_cast<int>(op.inputs.size()) -
         static_cast<int>(op.attributes.getInt("captured", 0));
}

std::vector<TensorInfo> outputInfos(const Graph &body) {
  std::vector<TensorInfo> infos;
  for (const TensorId &id : body.getOutputIds()) {
    infos.push_back(body.getTensor(id).info);
  }
  return infos;
}

} // namespace popart
