// What a session holds, for the files that implement it.
#pragma once

#include <lowering/Types.hpp>
#include <onnx/Model.hpp>
#include <popart/error.hpp>
#include <popart/session.hpp>
#include <popart/tensornames.hpp>
#include <session/StepBinding.hpp>
#include <support/Error.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <poplar/Engine.hpp>

#include <map>
#include <string>
#include <vector>

namespace popart {

// The programs of an executable; the others are there with
// enableLoadAndOffloadRNGState.
constexpr unsigned stepProgram = 0;
constexpr unsigned rngStateToHostProgram = 1;
constexpr unsigned rngStateFromHostProgram = 2;

struct Session::Implementation {
  std::shared_ptr<Ir> ir;
  std::shared_ptr<DeviceInfo> device;
  std::string name;
  Graph machineGraph;
  bool runsMachine = false; // as PipelineSchedule.hpp has it
  // The value program keeps one copy of what all replicas have, unless they
  // come to differ.
  Graph foldedGraph;
  bool areReplicasFolded = false;
  std::unique_ptr<StepBinding> binding;
  std::unique_ptr<poplar::Engine> engine;
  // What was compiled, to be written to a file.
  poplar::Executable executable;
  // Of variables that all replicas return, what they returned last.
  std::map<TensorId, std::vector<char>> returned;
  // The user's, by stream and replica, where replicas are folded.
  std::map<std::string, std::vector<std::function<void(void *)>>> callbacks;
  OnnxModel model;              // empty when the session was made from an IR
  std::uint64_t randomSeed = 0; // the default, as good as any
  std::uint32_t randomStep = 0; // where the seeds start from when loaded
  std::vector<std::string> cacheProblems;
  bool isLoaded = false;
  bool hasInitializers = false; // of the model's own
  bool hasWeights = false;      // the user called weightsFromHost
  bool hasVariables = false;    // the engine has been given all since its load
  bool hasRun = false;

  // Of this process, and of all.
  std::int64_t replicas() const {
    return ir->sessionOptions.getReplicationFactor();
  }
  std::int64_t allReplicas() const {
    return ir->sessionOptions.getGlobalReplicationFactor();
  }
  bool isDistributed() const { return allReplicas() > replicas(); }
  const Graph &valueGraph() const {
    return runsMachine         ? machineGraph
           : areReplicasFolded ? foldedGraph
                               : ir->getMainGraph();
  }
  // Copies of each variable that the value program has.
  std::int64_t copies() const { return areReplicasFolded ? 1 : replicas(); }

  bool areWeightsConstant() const {
    return !ir->isTraining() && ir->sessionOptions.constantWeights;
  }
  // A value that differs between replicas cannot be part of the program.
  bool isConstant(const Tensor &variable) const {
    return areWeightsConstant() && groupingOf(variable).getNumGroups() == 1;
  }
  ReplicaGrouping groupingOf(const Tensor &variable) const;
  // Type and shape of all groups' values.
  TensorInfo hostInfo(const Tensor &variable) const;

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
      if (tensor.type == TensorType::Variable && !isRandomSeed(id)) {
        f(tensor);
      }
    }
  }

  // Starts the random numbers anew; false where the model has none.
  bool writeSeeds();

  // Whether the host's bytes of a variable are all that the engine has of it.
  bool isHostValue(const Tensor &tensor) const;
  // A variable to all replicas, each its group's value, and to the copies of it
  // on other IPUs if there are any; and back from each group's first replica.
  void write(const Tensor &tensor);
  // All variables, unless the engine has them.
  void writeMissing();
  void read(Tensor &tensor);
  // A variable's values by replica, those of other processes too if needed.
  std::vector<std::vector<char>> valuesByReplica(const Tensor &tensor) const;
  // What readWeights gives: a value for each group, or for each replica.
  std::vector<char> returnedBytes(const Tensor &variable) const;
};

// The value program and the machine program. `progress` may be empty: the
// session's own logger is called then.
poplar::Executable compileSession(const Session::Implementation &session,
                                  const Session::Progress &progress);
// The engine of the session's share of replicas. It meets the other processes
// when it is loaded.
std::unique_ptr<poplar::Engine>
makeEngine(const Session::Implementation &session);
void meetOtherProcesses(const Session::Implementation &session);
// Bytes that each process has equally many of, in the order of processes.
std::vector<char> gatherFromProcesses(const Session::Implementation &session,
                                      const std::vector<char> &own);
// Names the compiled program: the IR, constants, options and device that it was
// made from.
std::string fingerprint(const Session::Implementation &session);
// Whether the engine cache has the program, which is read then.
bool findInCache(Session::Implementation &session);
void addToCache(Session::Implementation &session);
// Files: the fingerprint, what was compiled and, if wanted, variables.
void writeExecutable(const Session::Implementation &session,
                     const std::string &fileName, bool hasVariables);
// Throws popart::error unless the file is whole and of the same fingerprint.
void readExecutable(Session::Implementation &session,
                    const std::string &fileName, bool takesVariables);

} // namespace popart
