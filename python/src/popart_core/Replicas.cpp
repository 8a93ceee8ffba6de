// Groups of replicas, and variables whose groups have values of their own.
#include "Bindings.hpp"

#include <popart/variablesettings.hpp>

#include <pybind11/stl.h>

namespace popart::python {

namespace py = pybind11;

namespace {

void bindGroups(py::module_ &module) {
  py::class_<CommGroup>(module, "CommGroup")
      .def(py::init<CommGroupType, unsigned>(),
           py::arg("type") = CommGroupType::All,
           py::arg("replicaGroupSize") = 0)
      .def_readwrite("type", &CommGroup::type)
      .def_readwrite("replicaGroupSize", &CommGroup::replicaGroupSize)
      .def("toReplicaGrouping",
           [](const CommGroup &group, unsigned replicas) {
             return toReplicaGrouping(group, replicas);
           })
      .def("__eq__",
           [](const CommGroup &a, const CommGroup &b) { return a == b; });
  using G = ReplicaGrouping;
  py::class_<G>(module, "ReplicaGrouping")
      .def(py::init<unsigned>(), py::arg("numReplicas"))
      .def(py::init<unsigned, unsigned, unsigned>(), py::arg("numReplicas"),
           py::arg("stride"), py::arg("groupSize"))
      .def("getNumReplicas", &G::getNumReplicas)
      .def("getStride", &G::getStride)
      .def("getGroupSize", &G::getGroupSize)
      .def("getNumGroups", &G::getNumGroups)
      .def("getGroupIndexOfReplica", &G::getGroupIndexOfReplica)
      .def("getIndexInGroupOfReplica", &G::getIndexInGroupOfReplica)
      .def("getReplicaAt", &G::getReplicaAt, py::arg("groupIndex"),
           py::arg("replicaIndexInGroup") = 0)
      .def("getReplicasAt", &G::getReplicasAt)
      .def("getTranspose", &G::getTranspose)
      .def("__str__", &G::str)
      .def("__eq__", [](const G &a, const G &b) { return a == b; });
}

} // namespace

void initReplicas(py::module_ &module) {
  bindGroups(module);
  using V = VariableSettings;
  using Mode = VariableRetrievalMode;
  py::class_<V>(module, "VariableSettings")
      .def(py::init<>())
      .def(py::init<CommGroup, Mode>())
      .def(py::init<unsigned, unsigned, Mode>())
      .def(py::init<Mode>())
      .def(py::init<CommGroup>())
      .def("getSharedVariableDomain", &V::getSharedVariableDomain)
      .def("getReplicaGrouping", &V::getReplicaGrouping, py::arg("numReplicas"))
      .def("isUsingCommGroup", &V::isUsingCommGroup)
      .def("getCommGroupType", &V::getCommGroupType)
      .def("getStride", &V::getStride)
      .def("getGroupSize", &V::getGroupSize)
      .def("getRetrievalMode", &V::getRetrievalMode)
      .def("getGroupCount", &V::getGroupCount, py::arg("replicaCount"))
      .def("getRealGroupSize", &V::getRealGroupSize, py::arg("replicaCount"))
      .def("getGroupRepresentative", &V::getGroupRepresentative,
           py::arg("group"))
      .def("numReplicasReturningVariable", &V::numReplicasReturningVariable,
           py::arg("replicaCount"))
      .def("shapeOnReplica", &V::shapeOnReplica, py::arg("fullShape"),
           py::arg("replicaCount"), py::arg("name"))
      .def("shapeOnHost", &V::shapeOnHost, py::arg("replicaShape"),
           py::arg("replicaCount"))
      .def("groups", &V::groups, py::arg("replicaCount"))
      .def("verify", &V::verify);
}

} // namespace popart::python
