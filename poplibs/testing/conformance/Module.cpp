// The Python module poplibs_conformance: runs an operation of the libraries on
// NumPy arrays.
#include "Libraries.hpp"

#include <poplar/CSRFunctions.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poputil/TileMapping.hpp>

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cxxabi.h>

#include <memory>
#include <stdexcept>
#include <typeinfo>

namespace py = pybind11;

namespace conformance {
namespace {

// A tensor made of variables one after another along `axis`, whose dimensions
// are then shuffled.
struct Input {
  std::string type;
  std::vector<py::array> parts;
  unsigned axis = 0;
  std::vector<unsigned> permutation;
};

// What an operation throws, for Python to compare type and text.
class OperationError : public std::runtime_error {
public:
  explicit OperationError(const std::exception &error)
      : std::runtime_error(fmt::format("{}: {}", nameOf(error), error.what())) {
  }

private:
  static std::string nameOf(const std::exception &error) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void *)> name(
        abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status),
        std::free);
    const std::string text = status == 0 ? name.get() : typeid(error).name();
    return text.substr(text.rfind(':') + 1); // without namespaces
  }
};

struct HostWrite {
  std::string handle;
  py::array data;
};

class Run {
public:
  Run(unsigned tiles, unsigned replicas)
      : device_(makeDevice(tiles, replicas)), replicas_(replicas),
        call_(device_.getTarget(), replicas) {}

  Call &call() { return call_; }

  void addInput(const std::string &name, const Input &input) {
    const poplar::Type type = typeOf(input.type);
    std::vector<poplar::Tensor> parts;
    for (const py::array &array : input.parts) {
      const std::string handle = fmt::format("{}/{}", name, parts.size());
      // Of several replicas, the first dimension says whose it is.
      const std::vector<std::size_t> shape(array.shape() +
                                               (replicas_ > 1 ? 1 : 0),
                                           array.shape() + array.ndim());
      poplar::Tensor part = call_.graph().addVariable(type, shape, handle);
      poputil::mapTensorLinearly(call_.graph(), part);
      call_.graph().createHostWrite(handle, part);
      writes_.push_back({handle, array});
      parts.push_back(part);
    }
    poplar::Tensor tensor =
        parts.size() == 1 ? parts.front() : poplar::concat(parts, input.axis);
    if (!input.permutation.empty()) {
      tensor = tensor.dimShuffle(input.permutation);
    }
    call_.setTensor(name, tensor);
  }

  py::dict run() {
    for (const auto &[name, tensor] : call_.outputs()) {
      call_.graph().createHostRead(name, tensor, true);
    }
    poplar::Engine engine(call_.graph(), call_.program());
    engine.load(device_);
    for (const HostWrite &write : writes_) {
      const auto *bytes = static_cast<const char *>(write.data.data());
      engine.writeTensor(write.handle, bytes, bytes + write.data.nbytes());
    }
    engine.run(0);
    py::dict results;
    for (const auto &[name, tensor] : call_.outputs()) {
      results[py::str(name)] = read(engine, name, tensor);
    }
    return results;
  }

private:
  static poplar::Device makeDevice(unsigned tiles, unsigned replicas) {
    poplar::IPUModel model;
    model.tilesPerIPU = tiles;
    model.numIPUs = replicas;
    return model.createDevice();
  }

  // The elements as bytes; the row knows what type they are to be.
  py::tuple read(poplar::Engine &engine, const std::string &name,
                 const poplar::Tensor &tensor) const {
    const std::string type = tensor.elementType().toString().cloneAsString();
    const std::size_t bytes =
        replicas_ * tensor.numElements() *
        device_.getTarget().getTypeSize(tensor.elementType());
    std::string data(bytes, '\0');
    engine.readTensor(name, data.data(), data.data() + data.size());
    std::vector<std::size_t> shape = tensor.shape();
    if (replicas_ > 1) {
      shape.insert(shape.begin(), replicas_);
    }
    return py::make_tuple(type, shape, py::bytes(data));
  }

  poplar::Device device_;
  unsigned replicas_;
  Call call_;
  std::vector<HostWrite> writes_;
};

// What programs may set before any operation: parameter "floatControl" with
// "clip" or "nanoo" for halves that overflow, and "esr" for stochastic
// rounding.
void setFloatControl(Call &call) {
  const auto modes = call.get<std::string>("floatControl", "");
  const auto has = [&](const char *mode) {
    return modes.find(mode) != std::string::npos;
  };
  if (!modes.empty()) {
    poplar::setFloatingPointBehaviour(
        call.graph(), call.program(),
        {false, false, false, has("esr"), has("nanoo")});
  }
}

py::dict run(const std::string &name,
             const std::map<std::string, Input> &inputs,
             const std::map<std::string, Value> &parameters,
             const std::map<std::string, std::string> &options, unsigned tiles,
             unsigned replicas) {
  static const Operations operations = allOperations();
  const auto operation = operations.find(name);
  if (operation == operations.end()) {
    throw py::key_error(fmt::format("no operation is called '{}'", name));
  }
  Run run(tiles, replicas);
  for (const auto &[input, value] : inputs) {
    run.addInput(input, value);
  }
  for (const auto &[parameter, value] : parameters) {
    run.call().setValue(parameter, value);
  }
  for (const auto &[option, value] : options) {
    run.call().setOption(option, value);
  }
  try {
    setFloatControl(run.call());
    operation->second(run.call());
    return run.run();
  } catch (const std::invalid_argument &) {
    throw; // a mistake in the row
  } catch (const std::exception &error) {
    throw OperationError(error);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto &[name, operation] : allOperations()) {
    result.push_back(name);
  }
  return result;
}

} // namespace
} // namespace conformance

PYBIND11_MODULE(poplibs_conformance, module) {
  using namespace conformance;
  py::register_exception<OperationError>(module, "OperationError");
  py::class_<Input>(module, "Input")
      .def(py::init<std::string, std::vector<py::array>, unsigned,
                    std::vector<unsigned>>());
  module.def("run", &run);
  module.def("names", &names);
}
