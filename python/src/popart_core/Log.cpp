// The log, and the records of debug information.
#include "Bindings.hpp"

#include <popart/error.hpp>
#include <popart/logging.hpp>
#include <support/Error.hpp>

#include <poplar/DebugContext.hpp>

namespace popart::python {

namespace py = pybind11;

void initLog(py::module_ &module) {
  module.def("_setLogLevel",
             [](const std::string &name, const std::string &level) {
               logging::setLogLevel(name, logging::logLevelFromString(level));
             });
  module.def("_log", [](const std::string &name, const std::string &level,
                        const std::string &message) {
    logging::Level number = logging::logLevelFromString(level);
    if (logging::shouldLog(name.c_str(), number)) {
      logging::write(name.c_str(), number, message);
    }
  });
  using Format = poplar::DebugSerializationFormat;
  module.def(
      "initializePoplarDebugInfo",
      [](const std::string &fileName, const std::string &format) {
        support::requireUser<error>(format == "json" || format == "cbor",
                                    "[initializePoplarDebugInfo] unknown "
                                    "format '{}'; there are json and cbor",
                                    format);
        poplar::DebugInfo::initializeStreamer(
            fileName, format == "json" ? Format::JSON : Format::CBOR);
      },
      py::arg("filename"), py::arg("format") = "json");
  module.def("closePoplarDebugInfo", &poplar::DebugInfo::closeStreamer);
}

} // namespace popart::python
