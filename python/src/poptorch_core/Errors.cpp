#include "Errors.hpp"

#include <Error.hpp>

#include <popart/error.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace poptorch {
namespace {

namespace py = pybind11;

// Never freed: exceptions outlive the module's own clean-up.
PyObject *errorClass = nullptr;
PyObject *recoverableClass = nullptr;
PyObject *unrecoverableClass = nullptr;

PyObject *makeClass(py::module_ &module, const char *name, PyObject *base) {
  std::string qualified = std::string("poptorch.poptorch_core.") + name;
  PyObject *created = PyErr_NewException(qualified.c_str(), base, nullptr);
  module.attr(name) = py::handle(created);
  return created;
}

py::object makeError(PyObject *kind, const std::string &type,
                     const std::string &message,
                     const std::string &advice = "") {
  std::string text = "'" + type + "': " + message + advice;
  py::object error = py::reinterpret_borrow<py::object>(kind)(py::str(text));
  error.attr("message") = message;
  error.attr("type") = type;
  error.attr("location") = "";
  return error;
}

void raise(PyObject *kind, const std::string &type,
           const std::string &message) {
  PyErr_SetObject(kind, makeError(kind, type, message).ptr());
}

void raiseRecoverable(const poplar::recoverable_runtime_error &e) {
  std::string action = poplar::toString(e.getRecoveryAction());
  py::object error = makeError(recoverableClass, "poplar_" + e.type, e.what(),
                               "\nRecovery action required: " + action);
  error.attr("recovery_action") = action;
  PyErr_SetObject(recoverableClass, error.ptr());
}

// Most specific first. The types of lower layers have no base of their own, so
// they are told apart by what they derive from.
void translate(std::exception_ptr pointer) {
  if (!pointer) {
    return;
  }
  try {
    std::rethrow_exception(pointer);
  } catch (const py::error_already_set &) {
    throw; // raised in Python: stays what it is
  } catch (const py::builtin_exception &) {
    throw;
  } catch (const Error &e) {
    raise(errorClass, "poptorch_cpp_error", e.what());
  } catch (const popart::internal_error &e) {
    raise(errorClass, "popart_internal_exception", e.what());
  } catch (const popart::error &e) {
    raise(errorClass, "popart_exception", e.what());
  } catch (const support::InternalError &e) {
    raise(errorClass, "popart_internal_exception", e.what());
  } catch (const poputil::poplibs_error &e) {
    raise(errorClass, "poplibs_exception", e.what());
  } catch (const poplar::recoverable_runtime_error &e) {
    raiseRecoverable(e);
  } catch (const poplar::unrecoverable_runtime_error &e) {
    raise(unrecoverableClass, "poplar_" + e.type, e.what());
  } catch (const poplar::poplar_error &e) {
    raise(errorClass, "poplar_" + e.type, e.what());
  } catch (const std::out_of_range &e) {
    raise(errorClass, "std::out_of_range", e.what());
  } catch (const std::exception &e) {
    raise(errorClass, "std::exception", e.what());
  }
}

} // namespace

void initErrors(py::module_ &module) {
  errorClass = makeClass(module, "Error", PyExc_Exception);
  recoverableClass = makeClass(module, "RecoverableError", errorClass);
  unrecoverableClass = makeClass(module, "UnrecoverableError", errorClass);
  // Local: torch shares pybind11's state and keeps its own exceptions.
  py::register_local_exception_translator(&translate);
}

} // namespace poptorch
