// Custom operators log where PopART does.
#include <popart/logging.hpp>

#include <support/Logging.hpp>

namespace popart::logging {
namespace {

support::LogLevel supportLevel(Level level) {
  return static_cast<support::LogLevel>(level);
}
static_assert(static_cast<int>(Level::Off) ==
              static_cast<int>(support::LogLevel::Off));

} // namespace

bool shouldLog(const char *module, Level level) {
  return support::isLogged(support::LogChannel::Popart, module,
                           supportLevel(level));
}

void write(const char *module, Level level, const std::string &message) {
  support::writeLog(support::LogChannel::Popart, module, supportLevel(level),
                    message);
}

} // namespace popart::logging
