// The documented exceptions, and which C++ exception becomes which.
#include "Bindings.hpp"

#include <popart/error.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <exception>
#include <map>
#include <string>

namespace popart::python {
namespace {

namespace py = pybind11;

// Never freed: exceptions outlive the module's own clean-up.
std::map<std::string, PyObject *> &classes() {
  static auto *all = new std::map<std::string, PyObject *>;
  return *all;
}

void makeClass(py::module_ &module, const char *name, const char *base) {
  PyObject *created = PyErr_NewException(
      ("popart." + std::string(name)).c_str(),
      *base ? classes().at(base) : PyExc_RuntimeError, nullptr);
  classes()[name] = created;
  module.attr(name) = py::handle(created);
}

void raise(const char *name, const char *message) {
  PyErr_SetString(classes().at(name), message);
}

void raiseRecoverable(const poplar::recoverable_runtime_error &e) {
  PyObject *type = classes().at("poplar_recoverable_runtime_error");
  py::object raised = py::reinterpret_borrow<py::object>(type)(e.what());
  raised.attr("recoveryAction") = py::cast(e.getRecoveryAction());
  PyErr_SetObject(type, raised.ptr());
}

void raiseOutOfMemory(const popart::memory_allocation_err &e) {
  PyObject *type = classes().at("_memory_allocation_err");
  py::object raised = py::reinterpret_borrow<py::object>(type)(e.what());
  try {
    raised.attr("summary") = e.getSummaryReport();
  } catch (const popart::error &) {
    raised.attr("summary") = py::none();
  }
  PyErr_SetObject(type, raised.ptr());
}

// Most specific first.
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
  } catch (const popart::memory_allocation_err &e) {
    raiseOutOfMemory(e);
  } catch (const popart::internal_error &e) {
    raise("popart_internal_exception", e.what());
  } catch (const popart::runtime_error &e) {
    raise("popart_runtime_error", e.what());
  } catch (const popart::error &e) {
    raise("popart_exception", e.what());
  } catch (const poplar::application_runtime_error &e) {
    raise("poplar_application_runtime_error", e.what());
  } catch (const poplar::recoverable_runtime_error &e) {
    raiseRecoverable(e);
  } catch (const poplar::unrecoverable_runtime_error &e) {
    raise("poplar_unrecoverable_runtime_error", e.what());
  } catch (const poplar::unknown_runtime_error &e) {
    raise("poplar_unknown_runtime_error", e.what());
  } catch (const poplar::system_runtime_error &e) {
    raise("poplar_system_runtime_error", e.what());
  } catch (const poplar::runtime_error &e) {
    raise("poplar_runtime_error", e.what());
  } catch (const poplar::poplar_error &e) {
    raise("poplar_exception", e.what());
  } catch (const poputil::poplibs_error &e) {
    raise("poplibs_exception", e.what());
  } catch (const support::InternalError &e) {
    raise("popart_internal_exception", e.what());
  }
}

} // namespace

void initErrors(py::module_ &module) {
  using Action = poplar::RecoveryAction;
  py::enum_<Action>(module, "RecoveryAction")
      .value("IPU_RESET", Action::IPU_RESET)
      .value("LINK_RESET", Action::LINK_RESET)
      .value("PARTITION_RESET", Action::PARTITION_RESET)
      .value("FULL_RESET", Action::FULL_RESET);
  makeClass(module, "popart_exception", "");
  makeClass(module, "popart_internal_exception", "popart_exception");
  makeClass(module, "popart_runtime_error", "popart_exception");
  makeClass(module, "_memory_allocation_err", "popart_exception");
  makeClass(module, "poplibs_exception", "");
  makeClass(module, "poplar_exception", "");
  makeClass(module, "poplar_runtime_error", "poplar_exception");
  makeClass(module, "poplar_application_runtime_error", "poplar_runtime_error");
  makeClass(module, "poplar_system_runtime_error", "poplar_runtime_error");
  makeClass(module, "poplar_recoverable_runtime_error",
            "poplar_system_runtime_error");
  makeClass(module, "poplar_unrecoverable_runtime_error",
            "poplar_system_runtime_error");
  makeClass(module, "poplar_unknown_runtime_error",
            "poplar_system_runtime_error");
  // Local: torch shares pybind11's state and keeps its own exceptions.
  py::register_local_exception_translator(&translate);
}

} // namespace popart::python
