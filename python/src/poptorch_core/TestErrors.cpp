// Errors on request, for programs that try out how they handle them.
#include "Errors.hpp"

#include <Error.hpp>

#include <popart/error.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>

namespace poptorch {
namespace {

enum class TestErrorType {
  Poptorch,
  Popart,
  PopartInternal,
  Poplibs,
  PoplarUnrecoverable,
  PoplarUnknown,
  PoplarRecoverableFullReset,
  PoplarLinkError
};

[[noreturn]] void throwTestError(TestErrorType type) {
  switch (type) {
  case TestErrorType::Poptorch:
    throw Error("a test error of PopTorch");
  case TestErrorType::Popart:
    throw popart::error("a test error of PopART");
  case TestErrorType::PopartInternal:
    throw popart::internal_error("an internal test error of PopART");
  case TestErrorType::Poplibs:
    throw poputil::poplibs_error("a test error of PopLibs");
  case TestErrorType::PoplarUnrecoverable:
    throw poplar::unrecoverable_runtime_error("a test error of Poplar");
  case TestErrorType::PoplarRecoverableFullReset:
    throw poplar::recoverable_runtime_error(poplar::RecoveryAction::FULL_RESET,
                                            "a test error of Poplar");
  case TestErrorType::PoplarLinkError:
    throw poplar::link_error("a test error of Poplar's linker", "its output");
  case TestErrorType::PoplarUnknown:
    break;
  }
  throw poplar::unknown_runtime_error("a test error of Poplar");
}

} // namespace

void initTestErrors(pybind11::module_ &module) {
  pybind11::enum_<TestErrorType>(module, "TestErrorType")
      .value("Poptorch", TestErrorType::Poptorch)
      .value("Popart", TestErrorType::Popart)
      .value("PopartInternal", TestErrorType::PopartInternal)
      .value("Poplibs", TestErrorType::Poplibs)
      .value("PoplarUnrecoverable", TestErrorType::PoplarUnrecoverable)
      .value("PoplarUnknown", TestErrorType::PoplarUnknown)
      .value("PoplarRecoverableFullReset",
             TestErrorType::PoplarRecoverableFullReset)
      .value("PoplarLinkError", TestErrorType::PoplarLinkError);
  module.def("_throwTestError", &throwTestError);
}

} // namespace poptorch
