// The Python module popart_conformance: a session of one operator, run on NumPy
// arrays, with the gradients of its inputs.
#include <popart/error.hpp>
#include <popart/session.hpp>
#include <popart/sgd.hpp>
#include <popart/tensornames.hpp>

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <variant>

namespace py = pybind11;

namespace conformance {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::Shape;
using popart::TensorId;
using popart::TensorInfo;
// An array comes first: it would also pass for a list.
using AttributeValue =
    std::variant<py::array, Attributes::Int, double, Attributes::String,
                 Attributes::Ints, std::vector<double>, Attributes::Strings>;

struct Input {
  std::optional<py::array> array; // none: left out
  bool isConstant = false;
  bool isDifferentiated = false;
};

struct Operator {
  std::string domain;
  std::string type;
  int version;
  std::vector<Input> inputs;
  std::map<std::string, AttributeValue> attributes;
  unsigned outputs;
};

struct TypeRow {
  DataType type;
  const char *name;
};
constexpr TypeRow types[] = {
    {DataType::FLOAT, "float32"}, {DataType::FLOAT16, "float16"},
    {DataType::INT8, "int8"},     {DataType::UINT8, "uint8"},
    {DataType::INT16, "int16"},   {DataType::UINT16, "uint16"},
    {DataType::INT32, "int32"},   {DataType::UINT32, "uint32"},
    {DataType::INT64, "int64"},   {DataType::UINT64, "uint64"},
    {DataType::BOOL, "bool"},
};

TensorInfo infoOf(const py::array &array) {
  auto name = py::str(array.dtype()).cast<std::string>();
  for (const TypeRow &row : types) {
    if (name == row.name) {
      return {row.type, Shape(array.shape(), array.shape() + array.ndim())};
    }
  }
  throw std::invalid_argument("PopART has no type for " + name);
}

py::array emptyArray(const TensorInfo &info) {
  for (const TypeRow &row : types) {
    if (row.type == info.dataType()) {
      return py::array(py::dtype(row.name), info.shape());
    }
  }
  throw std::invalid_argument("NumPy has no type for " + info.data_type());
}

Attributes attributesOf(const Operator &operation) {
  Attributes attributes;
  for (const auto &[name, value] : operation.attributes) {
    if (const auto *number = std::get_if<double>(&value)) {
      attributes.set(name, static_cast<float>(*number));
    } else if (const auto *list = std::get_if<std::vector<double>>(&value)) {
      attributes.set(name, Attributes::Floats(list->begin(), list->end()));
    } else if (const auto *integer = std::get_if<Attributes::Int>(&value)) {
      attributes.set(name, *integer);
    } else if (const auto *ints = std::get_if<Attributes::Ints>(&value)) {
      attributes.set(name, *ints);
    } else if (const auto *texts = std::get_if<Attributes::Strings>(&value)) {
      attributes.set(name, *texts);
    } else if (const auto *array = std::get_if<py::array>(&value)) {
      const auto *bytes = static_cast<const char *>(array->data());
      attributes.set(
          name,
          Attributes::Tensor{infoOf(*array), {bytes, bytes + array->nbytes()}});
    } else {
      attributes.set(name, std::get<Attributes::String>(value));
    }
  }
  return attributes;
}

// The graph of one operator and, for training, of a loss: the sum of its
// outputs, each multiplied by the weights given for it.
class Model {
public:
  explicit Model(const Operator &operation) : operation_(operation) {
    std::vector<TensorId> ids;
    for (const Input &input : operation.inputs) {
      ids.push_back(addInput(input, fmt::format("in{}", ids.size())));
    }
    outputs_ =
        graph().addOp({operation.domain, operation.type, operation.version},
                      ids, operation.outputs, attributesOf(operation), {});
    anchors_ = outputs_;
  }

  void addLoss(const std::vector<std::optional<py::array>> &weights) {
    std::vector<TensorId> sums;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i]) {
        sums.push_back(addSum(outputs_.at(i), *weights[i], i));
      }
    }
    ir_->loss = "loss";
    graph().addOp({"ai.onnx", "Sum", 8}, sums, {ir_->loss}, {}, {});
    ir_->optimizer = std::make_shared<popart::SGD>(popart::SGD::Values{});
    for (std::size_t i = 0; i < operation_.inputs.size(); ++i) {
      if (operation_.inputs[i].isDifferentiated) {
        anchors_.push_back(popart::getGradId(fmt::format("in{}", i)));
      }
    }
  }

  // The outputs, then the gradients.
  std::vector<py::array> run() {
    ir_->dataFlow = popart::DataFlow(1, anchors_);
    auto device =
        popart::DeviceManager::createDeviceManager().createIpuModelDevice(
            {{"tilesPerIPU", "8"}});
    std::unique_ptr<popart::Session> session;
    if (ir_->isTraining()) {
      session = popart::TrainingSession::createFromIr(ir_, device);
    } else {
      session = popart::InferenceSession::createFromIr(ir_, device);
    }
    session->prepareDevice();
    session->weightsFromHost();
    std::vector<py::array> results;
    std::map<TensorId, popart::IArray &> given;
    std::map<TensorId, popart::IArray &> wanted;
    for (const auto &[id, array] : streams_) {
      given.emplace(id, wrap(array));
    }
    for (const TensorId &id : anchors_) {
      results.push_back(emptyArray(session->getInfo(id)));
      wanted.emplace(id, wrap(results.back()));
    }
    popart::StepIO stepIO(given, wanted);
    session->run(stepIO);
    return results;
  }

private:
  popart::Graph &graph() { return ir_->getMainGraph(); }

  TensorId addInput(const Input &input, const TensorId &id) {
    if (!input.array) {
      return "";
    }
    if (input.isConstant) {
      return graph().addConstant(id, infoOf(*input.array), input.array->data());
    }
    streams_.emplace_back(id, *input.array);
    return graph().addStream(id, infoOf(*input.array));
  }

  TensorId addSum(const TensorId &output, const py::array &weights,
                  std::size_t index) {
    TensorId weight = graph().addConstant(fmt::format("weights{}", index),
                                          infoOf(weights), weights.data());
    TensorId product =
        graph().addOp({"ai.onnx", "Mul", 7}, {output, weight}, 1, {}, {})[0];
    return graph().addOp({"ai.graphcore", "IdentityLoss"}, {product}, 1,
                         Attributes().set("reduction", std::string("sum")),
                         {})[0];
  }

  popart::IArray &wrap(const py::array &array) {
    return arrays_.emplace_back(
        static_cast<char *>(const_cast<void *>(array.data())), infoOf(array));
  }

  const Operator &operation_;
  std::shared_ptr<popart::Ir> ir_ = std::make_shared<popart::Ir>();
  std::vector<TensorId> outputs_;
  std::vector<TensorId> anchors_;
  std::vector<std::pair<TensorId, py::array>> streams_;
  std::deque<popart::NDArrayWrapper<char>> arrays_;
};

std::vector<py::array>
run(const Operator &operation,
    const std::vector<std::optional<py::array>> &weights) {
  Model model(operation);
  if (!weights.empty()) {
    model.addLoss(weights);
  }
  return model.run();
}

} // namespace
} // namespace conformance

PYBIND11_MODULE(popart_conformance, module) {
  using namespace conformance;
  py::register_exception<popart::error>(module, "error");
  py::class_<Input>(module, "Input")
      .def(py::init<std::optional<py::array>, bool, bool>());
  py::class_<Operator>(module, "Operator")
      .def(py::init<std::string, std::string, int, std::vector<Input>,
                    std::map<std::string, AttributeValue>, unsigned>());
  module.def("run", &run,
             "The operator's outputs; with weights, those of a training step "
             "and then the gradients of its differentiated inputs.");
}
