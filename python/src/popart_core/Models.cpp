// Changes to models, and comparisons of them.
#include "Bindings.hpp"

#include <popart/graphtransformer.hpp>
#include <popart/numerics.hpp>

#include <pybind11/stl.h>

namespace popart::python {

namespace py = pybind11;

void initModels(py::module_ &module) {
  using T = GraphTransformer;
  py::class_<T>(module, "GraphTransformer")
      .def(py::init<const std::string &>(), py::arg("modelProtoOrFilename"))
      .def("getModelProto",
           [](const T &self) { return py::bytes(self.getModelProto()); })
      .def("removeUnusedInputs", &T::removeUnusedInputs)
      .def("prepareNodesForTraining", &T::prepareNodesForTraining)
      .def("convertFloatsToHalfs", &T::convertFloatsToHalfs)
      .def("convertUINT8ToINT32", &T::convertUINT8ToINT32)
      .def("convertUINT16ToINT32", &T::convertUINT16ToINT32)
      .def("convertINT8ToINT32", &T::convertINT8ToINT32)
      .def("convertINT16ToINT32", &T::convertINT16ToINT32)
      .def("convertINT64ToINT32", &T::convertINT64ToINT32,
           py::arg("clip") = false)
      .def("convertDoublesToFloats", &T::convertDoublesToFloats)
      .def("convertDoublesToHalfs", &T::convertDoublesToHalfs)
      .def("convertBFloats16ToFloat32", &T::convertBFloats16ToFloat32)
      .def("convertInitializersToConstants", &T::convertInitializersToConstants,
           py::arg("ids"))
      .def("convertAllFixedPointInitializersToConstants",
           &T::convertAllFixedPointInitializersToConstants)
      .def("saveInitializersExternally", &T::saveInitializersExternally,
           py::arg("ids"), py::arg("filename"));
  using Report = numerics::NumericsReport;
  py::class_<Report>(module, "NumericsReport")
      .def(py::init<const std::string &, const std::string &,
                    const std::string &, const std::string &>(),
           py::arg("A0"), py::arg("A1"), py::arg("B0"), py::arg("B1"))
      .def("report", &Report::report, py::arg("id"))
      .def("fullReport", &Report::fullReport)
      .def("getRelativeErrors", &Report::getRelativeErrors);
}

} // namespace popart::python
