// What a session holds, for the files that implement it.
#pragma once

#include <lowering/Types.hpp>
#include <onnx/Model.hpp>
#include <popart/error.hpp>
#include <popart/session.hpp>
#include <session/StepBinding.hpp>
#include <support/Error.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <poplar/Engine.hpp>

#include <string>
#include <vector>

namespace popart {

struct Session::Implementation {
  std::shared_ptr<Ir> ir;
  std::shared_ptr<DeviceInfo> device;
  std::string name;
  Graph machineGraph;
  // The value program keeps one copy of what all replicas have, unless they
  // come to differ or the schedule is visible.
  Graph foldedGraph;
  bool areReplicasFolded = false;
  std::unique_ptr<StepBinding> binding;
  std::unique_ptr<poplar::Engine> engine;
  // What was compiled, to be written to a file.
  poplar::Executable executable;
  OnnxModel model; // empty when the session was made from an IR
  std::uint64_t randomSeed = 0;
  bool isLoaded = false;
  bool hasWeights = false;
  bool hasRun = false;

  bool isScheduleVisible() const { return popart::isScheduleVisible(*ir); }
  std::int64_t replicas() const {
    return ir->sessionOptions.getReplicationFactor();
  }
  const Graph &valueGraph() const {
    return isScheduleVisible() ? machineGraph
           : areReplicasFolded ? foldedGraph
                               : ir->getMainGraph();
  }
  // Copies of each variable that the value program has.
  std::int64_t copies() const { return areReplicasFolded ? 1 : replicas(); }

  bool areWeightsConstant() const {
    return !ir->isTraining() && ir->sessionOptions.constantWeights;
  }

  poplar::Engine &requireEngine(const char *function) const {
    support::requireUser<error>(
        engine != nullptr,
        "Devicex::prepare() must be called before Devicex::{}; call "
        "prepareDevice first",
        function);
    return *engine;
  }

  template <typename F> void forEachVariable(F &&f) {
    for (const TensorId &id : ir->getMainGraph().getTensorIds()) {
      Tensor &tensor = ir->getMainGraph().getTensor(id);
      if (tensor.type == TensorType::Variable) {
        f(tensor);
      }
    }
  }

  // Sends a variable to all replicas, and the copies of it on other IPUs if
  // there are any.
  void write(const Tensor &tensor) {
    std::vector<char> one = toDeviceBytes(tensor.info, tensor.data);
    std::vector<char> bytes;
    for (std::int64_t i = 0; i < copies(); ++i) {
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    const char *begin = bytes.data();
    const char *end = begin + bytes.size();
    engine->writeTensor(tensor.id, begin, end);
    if (!isScheduleVisible()) {
      return;
    }
    for (int ipu = 0; ipu < device->getNumIpus(); ++ipu) {
      TensorId copy = tensor.id + "___ipu" + std::to_string(ipu);
      if (machineGraph.hasTensor(copy)) {
        engine->writeTensor(copy, begin, end);
      }
    }
  }
};

// Names the compiled program: the IR, constants, options and device that it was
// made from.
std::string fingerprint(const Session::Implementation &session);
// Where the engine cache has, or will have, the program; empty without a cache.
std::string cacheFile(const Session::Implementation &session);
// Files: the fingerprint, what was compiled and, if wanted, variables.
void writeExecutable(const Session::Implementation &session,
                     const std::string &fileName, bool hasVariables);
// Throws popart::error unless the file is whole and of the same fingerprint.
void readExecutable(Session::Implementation &session,
                    const std::string &fileName);

} // namespace popart
