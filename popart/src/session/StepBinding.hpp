// The streams of a step, and how a step's data is connected to them.
#pragma once

#include <popart/ir.hpp>
#include <popart/stepio.hpp>

#include <poplar/Engine.hpp>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace popart {

// The shape of an anchor's array: dimensions of size 1 among batches,
// accumulation and replicas are dropped.
Shape anchorShape(const Ir &ir, const TensorId &id, const TensorInfo &info);

class StepBinding {
public:
  StepBinding(const Ir &ir, const Graph &graph);

  // Connects every stream to `stepIO`, after checking its arrays.
  void connect(poplar::Engine &engine, IStepIO &stepIO);
  // After the run: results that the host wants in another type.
  void finish(IStepIO &stepIO);
  // The user has connected this stream.
  void leaveToUser(const std::string &handle) { userHandles_.insert(handle); }

private:
  struct Stream {
    TensorId id;
    std::string handle;
    TensorInfo info;           // of one transfer
    std::int64_t elements = 0; // of the whole step
    bool isInput = true;
    bool isBroadcast = false; // to all replicas
    // The step's data in 32 bits, where the host has 64.
    std::vector<std::int32_t> narrow;
    // One transfer, with syntheticDataMode.
    std::vector<char> synthetic;
  };

  void connectArray(poplar::Engine &engine, Stream &stream, IArray *array);
  void connectCallback(poplar::Engine &engine, const Stream &stream);
  // Once for all tensors.
  void warnOfNarrowing(const Stream &stream);
  void connectSynthetic(poplar::Engine &engine, Stream &stream);

  SyntheticDataMode mode_;
  std::vector<Stream> streams_;
  std::string breakdown_; // of the element counts, for messages
  IStepIO *current_ = nullptr;
  std::set<std::string> userHandles_;
  bool hasWarned_ = false;
};

} // namespace popart
