// poptorch::Executable in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace poptorch {

void initExecutable(pybind11::module_ &module);

} // namespace poptorch
