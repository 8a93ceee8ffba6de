// Gives an engine the variables of a model, as sessions do when they load one.
#pragma once

#include <popart/ir.hpp>

#include <poplar/Engine.hpp>

#include <vector>

namespace popart::tests {

// For programs in which every replica has all of each variable on chip.
inline void writeVariables(poplar::Engine &engine, const Ir &ir) {
  for (const TensorId &id : ir.getMainGraph().getTensorIds()) {
    const Tensor &tensor = ir.getMainGraph().getTensor(id);
    if (tensor.type != TensorType::Variable) {
      continue;
    }
    std::vector<char> all;
    for (std::int64_t i = 0; i < ir.sessionOptions.getReplicationFactor();
         ++i) {
      all.insert(all.end(), tensor.data.begin(), tensor.data.end());
    }
    engine.writeTensor(id, all.data(), all.data() + all.size());
  }
}

} // namespace popart::tests
