// A compiled model on a device: weights to and from it, steps on it.
#pragma once

#include <popart/devicemanager.hpp>
#include <popart/inputshapeinfo.hpp>
#include <popart/ir.hpp>
#include <popart/patterns/patterns.hpp>
#include <popart/stepio.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace popart {

class Session {
public:
  // Called with (progress, total) while the engine is compiled.
  using Progress = std::function<void(int, int)>;

  struct Implementation; // popart/src/session/Implementation.hpp

  virtual ~Session();

  // Lowers the IR, compiles the engine and, with `loadEngine`, loads it.
  void prepareDevice(bool loadEngine = true, const Progress &progress = {});
  void loadEngineAndConnectStreams();

  // Compiles, if that has not been done, and writes what was compiled to a
  // file, or to executable.popef in a folder. loadExecutable takes the place of
  // compiling in a session that was made from the same model and options.
  void compileAndExport(const std::string &fileName);
  void saveExecutable(const std::string &path, bool savePopartMetadata = true,
                      bool saveVariables = true);
  void saveVariables(const std::string &path);
  void loadExecutable(const std::string &fileName);
  // Takes what the engine cache has; false when it has nothing.
  bool tryLoadExecutable();
  // Writes the compiled program to the engine cache again.
  void updateEngineCache();
  // Why the engine cache could not be read or written, a sentence each time.
  const std::vector<std::string> &cacheProblems() const;

  // Host copies of the weights to the device, and back.
  void weightsFromHost();
  void weightsToHost();
  // The host copies of updatableNamedBuffers alone.
  void buffersFromHost();
  // From one process to the others.
  void broadcastWeights(int rootRank = 0);
  // Host copies to the user's memory (call weightsToHost first) and from it
  // (call weightsFromHost after). Ids that `weights` lacks are left alone.
  void readWeights(const IWeightsIO &weights);
  void writeWeights(const IWeightsIO &weights);

  // The device's weights and the optimiser's state as an ONNX model. Weights
  // that the model had in other files are written there.
  void modelToHost(const std::string &fileName);
  // Host copies from a model's initialisers (call weightsFromHost after).
  void resetHostWeights(
      const std::string &modelProtoOrFilename,
      bool ignoreWeightsInModelWithoutCorrespondingHostWeight = false);
  // Weights that were in one file go to a copy of it from now on.
  void updateExternallySavedTensorLocations(const std::string &fromLocation,
                                            const std::string &toLocation);

  // One step: batchesPerStep batches.
  void run(IStepIO &stepIO, const std::string &debugName = "");
  // The same of a program by name. There is one, "main".
  void run(const std::string &programHandle, IStepIO &stepIO,
           const std::string &debugName = "");

  // Streams that the user serves instead of the step's IStepIO: inputs by their
  // id, anchors by "anchor:" and their id. `index` is the replica.
  void connectStreamToCallback(const std::string &streamHandle,
                               std::function<void(void *)> callback,
                               unsigned index = 0);
  // A buffer of one transfer.
  void connectStream(const std::string &streamHandle, void *buffer);
  // What an operation HostFunction of this handle runs: it reads the inputs and
  // fills the outputs, whose memory is given. `index` is the replica.
  void connectHostFunction(const std::string &functionHandle,
                           std::function<void(const void *const *, std::size_t,
                                              void *const *, std::size_t)>
                               function,
                           unsigned index = 0);
  // One row of a remote buffer.
  void copyFromRemoteBuffer(const std::string &buffer, void *destination,
                            int repeatIndex, unsigned replicationIndex = 0);
  void copyToRemoteBuffer(void *source, const std::string &buffer,
                          int repeatIndex, unsigned replicationIndex = 0);

  // Where the model's random numbers start; after prepareDevice.
  void setRandomSeed(std::uint64_t seed);
  std::uint64_t getRandomSeed() const;
  // How many micro-batches the device has drawn numbers for since then; setting
  // it goes on from there.
  std::uint32_t getRandomStep();
  void setRandomStep(std::uint32_t step);
  // The seeds of every worker of every tile, for enableLoadAndOffloadRNGState:
  // four words each, those of all replicas one after another.
  std::vector<std::uint32_t> getRNGState();
  void setRNGState(const std::vector<std::uint32_t> &state);
  // The model's estimate for the last run. `id` is "" for the whole step or
  // "inner_ipu_<i>".
  std::uint64_t getCycleCount(const std::string &id = "");

  // Ids of every tensor of the transformed model, in name order.
  std::vector<TensorId> getTensorIds() const;
  bool hasInfo(const TensorId &id) const;
  TensorInfo getInfo(const TensorId &id) const;
  // The shape that an anchor's array must have.
  Shape getAnchorShape(const TensorId &id) const;

  // The profile of the runs so far, as poplar::Engine prints it. With
  // `resetProfile` the next one starts from nothing.
  std::string getSummaryReport(bool resetProfile = true);
  // The IR after all transforms, one operation per line; with `machine` the
  // one that the machine program was lowered from.
  std::string printIr(bool machine = false) const;
  // The same as JSON: {"maingraph": [operations]}.
  std::string serializeIr(IrSerializationFormat format) const;
  // What was compiled, in the form of saveExecutable's files.
  std::string getSerializedGraph() const;
  // Throws popart::error when it is ambiguous which operations run in place;
  // here that never changes a value.
  void checkInplacingAmbiguity() const {}

  const Ir &getIr() const;
  std::shared_ptr<Ir> shareIr() const;
  // False: load again before the next run.
  void setEngineIsLoaded(bool isLoaded);

protected:
  Session(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
          std::string name);

  std::unique_ptr<Implementation> implementation_;
};

class InferenceSession : public Session {
public:
  // `model` is the name of a file or a serialised ModelProto.
  static std::unique_ptr<InferenceSession>
  createFromOnnxModel(const std::string &model, const DataFlow &dataFlow,
                      std::shared_ptr<DeviceInfo> device,
                      const InputShapeInfo &inputShapeInfo = InputShapeInfo(),
                      const SessionOptions &userOptions = SessionOptions(),
                      const Patterns &patterns = Patterns(),
                      const std::string &name = "inference");
  static std::unique_ptr<InferenceSession>
  createFromIr(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
               const std::string &name = "inference");

private:
  using Session::Session;
};

class TrainingSession : public Session {
public:
  // `loss` is the id of a scalar of the model.
  static std::unique_ptr<TrainingSession>
  createFromOnnxModel(const std::string &model, const DataFlow &dataFlow,
                      const TensorId &loss, const Optimizer &optimizer,
                      std::shared_ptr<DeviceInfo> device,
                      const InputShapeInfo &inputShapeInfo = InputShapeInfo(),
                      const SessionOptions &userOptions = SessionOptions(),
                      const Patterns &patterns = Patterns(),
                      const std::string &name = "training");
  // `ir` has a loss and an optimiser.
  static std::unique_ptr<TrainingSession>
  createFromIr(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
               const std::string &name = "training");

  // Sends the values that are not constant; throws popart::error when the new
  // optimiser does not fit the compiled one.
  void updateOptimizerFromHost(const Optimizer &optimizer);

private:
  using Session::Session;
};

} // namespace popart
