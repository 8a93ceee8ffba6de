// The extension module popdist.popdist_core: what instances know of each other,
// the backend between them, and collectives of arrays.
#include <popdist/collectives.hpp>
#include <popdist/internal/Instances.hpp>

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace popdist {
namespace {

namespace py = pybind11;
using Release = py::call_guard<py::gil_scoped_release>;

poplar::Type typeOf(const py::array &array) {
  static const std::pair<const char *, poplar::Type> types[] = {
      {"float32", poplar::FLOAT},
      {"float16", poplar::HALF},
      {"float64", poplar::Type(poplar::Type::Code::Double)},
      {"int32", poplar::INT},
      {"uint32", poplar::UNSIGNED_INT},
      {"int64", poplar::LONGLONG},
      {"uint8", poplar::UNSIGNED_CHAR},
      {"int8", poplar::SIGNED_CHAR},
      {"bool", poplar::BOOL}};
  const std::string name = py::str(array.dtype());
  for (const auto &[known, type] : types) {
    if (name == known) {
      return type;
    }
  }
  throw popdist_error(
      fmt::format("Arrays of {} cannot go between instances", name));
}

// A copy, row by row, that the caller may change.
py::array copyOf(const py::array &array) {
  return py::module_::import("numpy").attr("array")(
      array, py::arg("order") = "C", py::arg("copy") = true);
}

py::array allReduceSum(const py::array &array) {
  py::array result = copyOf(array);
  void *data = result.mutable_data();
  const auto count = static_cast<std::size_t>(result.size());
  const poplar::Type type = typeOf(result);
  py::gil_scoped_release noGil;
  collectives::allReduceSum(data, count, type);
  return result;
}

py::array allGather(const py::array &array) {
  const py::array own = copyOf(array);
  std::vector<py::ssize_t> shape(own.shape(), own.shape() + own.ndim());
  shape.insert(shape.begin(), internal::participants());
  py::array result(own.dtype(), shape);
  const void *from = own.data();
  void *to = result.mutable_data();
  const auto count = static_cast<std::size_t>(own.size());
  const poplar::Type type = typeOf(own);
  py::gil_scoped_release noGil;
  collectives::allGather(from, to, count, type);
  return result;
}

py::array broadcast(const py::array &array, int root) {
  py::array result = copyOf(array);
  void *data = result.mutable_data();
  const auto count = static_cast<std::size_t>(result.size());
  const poplar::Type type = typeOf(result);
  py::gil_scoped_release noGil;
  collectives::broadcast(data, count, type, root);
  return result;
}

void bindEnvironment(py::module_ &module) {
  module.def("isPopdistEnvSet", &isPopdistEnvSet)
      .def("getNumTotalReplicas", &getNumTotalReplicas)
      .def("getNumLocalReplicas", &getNumLocalReplicas)
      .def("getNumIpusPerReplica", &getNumIpusPerReplica)
      .def("checkNumIpusPerReplica", &checkNumIpusPerReplica,
           py::arg("numIpusPerReplica"))
      .def("getReplicaIndexOffset", &getReplicaIndexOffset)
      .def("getNumInstances", &getNumInstances)
      .def("getInstanceIndex", &getInstanceIndex)
      .def("getLocalInstanceIndex", &getLocalInstanceIndex);
}

void bindBackend(py::module_ &module) {
  module.def("registerDefaultBackend", &registerDefaultBackend)
      .def("registerBackend", &registerBackend, py::arg("path"))
      .def("initializeBackend", &initializeBackend, Release())
      .def("isBackendInitialized", &isBackendInitialized)
      .def("finalizeBackend", &finalizeBackend, Release())
      .def("registerCommunicator", &registerCommunicator,
           py::arg("participants"), py::arg("id") = defaultCommunicatorId(),
           Release());
}

} // namespace
} // namespace popdist

PYBIND11_MODULE(popdist_core, module) {
  using namespace popdist;
  module.doc() = "The native part of PopDist.";
  py::register_exception<popdist_error>(module, "popdist_exception",
                                        PyExc_RuntimeError);
  bindEnvironment(module);
  bindBackend(module);
  module.def("allReduceSum", &allReduceSum, py::arg("array"))
      .def("allGather", &allGather, py::arg("array"))
      .def("broadcast", &broadcast, py::arg("array"), py::arg("root") = 0);
}
