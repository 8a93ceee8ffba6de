// PopART's log, for custom operators: logging::opx::debug("{} made", name).
// POPART_LOG_LEVEL says what is written.
#pragma once

#include <popart/formattext.hpp>

#include <string>

namespace popart {
namespace logging {

enum class Level { Trace = 0, Debug, Info, Warn, Err, Critical, Off };

// By its name in POPART_LOG_LEVEL; throws popart::error for others.
Level logLevelFromString(const std::string &name);
// From now on; the module "all" is every one.
void setLogLevel(const std::string &module, Level level);

bool shouldLog(const char *module, Level level);
// Writes one line, whatever shouldLog() says.
void write(const char *module, Level level, const std::string &message);

template <typename... Args>
void log(const char *module, Level level, const std::string &text,
         const Args &...args) {
  if (shouldLog(module, level)) {
    write(module, level, formatText(text, args...));
  }
}

// A namespace for each module, and plain logging::debug for "popart".
#define POPART_LOG_FUNCTION(MODULE, NAME, LEVEL)                               \
  template <typename... Args>                                                  \
  void NAME(const std::string &text, const Args &...args) {                    \
    ::popart::logging::log(MODULE, ::popart::logging::Level::LEVEL, text,      \
                           args...);                                           \
  }
#define POPART_LOG_FUNCTIONS(MODULE)                                           \
  POPART_LOG_FUNCTION(MODULE, trace, Trace)                                    \
  POPART_LOG_FUNCTION(MODULE, debug, Debug)                                    \
  POPART_LOG_FUNCTION(MODULE, info, Info)                                      \
  POPART_LOG_FUNCTION(MODULE, warn, Warn)                                      \
  POPART_LOG_FUNCTION(MODULE, err, Err)                                        \
  POPART_LOG_FUNCTION(MODULE, critical, Critical)
#define POPART_LOG_MODULE(NAME)                                                \
  namespace NAME {                                                             \
  POPART_LOG_FUNCTIONS(#NAME)                                                  \
  }

POPART_LOG_FUNCTIONS("popart")
POPART_LOG_MODULE(session)
POPART_LOG_MODULE(ir)
POPART_LOG_MODULE(devicex)
POPART_LOG_MODULE(transform)
POPART_LOG_MODULE(pattern)
POPART_LOG_MODULE(builder)
POPART_LOG_MODULE(op)
POPART_LOG_MODULE(opx)
POPART_LOG_MODULE(ces)

#undef POPART_LOG_MODULE
#undef POPART_LOG_FUNCTIONS
#undef POPART_LOG_FUNCTION

} // namespace logging
} // namespace popart
