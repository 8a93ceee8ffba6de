// Call: a subgraph's operations in this place. The pass inlineCalls puts them
// there before anything else looks at the graph.
#include <ops/Bodies.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> infer(const Op &op) {
  return outputInfos(bodyOf(op, "callee"));
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
           .infer = infer}};
}

} // namespace popart
