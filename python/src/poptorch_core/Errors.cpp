#include "Errors.hpp"

#include <Error.hpp>

#include <popart/error.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

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

// What was thrown, and from which places, the outermost first.
std::exception_ptr unwrap(std::exception_ptr pointer,
                          std::vector<std::string> &places) {
  try {
    std::rethrow_exception(pointer);
  } catch (const LeftPlace &left) {
    places.emplace_back(left.name());
    return unwrap(left.nested_ptr(), places);
  } catch (...) {
    return pointer;
  }
}

// "  [0] Compiler::run" and so on, a line for each place, the innermost first.
std::string locationOf(const std::vector<std::string> &places) {
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    text += fmt::format("{}  [{}] {}", i == 0 ? "" : "\n", i,
                        places[places.size() - 1 - i]);
  }
  return text;
}

// Longer messages than these lines go to a file.
constexpr auto mostLines = 80;
constexpr const char *longErrors = "poptorch_error.log";

std::string shortened(const std::string &message) {
  if (std::count(message.begin(), message.end(), '\n') < mostLines) {
    return message;
  }
  std::ofstream(longErrors) << message << '\n';
  return fmt::format("See {} for details", longErrors);
}

py::object makeError(PyObject *kind, const std::string &type,
                     const std::string &whole, const std::string &location,
                     const std::string &advice = "") {
  std::string message = shortened(whole);
  std::string text = "'" + type + "': " + message + advice;
  if (!location.empty()) {
    text += "\nError raised in:\n" + location;
  }
  py::object error = py::reinterpret_borrow<py::object>(kind)(py::str(text));
  error.attr("message") = message;
  error.attr("type") = type;
  error.attr("location") = location;
  return error;
}

void raiseRecoverable(const poplar::recoverable_runtime_error &e,
                      const std::string &location) {
  std::string action = poplar::toString(e.getRecoveryAction());
  py::object error =
      makeError(recoverableClass, "poplar_" + e.type, e.what(), location,
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
  std::vector<std::string> places;
  pointer = unwrap(pointer, places);
  auto raise = [&](PyObject *kind, const std::string &type,
                   const std::string &message) {
    PyErr_SetObject(kind,
                    makeError(kind, type, message, locationOf(places)).ptr());
  };
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
    raiseRecoverable(e, locationOf(places));
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
