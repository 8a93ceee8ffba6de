// Variables between host and device: one value for all replicas, or one for
// each group of them.
#include <session/Implementation.hpp>

#include <popart/tensornames.hpp>
#include <session/OptimizerState.hpp>

#include <poplar/internal/LentTensors.hpp>

#include <algorithm>
#include <cstring>

namespace popart {
namespace {

// Whether a variable goes between host and device at all.
bool isStreamed(const SessionOptions &options, const Tensor &tensor) {
  bool isAccumulator = isAccumulatorId(tensor.id);
  return !(isAccumulator ? options.disableGradAccumulationTensorStreams
                         : options.disableOptimizerStateTensorStreams &&
                               isOptimizerStateId(tensor.id));
}

std::vector<char> slice(const std::vector<char> &bytes, std::size_t index,
                        std::size_t size) {
  auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

void append(std::vector<char> &to, const std::vector<char> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The user's memory for a variable, which has one of these numbers of values.
MutableVoidData memoryFor(const IWeightsIO &weights, const Tensor &tensor,
                          std::int64_t values, std::int64_t others) {
  MutableVoidData memory = weights.weight(tensor.id);
  std::int64_t each = tensor.info.nelms();
  support::requireUser<error>(
      memory.info.dataType() == tensor.info.dataType() &&
          (memory.info.nelms() == each * values ||
           memory.info.nelms() == each * others),
      "[weights] memory for '{}' has {} elements of type {}; the variable has "
      "{} of type {}",
      tensor.id, memory.info.nelms(), memory.info.data_type(), each * values,
      tensor.info.data_type());
  return memory;
}

} // namespace

ReplicaGrouping
Session::Implementation::groupingOf(const Tensor &tensor) const {
  return tensor.variableSettings.getReplicaGrouping(
      static_cast<unsigned>(allReplicas()));
}

TensorInfo Session::Implementation::hostInfo(const Tensor &tensor) const {
  return {tensor.info.dataType(),
          tensor.variableSettings.shapeOnHost(
              tensor.info.shape(), static_cast<unsigned>(allReplicas()))};
}

bool Session::Implementation::isHostValue(const Tensor &tensor) const {
  return copies() == 1 && !runsMachine &&
         groupingOf(tensor).getNumGroups() == 1 &&
         tensor.variableSettings.getRetrievalMode() !=
             VariableRetrievalMode::AllReplicas &&
         deviceBytes(tensor.info) == tensor.data.size();
}

void Session::Implementation::write(const Tensor &tensor) {
  if (isHostValue(tensor)) {
    poplar::internal::lendTensor(*engine, tensor.id, tensor.data.share(),
                                 tensor.data.size());
    return;
  }
  ReplicaGrouping grouping = groupingOf(tensor);
  auto size = static_cast<std::size_t>(tensor.info.nbytes());
  std::vector<char> bytes;
  std::int64_t first =
      isDistributed() ? ir->sessionOptions.globalReplicaOffset : 0;
  for (std::int64_t i = first; i < first + copies(); ++i) {
    std::size_t group = grouping.getGroupIndexOfReplica(unsigned(i));
    append(bytes,
           toDeviceBytes(tensor.info, slice(tensor.data.bytes(), group, size)));
  }
  const char *begin = bytes.data();
  const char *end = begin + bytes.size();
  engine->writeTensor(tensor.id, begin, end);
  if (!runsMachine) {
    return;
  }
  for (int ipu = 0; ipu < device->getNumIpus(); ++ipu) {
    TensorId copy = tensor.id + "___ipu" + std::to_string(ipu);
    if (machineGraph.hasTensor(copy)) {
      engine->writeTensor(copy, begin, end);
    }
  }
}

std::vector<std::vector<char>>
Session::Implementation::valuesByReplica(const Tensor &tensor) const {
  std::size_t size = deviceBytes(tensor.info);
  std::vector<char> bytes(size * static_cast<std::size_t>(copies()));
  engine->readTensor(tensor.id, bytes.data(), bytes.data() + bytes.size());
  bool isFromAll =
      isDistributed() && (groupingOf(tensor).getNumGroups() > 1 ||
                          tensor.variableSettings.getRetrievalMode() ==
                              VariableRetrievalMode::AllReplicas);
  std::int64_t count = replicas();
  if (isFromAll) {
    bytes = gatherFromProcesses(*this, bytes);
    count = allReplicas();
  }
  std::vector<std::vector<char>> byReplica;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t copy = areReplicasFolded ? 0 : i;
    byReplica.push_back(toHostBytes(
        tensor.info, slice(bytes, static_cast<std::size_t>(copy), size)));
  }
  return byReplica;
}

void Session::Implementation::read(Tensor &tensor) {
  if (isHostValue(tensor) &&
      poplar::internal::isLent(*engine, tensor.id, tensor.data.data())) {
    return; // what the host has is what the engine has
  }
  std::vector<std::vector<char>> byReplica = valuesByReplica(tensor);
  ReplicaGrouping grouping = groupingOf(tensor);
  std::vector<char> values;
  for (unsigned group = 0; group < grouping.getNumGroups(); ++group) {
    append(values, byReplica.at(grouping.getReplicaAt(group)));
  }
  tensor.data = std::move(values);
  if (tensor.variableSettings.getRetrievalMode() ==
      VariableRetrievalMode::AllReplicas) {
    returned[tensor.id].clear();
    for (const std::vector<char> &replica : byReplica) {
      append(returned[tensor.id], replica);
    }
  }
}

std::vector<char>
Session::Implementation::returnedBytes(const Tensor &tensor) const {
  auto all = returned.find(tensor.id);
  if (all != returned.end() || tensor.variableSettings.getRetrievalMode() !=
                                   VariableRetrievalMode::AllReplicas) {
    return all == returned.end() ? tensor.data.bytes() : all->second;
  }
  ReplicaGrouping grouping = groupingOf(tensor);
  std::vector<char> bytes;
  for (unsigned i = 0; i < grouping.getNumReplicas(); ++i) {
    append(bytes, slice(tensor.data.bytes(), grouping.getGroupIndexOfReplica(i),
                        static_cast<std::size_t>(tensor.info.nbytes())));
  }
  return bytes;
}

// Values that may change are not part of the program.
void Session::Implementation::writeMissing() {
  if (hasVariables) {
    return;
  }
  forEachVariable([&](const Tensor &variable) {
    if (!isConstant(variable)) {
      write(variable);
    }
  });
  hasVariables = true;
}

void Session::weightsFromHost() {
  Implementation &self = *implementation_;
  self.requireEngine("weightsFromHost");
  self.hasWeights = true;
  if (!self.hasVariables) {
    self.writeMissing();
    return;
  }
  self.forEachVariable([&](const Tensor &tensor) {
    if (!self.isConstant(tensor) &&
        isStreamed(self.ir->sessionOptions, tensor)) {
      self.write(tensor);
    }
  });
}

void Session::buffersFromHost() {
  Implementation &self = *implementation_;
  self.requireEngine("buffersFromHost");
  Graph &graph = self.ir->getMainGraph();
  for (const TensorId &id : self.ir->sessionOptions.updatableNamedBuffers) {
    support::requireUser<error>(
        graph.hasTensor(id) &&
            graph.getTensor(id).type == TensorType::Variable &&
            !self.isConstant(graph.getTensor(id)),
        "[buffersFromHost] updatableNamedBuffers has '{}', which is not a "
        "variable",
        id);
    self.write(graph.getTensor(id));
  }
}

void Session::weightsToHost() {
  Implementation &self = *implementation_;
  self.requireEngine("weightsToHost");
  self.writeMissing();
  self.forEachVariable([&](Tensor &tensor) {
    if (!self.isConstant(tensor) &&
        isStreamed(self.ir->sessionOptions, tensor)) {
      self.read(tensor);
    }
  });
}

void Session::readWeights(const IWeightsIO &weights) {
  Implementation &self = *implementation_;
  self.forEachVariable([&](const Tensor &tensor) {
    if (!weights.contains(tensor.id)) {
      return;
    }
    std::vector<char> bytes = self.returnedBytes(tensor);
    auto values = static_cast<std::int64_t>(bytes.size()) /
                  std::max<std::int64_t>(1, tensor.info.nbytes());
    std::memcpy(memoryFor(weights, tensor, values, values).data, bytes.data(),
                bytes.size());
  });
}

void Session::writeWeights(const IWeightsIO &weights) {
  Implementation &self = *implementation_;
  support::requireUser<error>(
      !self.areWeightsConstant(),
      "Cannot call writeWeights when constantWeights is set. Set "
      "`constantWeights` to False to change weights after compilation");
  self.forEachVariable([&](Tensor &tensor) {
    if (!weights.contains(tensor.id)) {
      return;
    }
    // What readWeights gave may come back: a value for each replica, of which
    // the first of each group counts.
    ReplicaGrouping grouping = self.groupingOf(tensor);
    std::int64_t groups = grouping.getNumGroups();
    std::int64_t returned =
        tensor.variableSettings.numReplicasReturningVariable(
            static_cast<unsigned>(self.allReplicas()));
    MutableVoidData memory = memoryFor(weights, tensor, groups, returned);
    bool isByReplica = memory.info.nelms() != tensor.info.nelms() * groups;
    auto size = static_cast<std::size_t>(tensor.info.nbytes());
    char *values = tensor.data.change();
    for (unsigned group = 0; group < grouping.getNumGroups(); ++group) {
      std::size_t from = isByReplica ? grouping.getReplicaAt(group) : group;
      std::memcpy(values + group * size,
                  static_cast<const char *>(memory.data) + from * size, size);
    }
    self.returned.erase(tensor.id);
  });
}

} // namespace popart
