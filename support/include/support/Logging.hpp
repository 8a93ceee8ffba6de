// One logger for the stack. Each library is a channel that its documented
// environment variables set (POPLAR_LOG_LEVEL, POPLAR_LOG_DEST and so on).
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace support {

enum class LogLevel : std::uint8_t {
  Trace,
  Debug,
  Info,
  Warn,
  Err,
  Critical,
  Off
};

enum class LogChannel : std::uint8_t { Poplar, Poplibs, Popart, Poptorch };

// Whether messages of this level are written. The environment is read once, at
// the first question; a level that Poplar, PopLibs or PopTorch does not know
// throws std::invalid_argument.
bool isLogged(LogChannel channel, std::string_view module, LogLevel level);

// Writes one line, whatever isLogged() says.
void writeLog(LogChannel channel, std::string_view module, LogLevel level,
              std::string_view message);

// The level that a channel's variables would call `name`; throws
// std::invalid_argument for names that it does not have.
LogLevel toLogLevel(LogChannel channel, std::string_view name);

// From now on; a module "all" is every one.
void setLogLevel(LogChannel channel, std::string_view module, LogLevel level);

// What a source file logs through:
//   constexpr support::Logger logger(support::LogChannel::Poplar, "ENGINE");
//   logger.debug("{} programs compiled", count);
// Modules are named as in POPLAR_<MODULE>_LOG_LEVEL. Arguments are formatted
// only when the message is written.
class Logger {
public:
  constexpr Logger(LogChannel channel, std::string_view module)
      : channel_(channel), module_(module) {}

  bool isEnabled(LogLevel level) const {
    return isLogged(channel_, module_, level);
  }

  template <typename... Args>
  void log(LogLevel level, fmt::format_string<Args...> format,
           Args &&...args) const {
    if (isEnabled(level)) {
      writeLog(channel_, module_, level,
               fmt::format(format, std::forward<Args>(args)...));
    }
  }
  template <typename... Args>
  void trace(fmt::format_string<Args...> format, Args &&...args) const {
    log(LogLevel::Trace, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args &&...args) const {
    log(LogLevel::Debug, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args &&...args) const {
    log(LogLevel::Info, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args &&...args) const {
    log(LogLevel::Warn, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void err(fmt::format_string<Args...> format, Args &&...args) const {
    log(LogLevel::Err, format, std::forward<Args>(args)...);
  }

private:
  LogChannel channel_;
  std::string_view module_;
};

} // namespace support
