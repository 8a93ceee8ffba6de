// Custom operators log where PopART does.
#include <popart/logging.hpp>

#include <popart/error.hpp>
#include <support/Logging.hpp>

#include <stdexcept>

namespace popart::logging {
namespace {

support::LogLevel supportLevel(Level level) {
  return static_cast<support::LogLevel>(level);
}
static_assert(static_cast<int>(Level::Off) ==
              static_cast<int>(support::LogLevel::Off));

} // namespace

Level logLevelFromString(const std::string &name) {
  try {
    return static_cast<Level>(
        support::toLogLevel(support::LogChannel::Popart, name));
  } catch (const std::invalid_argument &) {
    throw error("Unknown log level '" + name +
                "'; levels are TRACE, DEBUG, INFO, WARN, ERR, CRITICAL, OFF");
  }
}

void setLogLevel(const std::string &module, Level level) {
  support::setLogLevel(support::LogChannel::Popart, module,
                       supportLevel(level));
}

bool shouldLog(const char *module, Level level) {
  return support::isLogged(support::LogChannel::Popart, module,
                           supportLevel(level));
}

void write(const char *module, Level level, const std::string &message) {
  support::writeLog(support::LogChannel::Popart, module, supportLevel(level),
                    message);
}

} // namespace popart::logging
