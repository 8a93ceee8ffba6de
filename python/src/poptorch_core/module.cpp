// The extension module poptorch.poptorch_core: one init function per header.
#include "Errors.hpp"
#include "ExecutableBinding.hpp"

PYBIND11_MODULE(poptorch_core, module) {
  module.doc() = "The native part of PopTorch: compiles and runs traces.";
  poptorch::initErrors(module);
  poptorch::initTestErrors(module);
  poptorch::initExecutable(module);
}
