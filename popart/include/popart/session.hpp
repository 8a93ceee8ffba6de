// A compiled model on a device: weights to and from it, steps on it.
#pragma once

#include <popart/devicemanager.hpp>
#include <popart/ir.hpp>
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

  virtual ~Session();

  // Lowers the IR, compiles the engine and, with `loadEngine`, loads it.
  void prepareDevice(bool loadEngine = true, const Progress &progress = {});
  void loadEngineAndConnectStreams();

  // Host copies of the weights to the device, and back.
  void weightsFromHost();
  void weightsToHost();
  // Host copies to the user's memory (call weightsToHost first) and from it
  // (call weightsFromHost after). Ids that `weights` lacks are left alone.
  void readWeights(const IWeightsIO &weights);
  void writeWeights(const IWeightsIO &weights);

  // One step: batchesPerStep batches.
  void run(IStepIO &stepIO, const std::string &debugName = "");

  // Ids of every tensor of the transformed model, in name order.
  std::vector<TensorId> getTensorIds() const;
  bool hasInfo(const TensorId &id) const;
  TensorInfo getInfo(const TensorId &id) const;
  // The shape that an anchor's array must have.
  Shape getAnchorShape(const TensorId &id) const;

  // The profile of the runs so far, as poplar::Engine prints it.
  std::string getSummaryReport(bool resetProfile = true);
  // The IR after all transforms, one operation per line; with `machine` the
  // one that the machine program was lowered from.
  std::string printIr(bool machine = false) const;

  const Ir &getIr() const;

protected:
  Session(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
          std::string name);

  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

class InferenceSession : public Session {
public:
  static std::unique_ptr<InferenceSession>
  createFromIr(std::shared_ptr<Ir> ir, std::shared_ptr<DeviceInfo> device,
               const std::string &name = "inference");

private:
  using Session::Session;
};

class TrainingSession : public Session {
public:
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
