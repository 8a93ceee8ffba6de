// From the plain Python values that the package hands over to C++ structures.
#pragma once

#include <Executable.hpp>

#include <pybind11/pybind11.h>

namespace poptorch {

// poptorch._tracer.TraceRecord. The record points at the memory of its host
// tensors, which must stay until it is compiled.
TraceRecord toTraceRecord(const pybind11::object &record);

// poptorch.Options().toDict()
CompileOptions toCompileOptions(const pybind11::dict &options);

OptimizerDescription toOptimizerDescription(const pybind11::dict &optimizer);

} // namespace poptorch
