// A graph, a program and an engine for tests of the libraries: tensors with
// values in, values out.
#pragma once

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poputil/TileMapping.hpp>

#include <cmath>
#include <string>
#include <vector>

class TestProgram {
public:
  explicit TestProgram(unsigned tiles = 16)
      : device_(makeDevice(tiles)), graph(device_.getTarget()) {}

  // A linearly mapped variable with these values at the start.
  template <typename T>
  poplar::Tensor input(const poplar::Type &type,
                       const std::vector<std::size_t> &shape,
                       const std::vector<T> &values) {
    auto tensor =
        graph.addVariable(type, shape, "in" + std::to_string(count_++));
    poputil::mapTensorLinearly(graph, tensor);
    graph.setInitialValue(tensor, poplar::ArrayRef<T>(values));
    return tensor;
  }
  poplar::Tensor input(const std::vector<std::size_t> &shape,
                       const std::vector<float> &values) {
    return input(poplar::FLOAT, shape, values);
  }

  // Runs the program and reads the tensor's elements.
  template <typename T> std::vector<T> run(const poplar::Tensor &result) {
    std::vector<T> values(result.numElements());
    graph.createHostRead("result", result);
    poplar::Engine engine(graph, prog);
    engine.load(device_);
    engine.run(0);
    engine.readTensor("result", values.data(), values.data() + values.size());
    return values;
  }

  // Values that differ from each other and change sign.
  static std::vector<float> pattern(std::size_t count, float scale = 1) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = scale * std::sin(static_cast<float>(3 * i + 1));
    }
    return values;
  }

private:
  static poplar::Device makeDevice(unsigned tiles) {
    poplar::IPUModel model;
    model.tilesPerIPU = tiles;
    return model.createDevice();
  }

  poplar::Device device_;
  unsigned count_ = 0;

public:
  poplar::Graph graph;
  poplar::program::Sequence prog;
};

#define EXPECT_VALUES_NEAR(actual, expected, tolerance)                        \
  do {                                                                         \
    const auto actualValues = (actual);                                        \
    const auto expectedValues = (expected);                                    \
    ASSERT_EQ(actualValues.size(), expectedValues.size());                     \
    for (std::size_t at = 0; at < actualValues.size(); ++at) {                 \
      ASSERT_NEAR(actualValues[at], expectedValues[at], tolerance)             \
          << "element " << at;                                                 \
    }                                                                          \
  } while (false)
