// Devices and their manager.
#include "Bindings.hpp"

#include <popart/devicemanager.hpp>

#include <pybind11/stl.h>

#include <memory>

namespace popart::python {
namespace {

namespace py = pybind11;

using Shared = std::shared_ptr<DeviceInfo>;
using Options = std::map<std::string, std::string>;

// Every value as Python prints it: True is "True".
Options toOptions(const py::dict &values) {
  Options options;
  for (auto [key, value] : values) {
    options[std::string(py::str(key))] = std::string(py::str(value));
  }
  return options;
}

std::string versionOf(const DeviceInfo &device) {
  switch (device.getType()) {
  case DeviceType::Cpu:
    return "<unknown-cpu>";
  case DeviceType::OfflineIpu:
    return "<offline-ipu>";
  default:
    return device.getIpuVersion();
  }
}

void bindDevice(py::module_ &module) {
  using Class = py::class_<DeviceInfo, Shared>;
  Class(module, "DeviceInfo")
      .def("attach", &DeviceInfo::attach)
      .def("tryAttachUntilTimeout", &DeviceInfo::tryAttachUntilTimeout)
      .def("detach", &DeviceInfo::detach)
      .def_property_readonly("type", &DeviceInfo::getType)
      .def_property_readonly("connectionType", &DeviceInfo::getConnectionType)
      .def_property_readonly("version", &versionOf)
      .def_property_readonly("ipuVersion", &DeviceInfo::getIpuVersion)
      .def_property_readonly("id", &DeviceInfo::getId)
      .def_property_readonly("numIpus", &DeviceInfo::getNumIpus)
      .def_property_readonly("tilesPerIPU", &DeviceInfo::getTilesPerIPU)
      .def_property_readonly("tilesPerIpu", &DeviceInfo::getTilesPerIPU)
      .def_property_readonly("driverIds",
                             [](const DeviceInfo &device) {
                               return std::vector<int>{device.getId()};
                             })
      .def_property_readonly("numWorkerContexts",
                             &DeviceInfo::getNumWorkerContexts)
      .def_property_readonly("isAttached", &DeviceInfo::isAttached)
      .def("__enter__", [](Shared device) { return device; })
      .def("__exit__", [](DeviceInfo &device, py::handle, py::handle,
                          py::handle) { device.detach(); })
      .def("__str__", &DeviceInfo::toString);
}

} // namespace

void initDevices(py::module_ &module) {
  bindDevice(module);
  using Manager = DeviceManager;
  using Holder = std::unique_ptr<Manager, py::nodelete>;
  py::class_<Manager, Holder>(module, "DeviceManager")
      .def(py::init([] { return Holder(&Manager::createDeviceManager()); }))
      .def("acquireAvailableDevice", &Manager::acquireAvailableDevice,
           py::arg("numIpus") = 1, py::arg("tilesPerIpu") = 0,
           py::arg("pattern") = SyncPattern::Full,
           py::arg("connectionType") = DeviceConnectionType::Always,
           py::arg("selectionCriterion") = DeviceSelectionCriterion::First)
      .def("tryAcquireAvailableDevice", &Manager::tryAcquireAvailableDevice,
           py::arg("numIpus") = 1, py::arg("tilesPerIpu") = 0,
           py::arg("pattern") = SyncPattern::Full,
           py::arg("connectionType") = DeviceConnectionType::Always,
           py::arg("selectionCriterion") = DeviceSelectionCriterion::First)
      .def("acquireDeviceById", &Manager::acquireDeviceById, py::arg("id"),
           py::arg("pattern") = SyncPattern::Full,
           py::arg("connectionType") = DeviceConnectionType::Always)
      .def("tryAcquireDeviceById", &Manager::tryAcquireDeviceById,
           py::arg("id"), py::arg("pattern") = SyncPattern::Full,
           py::arg("connectionType") = DeviceConnectionType::Always)
      .def("enumerateDevices", &Manager::enumerateDevices,
           py::arg("pattern") = SyncPattern::Full, py::arg("numIpus") = 1,
           py::arg("deviceType") = DeviceType::Ipu,
           py::arg("connectionType") = DeviceConnectionType::Always,
           py::arg("tilesPerIPU") = 0)
      .def("createCpuDevice", &Manager::createCpuDevice)
      .def("createIpuModelDevice",
           [](Manager &manager, const py::dict &options) {
             return manager.createIpuModelDevice(toOptions(options));
           })
      .def("createSimDevice",
           [](Manager &manager, const py::dict &options) {
             return manager.createSimDevice(toOptions(options));
           })
      .def("createOfflineIPUDevice",
           [](Manager &manager, const py::dict &options) {
             return manager.createOfflineIPUDevice(toOptions(options));
           })
      .def("createOfflineIpuFromDeviceInfo",
           &Manager::createOfflineIpuFromDeviceInfo, py::arg("deviceInfo"))
      .def("createOfflineIpuFromSystemString",
           &Manager::createOfflineIpuFromSystemString, py::arg("system"),
           py::arg("numIpus"))
      .def("setOnDemandAttachTimeout", &Manager::setOnDemandAttachTimeout,
           py::arg("attachTimeout"));
}

} // namespace popart::python
