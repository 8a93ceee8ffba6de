// The extension module popart.popart_core: C++'s interface under the names that
// Python has for it. popart/*.py adds what is Python's own.
#include "Bindings.hpp"

PYBIND11_MODULE(popart_core, module) {
  module.doc() = "The native part of PopART.";
  namespace parts = popart::python;
  parts::initErrors(module);
  parts::initEnums(module);
  parts::initTensors(module);
  parts::initReplicas(module);
  parts::initModels(module);
  parts::initBuilder(module);
  parts::initDevices(module);
  parts::initOptions(module);
  parts::initOptimizers(module);
  parts::initSessions(module);
  parts::initLog(module);
  parts::initOperators(module);
}
