// Small models and the machinery to run them, for the tests of this folder.
#pragma once

#include <popart/graph.hpp>
#include <popart/session.hpp>
#include <popart/sgd.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace popart::tests {

// Repeatable numbers in [-1, 1).
class Numbers {
public:
  explicit Numbers(std::uint32_t seed) : state_(seed) {}
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) / 8388608.0f - 1.0f;
  }
  std::vector<float> list(std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(next());
    }
    return values;
  }

private:
  std::uint32_t state_;
};

inline TensorInfo floats(const Shape &shape) {
  return TensorInfo(DataType::FLOAT, shape);
}

inline TensorId addWeight(Graph &graph, const TensorId &id, const Shape &shape,
                          std::uint32_t seed) {
  TensorInfo info = floats(shape);
  auto values = Numbers(seed).list(info.nelms());
  return graph.addVariable(id, info, values.data());
}

inline TensorId add(Graph &graph, const std::string &type,
                    const std::vector<TensorId> &inputs,
                    const Attributes &attributes = {},
                    const Op::Settings &settings = {},
                    const std::string &domain = "ai.onnx") {
  return graph.addOp({domain, type}, inputs, 1, attributes, settings)[0];
}

inline Op::Settings onIpu(VGraphId ipu) {
  Op::Settings settings;
  settings.vgraphId = ipu;
  settings.name = "layer" + std::to_string(ipu);
  return settings;
}

// x[samples, 3] through `layers` fully connected layers with tanh, layer i on
// IPU i, and a classifier with its loss on the last IPU. Loss id: "loss".
inline std::shared_ptr<Ir> classifier(int layers, std::int64_t samples,
                                      ReductionType reduction) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({samples, 3}));
  TensorId labels =
      graph.addStream("labels", TensorInfo(DataType::INT32, {samples}));
  std::int64_t width = 3;
  for (int i = 0; i < layers; ++i) {
    std::string name = "w" + std::to_string(i);
    auto seed = static_cast<std::uint32_t>(i + 1);
    std::int64_t next = 4 + i;
    TensorId weight = addWeight(graph, name, {width, next}, seed);
    TensorId bias = addWeight(graph, "b" + std::to_string(i), {next}, seed + 7);
    x = add(graph, "MatMul", {x, weight}, {}, onIpu(i));
    x = add(graph, "Add", {x, bias}, {}, onIpu(i));
    if (i + 1 < layers) {
      x = add(graph, "Tanh", {x}, {}, onIpu(i));
    }
    width = next;
  }
  x = add(graph, "LogSoftmax", {x}, {}, onIpu(layers - 1));
  Attributes attributes;
  attributes.set("reduction", static_cast<Attributes::Int>(reduction))
      .set("inputIsLogProbability", Attributes::Int{1});
  graph.addOp({"ai.graphcore", "Nllloss"}, {x, labels}, {"loss"}, attributes,
              onIpu(layers - 1));
  ir->loss = "loss";
  return ir;
}

inline std::shared_ptr<DeviceInfo> modelDevice(int ipus, int tilesPerIpu = 8) {
  return DeviceManager::createDeviceManager().createIpuModelDevice(
      {{"numIPUs", std::to_string(ipus)},
       {"tilesPerIPU", std::to_string(tilesPerIpu)}});
}

// Compiled, with its weights on the device.
inline std::unique_ptr<TrainingSession> train(const std::shared_ptr<Ir> &ir,
                                              int ipus = 1) {
  auto session = TrainingSession::createFromIr(
      ir, modelDevice(ipus, 8 + ir->sessionOptions.numIOTiles));
  session->prepareDevice();
  session->weightsFromHost();
  return session;
}

// Arrays for a step; results are zero until it has run.
class Step {
public:
  void input(const TensorId &id, std::vector<float> values) {
    floats_[id] = std::move(values);
    addArray(inputs_, id, floats_[id].data(), floats_[id].size());
  }
  void input(const TensorId &id, std::vector<std::int32_t> values) {
    ints_[id] = std::move(values);
    addArray(inputs_, id, ints_[id].data(), ints_[id].size());
  }
  const std::vector<float> &output(const TensorId &id, std::int64_t count) {
    auto &values = results_[id];
    values.assign(static_cast<std::size_t>(count), 0.0f);
    addArray(outputs_, id, values.data(), values.size());
    return values;
  }
  void run(Session &session) {
    StepIO stepIO(inputs_, outputs_);
    session.run(stepIO);
  }

private:
  template <typename T>
  void addArray(std::map<TensorId, IArray &> &map, const TensorId &id, T *data,
                std::size_t count) {
    arrays_.push_back(std::make_unique<NDArrayWrapper<T>>(
        data, Shape{static_cast<std::int64_t>(count)}));
    map.erase(id);
    map.emplace(id, *arrays_.back());
  }

  std::map<TensorId, std::vector<float>> floats_;
  std::map<TensorId, std::vector<std::int32_t>> ints_;
  std::map<TensorId, std::vector<float>> results_;
  std::vector<std::unique_ptr<IArray>> arrays_;
  std::map<TensorId, IArray &> inputs_;
  std::map<TensorId, IArray &> outputs_;
};

inline std::vector<float> readWeight(Session &session, const TensorId &id) {
  std::vector<float> values(
      static_cast<std::size_t>(session.getInfo(id).nelms()));
  session.weightsToHost();
  WeightsIO io;
  io.insert(id, {values.data(), session.getInfo(id)});
  session.readWeights(io);
  return values;
}

} // namespace popart::tests
