// Call: a subgraph's operations in this place. The pass inlineCalls puts those
// of the model there before anything else looks at the graph; calls that the
// pass outlineSubgraphs makes stay (lowering/Functions.cpp).
#include <ops/Bodies.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <algorithm>

namespace popart {
namespace {

std::vector<TensorInfo> infer(const Op &op) {
  return outputInfos(bodyOf(op, "callee"));
}

// The subgraph's output may be a version, or a version of a version, of one of
// its inputs.
InIndex modifiedInput(const Op &op, OutIndex output) {
  const Graph &callee = bodyOf(op, "callee");
  TensorId id = callee.getOutputIds().at(static_cast<std::size_t>(output));
  bool isVersion = false;
  while (const Op *producer = callee.getTensor(id).producer) {
    auto place =
        std::find(producer->outputs.begin(), producer->outputs.end(), id) -
        producer->outputs.begin();
    InIndex modified = producer->modifiedInput(static_cast<OutIndex>(place));
    if (modified < 0) {
      return -1;
    }
    id = producer->inputs[static_cast<std::size_t>(modified)];
    isVersion = true;
  }
  const std::vector<TensorId> &inputs = callee.getInputIds();
  auto input = std::find(inputs.begin(), inputs.end(), id);
  return isVersion && input != inputs.end()
             ? static_cast<InIndex>(input - inputs.begin())
             : -1;
}

} // namespace

std::vector<OpRule> callRules() {
  return {{.domain = "ai.graphcore",
           .type = "Call",
           .schema = {.attributes = {{.name = "callee",
                                      .fallback = {},
                                      .isRequired = true,
                                      .isGraph = true}},
                      .outputs = 0},
           .infer = infer,
           .modifiedInput = modifiedInput}};
}

} // namespace popart
