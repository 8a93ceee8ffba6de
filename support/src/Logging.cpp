#include <support/Logging.hpp>

#include <nlohmann/json.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>

namespace support {
namespace {

struct LevelName {
  std::string_view name;
  LogLevel level;
};

// What a channel's variables are called, which levels they take, and how its
// lines look: "%n" is the name with "{}" replaced by the module.
struct ChannelInfo {
  std::string_view variable;
  std::string_view name;
  const char *pattern;
  spdlog::pattern_time_type time;
  LogLevel defaultLevel;
  bool refusesUnknownLevels; // else they mean Off
  std::span<const LevelName> levels;
};

constexpr std::array<LevelName, 6> poplarLevels = {{
    {"TRACE", LogLevel::Trace},
    {"DEBUG", LogLevel::Debug},
    {"INFO", LogLevel::Info},
    {"WARN", LogLevel::Warn},
    {"ERR", LogLevel::Err},
    {"OFF", LogLevel::Off},
}};
constexpr std::array<LevelName, 7> popartLevels = {{
    {"TRACE", LogLevel::Trace},
    {"DEBUG", LogLevel::Debug},
    {"INFO", LogLevel::Info},
    {"WARN", LogLevel::Warn},
    {"ERR", LogLevel::Err},
    {"CRITICAL", LogLevel::Critical},
    {"OFF", LogLevel::Off},
}};
constexpr std::array<LevelName, 8> poptorchLevels = {{
    {"TRACE_ALL", LogLevel::Trace},
    {"TRACE", LogLevel::Trace},
    {"DEBUG_IR", LogLevel::Debug},
    {"DEBUG", LogLevel::Debug},
    {"INFO", LogLevel::Info},
    {"WARN", LogLevel::Warn},
    {"ERR", LogLevel::Err},
    {"OFF", LogLevel::Off},
}};

constexpr const char *utcPattern = "%Y-%m-%dT%H:%M:%S.%fZ %n %P.%t %L: %v";

// In the order of LogChannel.
const std::array<ChannelInfo, 4> &channelTable() {
  using spdlog::pattern_time_type;
  static const std::array<ChannelInfo, 4> table = {{
      {"POPLAR", "PO:{}", utcPattern, pattern_time_type::utc, LogLevel::Off,
       true, poplarLevels},
      {"POPLIBS", "PL:{}", utcPattern, pattern_time_type::utc, LogLevel::Off,
       true, poplarLevels},
      {"POPART", "popart:{}", utcPattern, pattern_time_type::utc, LogLevel::Off,
       false, popartLevels},
      {"POPTORCH", "poptorch:cpp", "[%H:%M:%S.%e] [%n] [%l] %v",
       pattern_time_type::local, LogLevel::Warn, true, poptorchLevels},
  }};
  return table;
}

LogLevel parseLevel(const ChannelInfo &info, const std::string &variable,
                    std::string_view text) {
  auto found =
      std::find_if(info.levels.begin(), info.levels.end(),
                   [&](const LevelName &level) { return level.name == text; });
  if (found != info.levels.end()) {
    return found->level;
  }
  if (text.empty() || !info.refusesUnknownLevels) {
    return LogLevel::Off;
  }
  std::string names;
  for (const LevelName &level : info.levels) {
    names += names.empty() ? "" : level.level == LogLevel::Off ? " and " : ", ";
    names += level.name;
  }
  throw std::invalid_argument(fmt::format(
      "Unknown {} '{}'. Valid values are {}.", variable, text, names));
}

// <CHANNEL>_LOG_LEVEL or <CHANNEL>_<MODULE>_LOG_LEVEL, if it is set.
bool readLevel(const ChannelInfo &info, const std::string &module,
               LogLevel &level) {
  std::string variable = std::string(info.variable) + module + "_LOG_LEVEL";
  const char *text = std::getenv(variable.c_str());
  if (text != nullptr) {
    level = parseLevel(info, variable, text);
  }
  return text != nullptr;
}

// The modules that have a variable of their own.
std::span<const std::string_view> modulesOf(LogChannel channel) {
  static constexpr std::array<std::string_view, 7> poplar = {
      "CODELETS", "ENGINE", "GRAPH", "PROFILER", "PROGRAM", "TARGET", "TENSOR"};
  static constexpr std::array<std::string_view, 8> poplibs = {
      "POPFLOAT", "POPLIN",    "POPNN",     "POPOPS",
      "POPRAND",  "POPSOLVER", "POPSPARSE", "POPUTIL"};
  switch (channel) {
  case LogChannel::Poplar:
    return poplar;
  case LogChannel::Poplibs:
    return poplibs;
  case LogChannel::Popart:
  case LogChannel::Poptorch:
    break;
  }
  return {};
}

struct ChannelSettings {
  LogLevel level = LogLevel::Off;
  std::map<std::string, LogLevel, std::less<>> moduleLevels;
  // Of level and moduleLevels. Atomic: nearly every question ends here.
  std::atomic<LogLevel> lowest = LogLevel::Off;
  std::shared_ptr<spdlog::sinks::sink> sink;

  void set(std::string_view module, LogLevel value) {
    if (module == "all") {
      level = value;
      moduleLevels.clear();
    } else {
      moduleLevels.insert_or_assign(std::string(module), value);
    }
    LogLevel least = level;
    for (const auto &[name, own] : moduleLevels) {
      least = std::min(least, own);
    }
    lowest = least;
  }
};

// The environment as it was at the first log call, and changes since.
class LogSettings {
public:
  LogSettings() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      readLevels(static_cast<LogChannel>(i), channels_[i]);
      readFile(channelTable()[i], channels_[i]);
      openSink(channelTable()[i], channels_[i]);
    }
  }

  ChannelSettings &operator[](LogChannel channel) {
    return channels_[static_cast<std::size_t>(channel)];
  }
  std::shared_mutex &mutex() { return mutex_; }

private:
  static void readLevels(LogChannel channel, ChannelSettings &settings) {
    const ChannelInfo &info = channelTable()[static_cast<std::size_t>(channel)];
    LogLevel level = info.defaultLevel;
    readLevel(info, "", level);
    settings.set("all", level);
    for (std::string_view module : modulesOf(channel)) {
      if (readLevel(info, "_" + std::string(module), level)) {
        settings.set(module, level);
      }
    }
  }

  // <CHANNEL>_LOG_CONFIG: a JSON object of levels by module. What cannot be
  // read changes nothing.
  static void readFile(const ChannelInfo &info, ChannelSettings &settings) {
    std::string variable = std::string(info.variable) + "_LOG_CONFIG";
    const char *name = std::getenv(variable.c_str());
    std::ifstream file(name == nullptr ? "" : name);
    auto levels = nlohmann::json::parse(file, nullptr, /*throws=*/false);
    if (!levels.is_object()) {
      return;
    }
    if (levels.contains("all")) { // before what modules have of their own
      settings.set("all", parseLevel(info, variable, textOf(levels["all"])));
    }
    for (const auto &[module, level] : levels.items()) {
      if (module != "all") {
        settings.set(module, parseLevel(info, variable, textOf(level)));
      }
    }
  }

  static std::string textOf(const nlohmann::json &value) {
    return value.is_string() ? value.get<std::string>() : "";
  }

  void openSink(const ChannelInfo &info, ChannelSettings &settings) {
    std::string variable = std::string(info.variable) + "_LOG_DEST";
    const char *text = std::getenv(variable.c_str());
    std::string destination = text == nullptr ? "stderr" : text;
    if (destination == "stdout") {
      settings.sink = std::make_shared<spdlog::sinks::stdout_sink_mt>();
    } else if (destination == "stderr" || destination.empty() ||
               settings.lowest == LogLevel::Off) {
      settings.sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      // The first channel that names a file empties it; the others append.
      bool isFirst = files_.insert(destination).second;
      settings.sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(
          destination, isFirst);
    }
    std::string format = std::string(info.variable) + "_LOG_FORMAT";
    const char *pattern = std::getenv(format.c_str());
    settings.sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        pattern == nullptr ? info.pattern : pattern, info.time));
  }

  std::array<ChannelSettings, 4> channels_;
  std::set<std::string> files_;
  std::shared_mutex mutex_; // of levels
};

LogSettings &logSettings() {
  static LogSettings settings;
  return settings;
}

} // namespace

LogLevel toLogLevel(LogChannel channel, std::string_view name) {
  const ChannelInfo &info = channelTable()[static_cast<std::size_t>(channel)];
  for (const LevelName &level : info.levels) {
    if (level.name == name) {
      return level.level;
    }
  }
  throw std::invalid_argument(fmt::format("Unknown log level '{}'", name));
}

void setLogLevel(LogChannel channel, std::string_view module, LogLevel level) {
  std::unique_lock lock(logSettings().mutex());
  logSettings()[channel].set(module, level);
}

bool isLogged(LogChannel channel, std::string_view module, LogLevel level) {
  const ChannelSettings &settings = logSettings()[channel];
  if (level < settings.lowest) {
    return false;
  }
  std::shared_lock lock(logSettings().mutex());
  auto own = settings.moduleLevels.find(module);
  return level >=
         (own == settings.moduleLevels.end() ? settings.level : own->second);
}

void writeLog(LogChannel channel, std::string_view module, LogLevel level,
              std::string_view message) {
  const ChannelInfo &info = channelTable()[static_cast<std::size_t>(channel)];
  std::string name = fmt::format(fmt::runtime(info.name), module);
  // The levels are spdlog's, in its order.
  spdlog::details::log_msg line(
      spdlog::source_loc(), name, static_cast<spdlog::level::level_enum>(level),
      spdlog::string_view_t(message.data(), message.size()));
  spdlog::sinks::sink &sink = *logSettings()[channel].sink;
  sink.log(line);
  sink.flush();
}

} // namespace support
