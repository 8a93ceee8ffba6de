// Small programs for the engine's tests: a graph with variables that the host
// reads and writes, operations by kind, and runs of them in every executor.
#pragma once

#include "Environment.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/internal/Access.hpp>

#include <kernels/Expression.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace poplar::test {

class EngineProgram {
public:
  EngineProgram() : device_(IPUModel().createDevice()), graph(device_) {}

  // A FLOAT variable that the host can read, and that starts as small integers.
  Tensor addHostVariable(const std::string &name,
                         const std::vector<std::size_t> &shape, int seed) {
    const Tensor tensor = addTemporary(name, shape);
    std::vector<float> values(tensor.numElements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(
          static_cast<int>((i * 7 + static_cast<std::size_t>(seed) * 13) % 11) -
          5);
    }
    graph.setInitialValue(tensor, ArrayRef<float>(values));
    graph.createHostRead(name, tensor);
    graph.createHostWrite(name + "/write", tensor);
    hostNames_.push_back(name);
    sizes_.push_back(values.size());
    return tensor;
  }

  Tensor addTemporary(const std::string &name,
                      const std::vector<std::size_t> &shape) {
    const Tensor tensor = graph.addVariable(FLOAT, shape, name);
    graph.setTileMapping(tensor, 0);
    return tensor;
  }

  // `text` over inputs called a, b, c, ...
  void elementwise(const std::string &text, const std::vector<Tensor> &inputs,
                   const Tensor &output) {
    static constexpr std::string_view names[] = {"a", "b", "c", "d"};
    add("elementwise",
        kernels::Expression::parse(text, std::span(names).first(inputs.size()))
            .toAttributes(),
        inputs, {output});
  }
  void matmul(const Tensor &a, const Tensor &b, const Tensor &output) {
    add("matmul", {{"bias", std::int64_t{0}}, {"activation", std::string()}},
        {a, b}, {output});
  }
  void sum(const Tensor &input, std::int64_t dim, const Tensor &output) {
    add("reduce",
        {{"op", std::string("ADD")},
         {"dims", kernels::Attributes::Ints{dim}},
         {"scale", 1.0}},
        {input}, {output});
  }
  void fill(double value, const Tensor &output) {
    kernels::Attributes::Ints shape;
    for (std::size_t extent : output.shape()) {
      shape.push_back(static_cast<std::int64_t>(extent));
    }
    add("fill",
        {{"type", static_cast<std::int64_t>(support::DataType::Float)},
         {"shape", shape},
         {"value", value}},
        {}, {output});
  }
  void add(const char *kind, kernels::Attributes attributes,
           const std::vector<Tensor> &inputs,
           const std::vector<Tensor> &outputs) {
    internal::VertexGroup group;
    group.kind = &kernels::findKind(kind);
    group.attributes = std::move(attributes);
    for (const Tensor &input : inputs) {
      group.inputs.push_back(internal::tensorView(input));
    }
    for (const Tensor &output : outputs) {
      group.outputs.push_back(internal::tensorView(output));
    }
    group.debugPath = kind;
    internal::executeGroup(graph, program, std::move(group));
  }
  void copy(const Tensor &source, const Tensor &target) {
    program.add(program::Copy(source, target));
  }
  // What `body` adds is run `count` times.
  void repeat(unsigned count, const std::function<void()> &body) {
    program::Sequence outer = program;
    program = program::Sequence();
    body();
    outer.add(program::Repeat(count, program));
    program = outer;
  }

  Engine makeEngine() const {
    return Engine(graph, program, {{"debug.verify", "true"}});
  }

  using Values = std::vector<std::vector<float>>; // by host variable

  // The variables after two runs: a second run sees what the first one left.
  Values run(const std::string &executor, unsigned threads,
             const std::function<void(Engine &)> &prepare = {}) const {
    const Environment name("ASPEN_EXECUTOR", executor);
    const Environment count("ASPEN_THREADS", std::to_string(threads));
    Engine engine = makeEngine();
    engine.load(device_);
    if (prepare) {
      prepare(engine);
    }
    engine.run(0);
    engine.run(0);
    return read(engine);
  }

  Values read(Engine &engine) const {
    Values values;
    for (std::size_t i = 0; i < hostNames_.size(); ++i) {
      std::vector<float> &value = values.emplace_back(sizes_[i]);
      engine.readTensor(hostNames_[i], value.data(),
                        value.data() + value.size());
    }
    return values;
  }

  const Device &device() const { return device_; }

private:
  Device device_;
  std::vector<std::string> hostNames_;
  std::vector<std::size_t> sizes_;

public:
  Graph graph;
  program::Sequence program;
};

} // namespace poplar::test
