// Functions of the host that programs call: each is a set of streams, and runs
// when the first of its results is asked for.
#include <session/Implementation.hpp>

#include <ops/HostFunction.hpp>

#include <cstring>
#include <memory>

namespace popart {
namespace {

using Function = std::function<void(const void *const *, std::size_t,
                                    void *const *, std::size_t)>;
using Buffers = std::vector<std::vector<char>>;

// In the graph, or in what its operations run.
const Op *findCall(const Graph &graph, const std::string &handle) {
  for (const auto &op : graph.getOps()) {
    if (op->opid.type == "HostFunction" &&
        op->attributes.getString("handle", "") == handle) {
      return op.get();
    }
    for (const Graph *called : op->getCalledGraphs()) {
      if (const Op *found = findCall(*called, handle)) {
        return found;
      }
    }
  }
  return nullptr;
}

std::vector<void *> addressesOf(Buffers &buffers) {
  std::vector<void *> addresses;
  for (auto &buffer : buffers) {
    addresses.push_back(buffer.data());
  }
  return addresses;
}

// What goes to the function and comes from it, of one replica.
struct HostCall {
  HostCall(const Op &op, Function called) : function(std::move(called)) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      inputs.emplace_back(deviceBytes(op.inInfo(static_cast<InIndex>(i))));
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      outputs.emplace_back(deviceBytes(op.outInfo(static_cast<OutIndex>(i))));
    }
  }

  void run() {
    std::vector<void *> in = addressesOf(inputs);
    std::vector<void *> out = addressesOf(outputs);
    function(in.data(), in.size(), out.data(), out.size());
  }

  Function function;
  Buffers inputs, outputs;
};

} // namespace

void Session::connectHostFunction(const std::string &functionHandle,
                                  Function function, unsigned index) {
  Implementation &self = *implementation_;
  poplar::Engine &engine = self.requireEngine("connectHostFunction");
  const Op *op = findCall(self.valueGraph(), functionHandle);
  support::requireUser<error>(
      op != nullptr,
      "[connectHostFunction] the program calls no host function '{}'",
      functionHandle);
  // One copy runs the micro-batches of all replicas: any one's function will
  // do, and so the first's does.
  if (self.areReplicasFolded && index > 0) {
    return;
  }
  auto call = std::make_shared<HostCall>(*op, std::move(function));
  for (std::size_t i = 0; i < call->inputs.size(); ++i) {
    engine.connectStreamToCallback(
        hostFunctionInput(functionHandle, i), index, [call, i](void *buffer) {
          auto &input = call->inputs[i];
          std::memcpy(input.data(), buffer, input.size());
        });
  }
  for (std::size_t i = 0; i < call->outputs.size(); ++i) {
    engine.connectStreamToCallback(
        hostFunctionOutput(functionHandle, i), index, [call, i](void *buffer) {
          if (i == 0) {
            call->run();
          }
          const auto &output = call->outputs[i];
          std::memcpy(buffer, output.data(), output.size());
        });
  }
}

} // namespace popart
