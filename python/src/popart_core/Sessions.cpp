// Sessions under popart.InferenceSession and popart.TrainingSession.
#include "Bindings.hpp"

#include <popart/error.hpp>
#include <popart/session.hpp>
#include <support/Error.hpp>

#include <pybind11/functional.h>
#include <pybind11/stl.h>

namespace popart::python {
namespace {

namespace py = pybind11;
using Release = py::call_guard<py::gil_scoped_release>;

void prepare(Session &session, bool loadEngine) {
  py::gil_scoped_release noGil;
  session.prepareDevice(loadEngine);
}

void bindWeights(py::class_<Session> &type) {
  type.def("weightsFromHost", &Session::weightsFromHost, Release())
      .def("buffersFromHost", &Session::buffersFromHost, Release())
      .def("broadcastWeights", &Session::broadcastWeights,
           py::arg("rootRank") = 0)
      .def("weightsToHost", &Session::weightsToHost, Release())
      .def("readWeights", &Session::readWeights)
      .def("writeWeights", &Session::writeWeights)
      .def("modelToHost", &Session::modelToHost, Release())
      .def("resetHostWeights", &Session::resetHostWeights,
           py::arg("modelProtoOrFilename"),
           py::arg("ignoreWeightsInModelWithoutCorrespondingHostWeight") =
               false)
      .def("updateExternallySavedTensorLocations",
           &Session::updateExternallySavedTensorLocations,
           py::arg("fromLocation"), py::arg("toLocation"));
}

void bindRunning(py::class_<Session> &type) {
  type.def("prepareDevice", &prepare, py::arg("loadEngine") = true)
      .def("loadEngineAndConnectStreams", &Session::loadEngineAndConnectStreams,
           Release())
      .def("run",
           py::overload_cast<IStepIO &, const std::string &>(&Session::run),
           py::arg("stepio"), py::arg("debugName") = "", Release())
      .def("run",
           py::overload_cast<const std::string &, IStepIO &,
                             const std::string &>(&Session::run),
           py::arg("programHandle"), py::arg("stepio"),
           py::arg("debugName") = "", Release())
      .def("compileAndExport", &Session::compileAndExport, Release())
      .def("saveExecutable", &Session::saveExecutable, py::arg("path"),
           py::arg("savePopartMetadata") = true,
           py::arg("saveVariables") = true)
      .def("saveVariables", &Session::saveVariables)
      .def("loadExecutable", &Session::loadExecutable)
      .def("updateEngineCache", &Session::updateEngineCache)
      .def("connectStreamToCallback", &Session::connectStreamToCallback,
           py::arg("streamHandle"), py::arg("callback"), py::arg("index") = 0)
      .def("setRandomSeed", &Session::setRandomSeed, py::arg("seedValue"))
      .def("getRandomSeed", &Session::getRandomSeed)
      .def("getRNGState", &Session::getRNGState)
      .def("setRNGState", &Session::setRNGState, py::arg("stateValue"))
      .def("getCycleCount", &Session::getCycleCount, py::arg("id") = "",
           Release())
      .def("getSummaryReport", &Session::getSummaryReport,
           py::arg("resetProfile") = true, Release())
      .def("getSerializedGraph", [](const Session &session) {
        return py::bytes(session.getSerializedGraph());
      });
}

// Sessions share devices; weights of constant models stay where they are.
void bindQuestions(py::class_<Session> &type) {
  type.def("getTensorIds", &Session::getTensorIds)
      .def("getAllTensorIds", &Session::getTensorIds)
      .def("getInfo", &Session::getInfo, py::arg("id"))
      .def("_anchorShape", &Session::getAnchorShape)
      .def("_anchors",
           [](const Session &session) {
             return session.getIr().dataFlow.anchors();
           })
      .def("_printIr", &Session::printIr, py::arg("machine") = false)
      .def("_serializeIr", &Session::serializeIr, py::arg("format"))
      .def("checkInplacingAmbiguity", &Session::checkInplacingAmbiguity)
      .def("getIr", &Session::shareIr)
      .def_property_readonly("replicationFactor",
                             [](const Session &session) {
                               const auto &options =
                                   session.getIr().sessionOptions;
                               return options.enableReplicatedGraphs
                                          ? options.replicatedGraphCount
                                          : 1;
                             })
      .def_property_readonly("accumulationFactor", [](const Session &session) {
        return session.getIr().sessionOptions.getAccumulationFactor();
      });
}

} // namespace

void initSessions(py::module_ &module) {
  py::class_<Ir, std::shared_ptr<Ir>>(module, "Ir")
      .def_readonly("dataFlow", &Ir::dataFlow);
  py::class_<Session> type(module, "Session");
  bindWeights(type);
  bindRunning(type);
  bindQuestions(type);
  py::class_<InferenceSession, Session>(module, "_InferenceSessionCore")
      .def(py::init([](std::shared_ptr<Ir> ir,
                       std::shared_ptr<DeviceInfo> device,
                       const std::string &name) {
        py::gil_scoped_release noGil;
        return InferenceSession::createFromIr(std::move(ir), std::move(device),
                                              name);
      }))
      .def(py::init([](const std::string &model, const DataFlow &dataFlow,
                       std::shared_ptr<DeviceInfo> device,
                       const InputShapeInfo &shapes, const Patterns &patterns,
                       const SessionOptions &options, const std::string &name) {
        py::gil_scoped_release noGil;
        return InferenceSession::createFromOnnxModel(model, dataFlow,
                                                     std::move(device), shapes,
                                                     options, patterns, name);
      }));
  py::class_<TrainingSession, Session>(module, "_TrainingSessionCore")
      .def(py::init([](const std::string &model, const DataFlow &dataFlow,
                       const TensorId &loss, const Optimizer &optimizer,
                       std::shared_ptr<DeviceInfo> device,
                       const InputShapeInfo &shapes, const Patterns &patterns,
                       const SessionOptions &options, const std::string &name) {
        py::gil_scoped_release noGil;
        return TrainingSession::createFromOnnxModel(
            model, dataFlow, loss, optimizer, std::move(device), shapes,
            options, patterns, name);
      }))
      .def("updateOptimizerFromHost",
           &TrainingSession::updateOptimizerFromHost);
}

} // namespace popart::python
