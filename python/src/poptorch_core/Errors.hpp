// The Python exceptions Error, RecoverableError and UnrecoverableError, and the
// translation of the C++ ones into them.
#pragma once

#include <pybind11/pybind11.h>

namespace poptorch {

void initErrors(pybind11::module_ &module);
// TestErrorType and _throwTestError.
void initTestErrors(pybind11::module_ &module);

} // namespace poptorch
