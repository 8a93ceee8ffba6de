#include "Program.hpp"

#include <poplar/Graph.hpp>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tools {
namespace {

std::optional<unsigned> parseNumber(std::string_view text) {
  unsigned number = 0;
  const char *end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    return std::nullopt;
  }
  return number;
}

std::string usageMessage(const CLI::App *app, const CLI::Error &error) {
  std::string text = fmt::format("{}: {}\n", app->get_name(), error.what());
  if (dynamic_cast<const CLI::ExtrasError *>(&error) != nullptr) {
    std::vector<std::string> names;
    for (const CLI::Option *option : app->get_options()) {
      names.push_back(option->get_name(false, true));
    }
    text += fmt::format("There are: {}\n", fmt::join(names, " "));
  }
  return text;
}

int fail(const char *tool, const std::string &problem) {
  std::cerr << fmt::format("{}: {}\n", tool, problem);
  return EXIT_FAILURE;
}

int print(const char *tool, const std::string &text) {
  std::cout << text << std::flush;
  // Whoever closes a pipe, as head does, has seen enough.
  if (std::cout || errno == EPIPE) {
    return EXIT_SUCCESS;
  }
  return fail(tool, fmt::format("cannot write: {}", std::strerror(errno)));
}

int parseAndRun(CLI::App &app, const Work &work, int argc,
                const char *const *argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) { // or a call for help
    return app.exit(error) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  return print(app.get_name().c_str(), work());
}

} // namespace

int runTool(const char *name, const char *description,
            const std::function<Work(CLI::App &)> &setUp, int argc,
            const char *const *argv) {
  try {
    CLI::App app(description, name);
    const Work work = setUp(app);
    app.set_version_flag("-v,--version", versionLine(), "Print the version");
    app.failure_message(usageMessage);
    return parseAndRun(app, work, argc, argv);
  } catch (const std::exception &error) {
    return fail(name, error.what());
  }
}

CLI::Option *addFlag(CLI::App &app, const char *names,
                     const std::string &description) {
  return app.add_flag(names, description);
}

CLI::Option *addOption(CLI::App &app, const char *names, const char *valueName,
                       const std::string &description) {
  return app.add_option(names, description)->type_name(valueName);
}

std::string versionLine() {
  // "3.3.0 (package hash)"
  const std::string version = poplar::versionString().cloneAsString();
  return "Poplar version: " + version.substr(0, version.find(' '));
}

std::size_t terminalWidth() {
  constexpr unsigned defaultWidth = 117;
  if (const char *columns = std::getenv("COLUMNS")) {
    if (const auto width = parseNumber(columns); width && *width > 0) {
      return *width;
    }
  }
  winsize size{};
  const bool isKnown =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return isKnown ? size.ws_col : defaultWidth;
}

unsigned parseDeviceId(const std::string &text, std::size_t count) {
  const std::optional<unsigned> id = parseNumber(text);
  support::requireUser<poplar::poplar_error>(
      id && *id < count, "no device '{}'; the system has devices 0 to {}", text,
      count - 1);
  return *id;
}

} // namespace tools
