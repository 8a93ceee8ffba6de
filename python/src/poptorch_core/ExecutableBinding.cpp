#include "ExecutableBinding.hpp"

#include "convert.hpp"

#include <AtenTable.hpp>
#include <Device.hpp>
#include <Error.hpp>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <memory>

namespace poptorch {
namespace {

namespace py = pybind11;

// Addresses of tensors' memory; 0 is a null pointer.
std::vector<void *> toPointers(const py::list &addresses) {
  std::vector<void *> pointers;
  pointers.reserve(addresses.size());
  for (auto address : addresses) {
    pointers.push_back(
        reinterpret_cast<void *>(address.cast<std::uintptr_t>()));
  }
  return pointers;
}

std::unique_ptr<Executable> compile(const py::object &pythonRecord,
                                    const py::dict &pythonOptions,
                                    const py::object &pythonOptimizer,
                                    const py::object &callback) {
  TraceRecord record = toTraceRecord(pythonRecord);
  CompileOptions options = toCompileOptions(pythonOptions);
  std::optional<OptimizerDescription> optimizer;
  if (!pythonOptimizer.is_none()) {
    optimizer = toOptimizerDescription(pythonOptimizer.cast<py::dict>());
  }
  Executable::Progress progress;
  if (!callback.is_none()) {
    progress = [&callback](int done, int total) {
      py::gil_scoped_acquire gil;
      callback(done, total);
    };
  }
  py::gil_scoped_release noGil;
  return within("LowerToPopart::compile", [&] {
    return std::make_unique<Executable>(record, options, optimizer, progress);
  });
}

void run(Executable &executable, const py::list &inputs,
         const py::list &outputs) {
  auto in = toPointers(inputs);
  auto out = toPointers(outputs);
  py::gil_scoped_release noGil;
  executable.run(in, out);
}

template <typename T>
py::list addressesOf(T *const *pointers, std::size_t count) {
  py::list addresses;
  for (std::size_t i = 0; i < count; ++i) {
    addresses.append(reinterpret_cast<std::uintptr_t>(pointers[i]));
  }
  return addresses;
}

// `function` is called with the addresses of inputs and of outputs.
void connectHostFunction(Executable &executable, std::int64_t number,
                         const py::function &function) {
  executable.connectHostFunction(
      number, [function](const void *const *inputs, std::size_t inputCount,
                         void *const *outputs, std::size_t outputCount) {
        py::gil_scoped_acquire gil;
        function(addressesOf(inputs, inputCount),
                 addressesOf(outputs, outputCount));
      });
}

// (type, shape) of each output.
py::list outputInfos(const Executable &executable) {
  py::list infos;
  for (const auto &info : executable.outputInfos()) {
    infos.append(py::make_tuple(info.data_type(), info.shape()));
  }
  return infos;
}

// A method over the memory of tensors, one after another.
template <void (Executable::*method)(const std::vector<void *> &)>
void withMemory(Executable &executable, const py::list &addresses) {
  auto memory = toPointers(addresses);
  py::gil_scoped_release noGil;
  (executable.*method)(memory);
}

// The same with how many rows of replicas they have.
template <void (Executable::*method)(const std::vector<void *> &,
                                     const Executable::Rows &)>
void withRows(Executable &executable, const py::list &addresses,
              const Executable::Rows &rows) {
  auto memory = toPointers(addresses);
  py::gil_scoped_release noGil;
  (executable.*method)(memory, rows);
}

void setOptimizer(Executable &executable, const py::dict &optimizer) {
  auto description = toOptimizerDescription(optimizer);
  py::gil_scoped_release noGil;
  executable.setOptimizer(description);
}

// (name, type, shape, is scalar) of each.
py::list optimizerTensors(const Executable &executable) {
  py::list tensors;
  for (const auto &tensor : executable.optimizerTensors()) {
    tensors.append(py::make_tuple(tensor.name, tensor.info.data_type(),
                                  tensor.info.shape(), tensor.isScalar));
  }
  return tensors;
}

// (input, input complete, output, output complete), or None before a run.
py::object lastRunTimes(const Executable &executable) {
  const auto &times = executable.lastRunTimes();
  if (!times) {
    return py::none();
  }
  return py::make_tuple(times->input, times->inputComplete, times->output,
                        times->outputComplete);
}

} // namespace

void initExecutable(py::module_ &module) {
  using Release = py::call_guard<py::gil_scoped_release>;
  py::class_<Executable>(module, "Executable")
      .def(py::init(&compile), py::arg("record"), py::arg("options"),
           py::arg("optimizer"), py::arg("progress"))
      .def("run", &run)
      .def("outputInfos", &outputInfos)
      .def("writtenInputs", &Executable::writtenInputs)
      .def("stateNames", &Executable::stateNames)
      .def("returnedRows", &Executable::returnedRows)
      .def("writeWeights", &withRows<&Executable::writeWeights>)
      .def("writeBuffers", &withMemory<&Executable::writeBuffers>)
      .def("readWeights", &withRows<&Executable::readWeights>)
      .def("setOptimizer", &setOptimizer)
      .def("optimizerTensors", &optimizerTensors)
      .def("readOptimizerState", &withMemory<&Executable::readOptimizerState>)
      .def("writeOptimizerState", &withMemory<&Executable::writeOptimizerState>)
      .def("randomState", &Executable::randomState, Release())
      .def("setRandomState", &Executable::setRandomState, Release())
      .def("connectHostFunction", &connectHostFunction)
      .def("cycleCount", &Executable::cycleCount, Release())
      .def("lastRunTimes", &lastRunTimes)
      .def("save", &Executable::save, Release())
      .def("attach", &Executable::attach, Release())
      .def("detach", &Executable::detach, Release())
      .def("isAttached", &Executable::isAttached)
      .def("cacheProblems", &Executable::cacheProblems)
      .def("tensorNames", &Executable::tensorNames)
      .def("summary", &Executable::summary, Release())
      .def("serializeIr", &Executable::serializeIr)
      .def("printIr", &Executable::printIr, py::arg("machine") = false)
      .def("ipuCount", &Executable::ipuCount);
  module.def("hardwareArchitecture", &hardwareArchitecture);
  module.def("isSupported",
             [](const std::string &op) { return findAtenRow(op) != nullptr; });
}

} // namespace poptorch
