// Aspen's side of the operations' benchmark: the engine runs a program that
// repeats one kind of operation.
#include "Worker.hpp"

#include <kernels/Expression.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/TypeConversion.hpp>
#include <poplin/codelets.hpp>
#include <popnn/codelets.hpp>
#include <popnn/internal/Kinds.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

namespace {

using namespace operations;
using poplar::Tensor;
using poplar::program::Repeat;
using poplar::program::Sequence;
using Tensors = std::vector<Tensor>;

kernels::Attributes attributesOf(const Json &operation) {
  using kernels::Attributes;
  if (operation.contains("expression")) {
    constexpr std::string_view names[] = {"a", "b", "c"};
    return kernels::Expression::parse(
               operation["expression"].get<std::string>(), names)
        .toAttributes();
  }
  Attributes attributes;
  for (const auto &[name, value] : operation.at("attributes").items()) {
    if (value.is_array()) {
      attributes.set(name, value.get<Attributes::Ints>());
    } else if (value.is_string()) {
      attributes.set(name, value.get<std::string>());
    } else if (value.is_number_integer()) {
      attributes.set(name, value.get<std::int64_t>());
    } else {
      attributes.set(name, value.get<double>());
    }
  }
  return attributes;
}

poplar::Type typeOf(const Json &input) {
  const auto name = input.value("type", std::string("float"));
  return name == "half"  ? poplar::HALF
         : name == "int" ? poplar::INT
                         : poplar::FLOAT;
}

// Between floats and the bytes of a tensor. Fractions of integers are dropped.
std::vector<char> toBytes(const poplar::Target &target,
                          const poplar::Type &type,
                          const std::vector<float> &values) {
  std::vector<char> bytes(values.size() * target.getTypeSize(type));
  if (type == poplar::HALF) {
    poplar::copyFloatToDeviceHalf(target, values.data(), bytes.data(),
                                  values.size());
  } else if (type == poplar::INT) {
    std::copy(values.begin(), values.end(),
              reinterpret_cast<std::int32_t *>(bytes.data()));
  } else {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}
std::vector<float> toFloats(const poplar::Target &target,
                            const poplar::Type &type,
                            const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size() / target.getTypeSize(type));
  if (type == poplar::HALF) {
    poplar::copyDeviceHalfToFloat(target, bytes.data(), values.data(),
                                  values.size());
  } else if (type == poplar::INT) {
    const auto *numbers = reinterpret_cast<const std::int32_t *>(bytes.data());
    std::copy_n(numbers, values.size(), values.begin());
  } else {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

// The graph of one case with the programs that are run, and their engine.
class Operation {
public:
  // `isSampled`: see sample().
  Operation(const Json &description, unsigned repeats, bool isSampled)
      : device_(poplar::IPUModel().createDevice()), graph_(device_.getTarget()),
        count_(repeats) {
    popops::addCodelets(graph_);
    poplin::addCodelets(graph_);
    popnn::addCodelets(graph_);
    Sequence setUp;
    Tensors made;
    if (description.contains("before")) {
      const Json &before = description["before"];
      made = emit(before, addInputs(before, {}), setUp);
    }
    const Tensors inputs = addInputs(description, made);
    Sequence once;
    const Tensors outputs = emit(description, inputs, once);
    for (const std::size_t index :
         description.at("outputs").get<std::vector<std::size_t>>()) {
      checked_.push_back(outputs.at(index));
      graph_.createHostRead(outputName(checked_.size() - 1), checked_.back());
    }
    Sequence many;
    Sequence body = once;
    if (isSampled) {
      Tensors images = inputs;
      if (description.value("follows", false)) {
        images[0] = asConvolved(images[0], many);
      }
      // Once outside, and counted: inputs that a kernel wants in another order
      // are brought into it before the loop.
      sample(emit(description, images, many), many, "outside");
      ++count_;
      body = Sequence();
      sample(emit(description, images, body), body, "inside");
    }
    many.add(Repeat(repeats, body));
    engine_.emplace(graph_,
                    std::vector<poplar::program::Program>{setUp, once, many});
    engine_->load(device_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      auto &values = values_[i];
      engine_->writeTensor(inputName(i), values.data(),
                           values.data() + values.size());
    }
    engine_->run(0);
  }

  Json samples() {
    engine_->run(1);
    Json answer = Json::array();
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      const auto &target = device_.getTarget();
      const auto type = checked_[i].elementType();
      std::vector<char> bytes(checked_[i].numElements() *
                              target.getTypeSize(type));
      engine_->readTensor(outputName(i), bytes.data(),
                          bytes.data() + bytes.size());
      answer.push_back(samplesOf(toFloats(target, type, bytes)));
    }
    return {{"outputs", answer}};
  }

  double secondsOfOne(double seconds) {
    return bestOf(seconds, [&] { engine_->run(2); }) / count_;
  }

private:
  static std::string inputName(std::size_t index) {
    return "in" + std::to_string(index);
  }
  static std::string outputName(std::size_t index) {
    return "out" + std::to_string(index);
  }

  Tensors addInputs(const Json &operation, const Tensors &made) {
    Tensors tensors;
    for (const Json &input : operation.at("inputs")) {
      if (input.contains("output")) {
        tensors.push_back(made.at(input["output"].get<std::size_t>()));
        continue;
      }
      const auto number = static_cast<std::uint32_t>(tensors.size());
      const auto type = typeOf(input);
      values_.push_back(
          toBytes(device_.getTarget(), type, inputValues(input, number)));
      Tensor tensor = graph_.addVariable(
          type, input.at("shape").get<std::vector<std::size_t>>(),
          inputName(values_.size() - 1));
      poputil::mapTensorLinearly(graph_, tensor);
      graph_.createHostWrite(inputName(values_.size() - 1), tensor);
      const unsigned rank = tensor.rank();
      tensors.push_back(input.value("transposed", false)
                            ? tensor.dimShufflePartial({rank - 2, rank - 1},
                                                       {rank - 1, rank - 2})
                            : tensor);
    }
    return tensors;
  }

  Tensors emit(const Json &operation, const Tensors &inputs,
               Sequence &program) {
    const auto kind = operation.at("kind").get<std::string>();
    auto *const function = popnn::internal::findKindFunction(kind);
    if (function == nullptr) {
      throw std::runtime_error("no library function emits '" + kind + "'");
    }
    return function(graph_, attributesOf(operation), inputs, program, kind, {});
  }

  // The same images as a convolution gives them: by weights that change
  // nothing, in the order of elements that its kernel likes.
  Tensor asConvolved(const Tensor &images, Sequence &program) {
    const std::size_t channels = images.dim(1);
    std::vector<float> identity(channels * channels);
    for (std::size_t i = 0; i < channels; ++i) {
      identity[i * channels + i] = 1;
    }
    Tensor weights = graph_.addConstant<float>(
        poplar::FLOAT, {channels, channels, 1, 1}, identity, "identity");
    graph_.setTileMapping(weights, 0);
    return convolve(images, weights, {1, 1}, program);
  }

  // Reads a pixel per image of the first result by a small convolution, instead
  // of the host reading all: in a network, too, the next operation takes the
  // result in the order of elements that its kernel gave it.
  void sample(const Tensors &results, Sequence &program, const char *name) {
    const Tensor &images = results.front();
    Tensor weights =
        graph_.addConstant(poplar::FLOAT, {1, images.dim(1), 1, 1}, 1.0F);
    graph_.setTileMapping(weights, 0);
    const auto size = [&](unsigned dim) {
      return static_cast<std::int64_t>(images.dim(dim));
    };
    graph_.createHostRead(
        name, convolve(images, weights, {size(2), size(3)}, program));
  }

  Tensor convolve(const Tensor &images, const Tensor &weights,
                  const kernels::Attributes::Ints &strides, Sequence &program) {
    const kernels::Attributes attributes{
        {"strides", strides},
        {"padLower", kernels::Attributes::Ints{0, 0}},
        {"padUpper", kernels::Attributes::Ints{0, 0}},
        {"dilations", kernels::Attributes::Ints{1, 1}},
        {"groups", std::int64_t{1}},
        {"bias", std::int64_t{0}},
        {"activation", std::string()}};
    auto *const convolution = popnn::internal::findKindFunction("convolution");
    return convolution(graph_, attributes, {images, weights}, program,
                       "convolve", {})
        .front();
  }

  poplar::Device device_;
  poplar::Graph graph_;
  unsigned count_; // of operations in the program that is timed
  std::vector<std::vector<char>> values_; // of inputs
  Tensors checked_;
  std::optional<poplar::Engine> engine_;
};

class Worker {
public:
  // Keeps the faster way to run it, by a short trial.
  Json prepare(const Json &description) {
    operation_.reset();
    // Enough that what is done once around the loop, such as bringing inputs
    // into another order, or the convolution that an operation follows, does
    // not count for much.
    const double plain = estimate(description, 1, false);
    const double most = description.value("follows", false) ? 400 : 24;
    const auto fewest =
        static_cast<unsigned>(std::clamp(0.25 / plain, 1.0, most));
    const unsigned repeats = std::max(fewest, repeatsFor(plain));
    bool isSampled = false;
    if (description.value("image", false)) {
      const unsigned trials = std::max(fewest, std::min(repeats, 32U));
      isSampled = estimate(description, trials, true) <
                  estimate(description, trials, false);
    }
    operation_ = std::make_unique<Operation>(description, repeats, isSampled);
    return operation_->samples();
  }

  double time(double seconds) { return operation_->secondsOfOne(seconds); }

private:
  static double estimate(const Json &description, unsigned repeats,
                         bool isSampled) {
    Operation trial(description, repeats, isSampled);
    trial.secondsOfOne(0); // warms up
    return trial.secondsOfOne(1e-3);
  }

  std::unique_ptr<Operation> operation_;
};

} // namespace

int main() {
  Worker worker;
  serve([&](const Json &description) { return worker.prepare(description); },
        [&](double seconds) { return worker.time(seconds); });
}
