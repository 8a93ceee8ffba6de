// One network trained in many ways: as a session trains it, and by its machine
// program as written, for the tests of what only the machine program has.
#pragma once

#include "Models.hpp"

#include <ir/GraphEditor.hpp>
#include <lowering/HostTensors.hpp>
#include <lowering/StepProgram.hpp>
#include <transforms/Pipeline.hpp>
#include <transforms/TensorLocations.hpp>

#include <poplar/Engine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace popart::tests {

struct Trained {
  std::vector<float> losses;
  std::map<TensorId, std::vector<float>> weights;
};

inline std::int64_t microBatchesOf(const Ir &ir) {
  const SessionOptions &options = ir.sessionOptions;
  return std::int64_t{ir.dataFlow.batchesPerStep()} *
         options.getAccumulationFactor() * options.getReplicationFactor();
}

inline std::vector<float> inputsOf(const Ir &ir) {
  const Tensor &x = ir.getMainGraph().getTensor("x");
  return Numbers(3).list(microBatchesOf(ir) * x.info.nelms());
}

inline std::vector<std::int32_t> labelsOf(const Ir &ir) {
  const Tensor &labels = ir.getMainGraph().getTensor("labels");
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < microBatchesOf(ir) * labels.info.nelms(); ++i) {
    values.push_back(static_cast<std::int32_t>(i % 5));
  }
  return values;
}

inline std::vector<TensorId> weightsOf(const Ir &ir) {
  std::vector<TensorId> ids;
  for (const TensorId &id : ir.getMainGraph().getTensorIds()) {
    if (id.size() == 2 && (id[0] == 'w' || id[0] == 'b')) {
      ids.push_back(id);
    }
  }
  return ids;
}

// Through a session: the value program.
inline Trained runSession(const std::shared_ptr<Ir> &ir, int ipusPerReplica) {
  auto replicas = static_cast<int>(ir->sessionOptions.getReplicationFactor());
  auto session = train(ir, ipusPerReplica * replicas);
  Step step;
  step.input("x", inputsOf(*ir));
  step.input("labels", labelsOf(*ir));
  auto &losses = step.output("loss", microBatchesOf(*ir));
  step.run(*session);
  Trained result{losses, {}};
  for (const TensorId &id : weightsOf(*ir)) {
    result.weights[id] = readWeight(*session, id);
  }
  return result;
}

// The model's estimate of a step of training.
inline std::uint64_t cyclesOf(const std::shared_ptr<Ir> &ir,
                              int ipusPerReplica = 1) {
  ir->sessionOptions.instrumentWithHardwareCycleCounter = true;
  auto replicas = static_cast<int>(ir->sessionOptions.getReplicationFactor());
  auto session = train(ir, ipusPerReplica * replicas);
  Step step;
  step.input("x", inputsOf(*ir));
  step.input("labels", labelsOf(*ir));
  step.output("loss", microBatchesOf(*ir));
  step.run(*session);
  return session->getCycleCount();
}

inline void toMachine(Ir &ir, Graph &machine, int ipusPerReplica) {
  PassContext model{ir, ir.getMainGraph(), ipusPerReplica};
  runPasses(modelPasses(), model);
  GraphEditor(machine).copyFrom(ir.getMainGraph());
  PassContext context{ir, machine, ipusPerReplica};
  runPasses(machinePasses(), context);
}

// Operations by type, or by type and what is in an attribute of them.
inline std::map<std::string, int> countOps(const Graph &graph,
                                           const std::string &attribute = {}) {
  std::map<std::string, int> counts;
  for (const auto &op : graph.getOps()) {
    ++counts[op->opid.type];
    if (op->attributes.hasAttribute(attribute)) {
      ++counts[op->opid.type + " " + op->attributes.getString(attribute, "")];
    }
  }
  return counts;
}

// Where the machine program has a variable: in how many pieces, each in one
// replica, and whether in remote buffers.
struct VariablePlace {
  // `shards`: replicas that share what is sharded.
  VariablePlace(const Graph &machine, const Tensor &variable,
                std::size_t shards)
      : id(variable.id),
        elements(static_cast<std::size_t>(variable.info.nelms())),
        pieceElements(elements) {
    if (machine.hasTensor(id)) {
      pieceElements =
          static_cast<std::size_t>(machine.getTensor(id).info.nelms());
    } else {
      isRemote = true;
      for (const auto &op : machine.getOps()) {
        if (op->opid.type == "RemoteLoad" &&
            op->attributes.getString("buffer", "") == id) {
          pieceElements = static_cast<std::size_t>(op->outInfo(0).nelms());
        }
      }
    }
    pieces = pieceElements == elements ? 1 : shards;
  }

  // Replicas share pieces with their neighbours.
  void write(poplar::Engine &engine, const std::vector<char> &data,
             std::size_t replicas) const {
    std::size_t bytes = data.size() / elements * pieceElements;
    std::vector<char> padded = data;
    padded.resize(bytes * pieces);
    std::vector<char> all;
    for (std::size_t r = 0; r < replicas; ++r) {
      auto begin =
          padded.begin() + static_cast<std::ptrdiff_t>(r % pieces * bytes);
      std::vector<char> piece(begin,
                              begin + static_cast<std::ptrdiff_t>(bytes));
      if (isRemote) {
        engine.copyToRemoteBuffer(piece.data(), id, 0,
                                  static_cast<unsigned>(r));
      }
      all.insert(all.end(), piece.begin(), piece.end());
    }
    if (!isRemote) {
      engine.writeTensor(id, all.data(), all.data() + all.size());
    }
  }

  std::vector<float> read(poplar::Engine &engine, std::size_t replicas) const {
    std::vector<float> values(pieceElements * replicas);
    if (!isRemote) {
      engine.readTensor(id, values.data(), values.data() + values.size());
    }
    for (std::size_t r = 0; isRemote && r < replicas; ++r) {
      engine.copyFromRemoteBuffer(id, values.data() + r * pieceElements, 0,
                                  static_cast<unsigned>(r));
    }
    values.resize(elements);
    return values;
  }

  TensorId id;
  std::size_t elements;
  std::size_t pieceElements;
  std::size_t pieces = 1;
  bool isRemote = false;
};

// The engine's executor for programs loaded meanwhile.
class WithExecutor {
public:
  explicit WithExecutor(const char *name) { setenv("ASPEN_EXECUTOR", name, 1); }
  ~WithExecutor() { unsetenv("ASPEN_EXECUTOR"); }
  WithExecutor(const WithExecutor &) = delete;
  WithExecutor &operator=(const WithExecutor &) = delete;
};

// By the machine program, run as written.
inline Trained runMachine(Ir &ir, int ipusPerReplica,
                          const char *executor = "fast") {
  WithExecutor with(executor);
  Graph machine;
  toMachine(ir, machine, ipusPerReplica);
  const SessionOptions &options = ir.sessionOptions;
  auto replicas = static_cast<unsigned>(options.getReplicationFactor());
  auto device = modelDevice(ipusPerReplica * static_cast<int>(replicas),
                            8 + options.numIOTiles);
  poplar::Graph target(device->getDevice().getTarget(),
                       poplar::replication_factor(replicas));
  poplar::Engine engine(
      target,
      lowerStep(ir, machine, target,
                {.isPipelined = options.enablePipelining, .isMachine = true}));
  engine.load(device->getDevice());
  const Graph &model = ir.getMainGraph();
  auto shards = static_cast<std::size_t>(shardsOf(
      ir, options.weightTensorLocationSettings.location.shardingDomain));
  for (const TensorId &id : model.getTensorIds()) {
    const Tensor &tensor = model.getTensor(id);
    if (tensor.type == TensorType::Variable) {
      VariablePlace(machine, tensor, shards)
          .write(engine, tensor.data.bytes(), replicas);
    }
  }
  auto x = inputsOf(ir);
  auto labels = labelsOf(ir);
  Trained result;
  result.losses.resize(static_cast<std::size_t>(microBatchesOf(ir)));
  engine.connectStream("x", x.data(), x.data() + x.size());
  engine.connectStream("labels", labels.data(), labels.data() + labels.size());
  engine.connectStream(anchorHandle("loss"), result.losses.data(),
                       result.losses.data() + result.losses.size());
  engine.run(0);
  for (const TensorId &id : weightsOf(ir)) {
    result.weights[id] = VariablePlace(machine, model.getTensor(id), shards)
                             .read(engine, replicas);
  }
  return result;
}

inline void expectNear(const std::vector<float> &a, const std::vector<float> &b,
                       double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0f, std::abs(b[i]))) << i;
  }
}

// Equal up to `tolerance`; 0: to the last bit.
inline void expectSame(const Trained &a, const Trained &b,
                       double tolerance = 0) {
  expectNear(a.losses, b.losses, tolerance);
  for (const auto &[id, values] : b.weights) {
    SCOPED_TRACE(id);
    expectNear(a.weights.at(id), values, tolerance);
  }
  EXPECT_NE(a.losses.front(), a.losses.back());
}

} // namespace popart::tests
