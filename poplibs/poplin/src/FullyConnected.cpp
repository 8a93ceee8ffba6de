#include <poplin/FullyConnected.hpp>

namespace poplin::fc {

std::vector<std::pair<MatMulParams, poplar::OptionFlags>>
getMatMulPrePlanParameters(FullyConnectedParams parameters,
                           poplar::OptionFlags matmulOptions, poplar::Type type,
                           bool inferenceOnly) {
  const auto [groups, batch, inputs, outputs] = parameters;
  std::vector<std::pair<MatMulParams, poplar::OptionFlags>> result;
  const auto add = [&](const char *pass, std::vector<std::size_t> a,
                       std::vector<std::size_t> b) {
    matmulOptions.set("fullyConnectedPass", pass);
    result.emplace_back(MatMulParams{type, type, std::move(a), std::move(b)},
                        matmulOptions);
  };
  add(inferenceOnly ? "INFERENCE_FWD" : "TRAINING_FWD", {groups, batch, inputs},
      {groups, inputs, outputs});
  if (!inferenceOnly) {
    add("TRAINING_BWD", {groups, batch, outputs}, {groups, outputs, inputs});
    add("TRAINING_WU", {groups, inputs, batch}, {groups, batch, outputs});
  }
  return result;
}

} // namespace poplin::fc
