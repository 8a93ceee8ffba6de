// The device's part of an optimiser's state, from and to host memory.
#include "Executable.hpp"

#include <popart/tensornames.hpp>

#include <algorithm>
#include <cstring>

namespace poptorch {
namespace {

// State, not a hyper-parameter: what follows from the steps before.
bool isState(const popart::TensorId &id) {
  using namespace popart;
  for (const char *prefix :
       {reservedAccumPrefix(), reservedAcclPrefix(), reservedAccl1Prefix(),
        reservedAccl2Prefix(), reservedAccl3Prefix(), reservedStepPrefix(),
        reservedCounterPrefix(), reservedLossScaleUpdateFactorPrefix()}) {
    if (id.compare(0, std::strlen(prefix), prefix) == 0) {
      return true;
    }
  }
  return false;
}

} // namespace

std::vector<Executable::OptimizerTensor> Executable::optimizerTensors() const {
  const popart::Graph &graph = session_->getIr().getMainGraph();
  std::vector<OptimizerTensor> tensors;
  for (const popart::TensorId &id : graph.getTensorIds()) {
    const popart::Tensor &tensor = graph.getTensor(id);
    const bool isWeight =
        std::find(translation_.state.begin(), translation_.state.end(), id) !=
        translation_.state.end();
    if (tensor.type == popart::TensorType::Variable && !isWeight &&
        id != popart::reservedRandomSeedId()) {
      popart::Shape shape = tensor.info.shape();
      const popart::VariableSettings &settings = tensor.variableSettings;
      if (settings.getGroupCount(replicas()) > 1) { // a row for each
        shape.insert(shape.begin(),
                     settings.numReplicasReturningVariable(replicas()));
      }
      tensors.push_back({id, {tensor.info.dataType(), shape}, !isState(id)});
    }
  }
  return tensors;
}

popart::WeightsIO
Executable::optimizerIO(const std::vector<void *> &memory) const {
  popart::WeightsIO io;
  const auto tensors = optimizerTensors();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] != nullptr) {
      io.insert(tensors.at(i).name, {memory[i], tensors[i].info});
    }
  }
  return io;
}

void Executable::readOptimizerState(const std::vector<void *> &tensors) {
  if (hasWeights_) {
    session_->weightsToHost();
  }
  session_->readWeights(optimizerIO(tensors));
}

void Executable::writeOptimizerState(const std::vector<void *> &tensors) {
  if (hasWeights_) {
    session_->weightsToHost(); // the weights stay as they are
  }
  session_->writeWeights(optimizerIO(tensors));
  if (hasWeights_) {
    session_->weightsFromHost();
  }
}

} // namespace poptorch
