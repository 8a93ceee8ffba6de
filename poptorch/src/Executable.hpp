// A traced model, compiled and on a device.
#pragma once

#include "OptimizerDescription.hpp"
#include "SessionOptionsTable.hpp"
#include "TraceRecord.hpp"
#include "TraceToIr.hpp"

#include <popart/dataflow.hpp>
#include <popart/session.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace poptorch {

// A tensor returned besides the outputs.
struct AnchorRequest {
  std::string name;
  popart::AnchorReturnTypeId mode = popart::AnchorReturnTypeId::All;
  int returnPeriod = 1;
};

// poptorch.Liveness, of the tensors of phases.
enum class Liveness {
  AlwaysLive,
  OffChipAfterFwd,
  OffChipAfterFwdNoOverlap,
  OffChipAfterEachPhase
};

struct CompileOptions {
  std::string modelName;
  // Or "sharded", "serial_phased", "parallel_phased".
  std::string executionMode = "pipelined";
  Liveness liveness = Liveness::AlwaysLive;
  bool hasSeparateBackwardPhase = false;
  int deviceIterations = 1;
  int replicationFactor = 1;
  int gradientAccumulation = 1;
  popart::AnchorReturnTypeId outputMode = popart::AnchorReturnTypeId::All;
  int outputReturnPeriod = 1;
  popart::ReductionType reductionType = popart::ReductionType::Mean;
  popart::MeanReductionStrategy meanStrategy =
      popart::MeanReductionStrategy::Post;
  int connectionType = 0; // poptorch.ConnectionType
  int syncPattern = 0;
  bool roundIpuCount = false;
  bool useIpuModel = false;
  std::string ipuModelVersion = "ipu2";
  int ipuModelTiles = 1472;
  std::optional<int> ipuId;
  std::optional<std::uint64_t> randomSeed;
  int processes = 1; // that train together, each with its replicas
  int processId = 0;
  popart::TensorLocationSettings activationLocation, weightLocation,
      optimizerLocation, accumulatorLocation;
  int ioTiles = 0;
  std::map<std::int64_t, double> availableMemory; // by IPU
  std::string executableFile; // what takes the place of compiling
  std::vector<AnchorRequest> anchors;
  PopartOptions popart;
};

class Executable {
public:
  using Progress = popart::Session::Progress;

  // Compiles. Training iff there is an optimiser.
  Executable(const TraceRecord &record, const CompileOptions &options,
             const std::optional<OptimizerDescription> &optimizer,
             const Progress &progress);
  ~Executable();

  // One call: inputs in call order, outputs as outputInfos() describes them,
  // then anchors. Inputs that are not used may be null.
  void run(const std::vector<void *> &inputs,
           const std::vector<void *> &outputs);

  // Types and shapes of the outputs, then of written inputs and anchors, all
  // micro-batches of a call together.
  const std::vector<popart::TensorInfo> &outputInfos() const {
    return outputInfos_;
  }
  const std::vector<std::pair<std::size_t, popart::TensorId>> &
  writtenInputs() const {
    return translation_.writtenInputs;
  }

  // Weights of the model by name, from and to host memory.
  const std::vector<std::string> &stateNames() const {
    return translation_.state;
  }
  // Weights that groups of replicas have their own values of have a row for
  // each in host memory, others 0. What is read back has `returnedRows`.
  using Rows = std::vector<std::int64_t>;
  Rows returnedRows() const;
  void writeWeights(const std::vector<void *> &weights, const Rows &rows);
  void readWeights(const std::vector<void *> &weights, const Rows &rows);
  // Only those of updatableNamedBuffers; the others are null.
  void writeBuffers(const std::vector<void *> &weights);

  void setOptimizer(const OptimizerDescription &description);

  // The device's part of the optimiser's state, in this order: tensors that
  // belong to weights (momentum, accumulators), and streamed scalars.
  struct OptimizerTensor {
    std::string name;
    popart::TensorInfo info;
    bool isScalar;
  };
  std::vector<OptimizerTensor> optimizerTensors() const;
  // Null pointers are left alone.
  void readOptimizerState(const std::vector<void *> &tensors);
  void writeOptimizerState(const std::vector<void *> &tensors);

  // The seed, the micro-batches that numbers were drawn for since it was set,
  // and the state of the tiles.
  std::vector<std::uint64_t> randomState();
  void setRandomState(const std::vector<std::uint64_t> &state);

  // What a traced call of the host runs, by its number in the trace: it is
  // given the memory of its inputs and of its outputs.
  using HostFunction = std::function<void(const void *const *, std::size_t,
                                          void *const *, std::size_t)>;
  void connectHostFunction(std::int64_t number, const HostFunction &function);

  std::uint64_t cycleCount();
  // When the data of each run went over: seconds on one clock.
  struct RunTimes {
    double input = 0, inputComplete = 0, output = 0, outputComplete = 0;
  };
  const std::optional<RunTimes> &lastRunTimes() const { return lastRunTimes_; }

  // Why the executable cache could not be read or written.
  const std::vector<std::string> &cacheProblems() const;

  // The compiled program to a file that `executableFile` may name.
  void save(const std::string &fileName);

  void attach();
  void detach();
  bool isAttached() const { return device_->isAttached(); }

  std::vector<std::string> tensorNames() const;
  std::string summary();
  std::string printIr(bool isMachine) const;
  // As JSON, as PopART documents it.
  std::string serializeIr() const;
  std::int64_t ipuCount() const { return translation_.ipuCount; }

private:
  class HostArray;

  void setSessionOptions(bool clipsGradients);
  void setPhases(popart::SessionOptions &session) const;
  // None: not phased.
  std::optional<std::int64_t> phaseStride() const;
  bool hasTileState() const;
  void makeArrays(const TraceRecord &record);
  void checkPipeline() const;
  void acquireDevice();
  void initSession();
  void setDataFlow();
  popart::TensorInfo batched(const popart::TensorId &id,
                             const popart::AnchorReturnType &type) const;
  unsigned replicas() const { // of all processes
    return static_cast<unsigned>(options_.replicationFactor *
                                 options_.processes);
  }
  popart::WeightsIO weightsIO(const std::vector<void *> &weights,
                              const Rows &rows) const;
  popart::WeightsIO optimizerIO(const std::vector<void *> &memory) const;

  CompileOptions options_;
  std::shared_ptr<popart::Ir> ir_;
  Translation translation_;
  std::shared_ptr<popart::DeviceInfo> device_;
  std::unique_ptr<popart::Session> session_;
  bool hasWeights_ = false;               // the device has them
  std::vector<std::uint32_t> tileState_;  // while detached
  std::vector<popart::TensorId> anchors_; // by output
  std::vector<popart::TensorInfo> outputInfos_;
  std::optional<RunTimes> lastRunTimes_;
  // What the session reads and writes: the arrays stay, the memory is the
  // caller's of each call.
  std::vector<std::unique_ptr<HostArray>> inputArrays_;
  std::vector<std::unique_ptr<HostArray>> outputArrays_;
};

} // namespace poptorch
