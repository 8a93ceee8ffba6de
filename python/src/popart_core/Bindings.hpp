// One function per part of the extension module popart.popart_core.
#pragma once

#include <pybind11/pybind11.h>

namespace popart::python {

void initErrors(pybind11::module_ &module);
void initEnums(pybind11::module_ &module);
void initTensors(pybind11::module_ &module);
void initReplicas(pybind11::module_ &module);
void initModels(pybind11::module_ &module);
void initBuilder(pybind11::module_ &module);
void initDevices(pybind11::module_ &module);
void initOptions(pybind11::module_ &module);
void initOptimizers(pybind11::module_ &module);
void initSessions(pybind11::module_ &module);
void initLog(pybind11::module_ &module);
void initOperators(pybind11::module_ &module);

} // namespace popart::python
