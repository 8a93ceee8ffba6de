// What all tools share around their own work: the command line, what they
// write, and how mistakes are told.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace tools {

// What a tool does once its command line is parsed: the text to print.
using Work = std::function<std::string()>;

// Runs a tool: `setUp` adds its options, to which --help and --version come,
// and returns its work. The result is the exit code: 0, or 1 with a message on
// the standard error stream.
int runTool(const char *name, const char *description,
            const std::function<Work(CLI::App &)> &setUp, int argc,
            const char *const *argv);

// An option without a value; its count() says whether it was given.
CLI::Option *addFlag(CLI::App &app, const char *names,
                     const std::string &description);

// An option with a value, which help calls `valueName`.
CLI::Option *addOption(CLI::App &app, const char *names, const char *valueName,
                       const std::string &description);

// "Poplar version: 3.3.0"
std::string versionLine();

// Columns of the terminal: the environment variable COLUMNS, else what the
// terminal says, else 117.
std::size_t terminalWidth();

// The device that `text` names, of the `count` devices of the system. Throws
// poplar_error, which says what there is, if it is not one of them.
unsigned parseDeviceId(const std::string &text, std::size_t count);

} // namespace tools
