// The command line of popc: what to compile, how, and where the result goes.
// Flags for clang++ are passed on as they are.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace popc {

struct Options {
  enum class Action { Compile, PrintHelp, PrintVersion, ListTargets };

  Action action = Action::Compile;
  std::vector<std::string> inputs; // "-" is standard input
  std::string output = "a.gp";     // "-" is standard output
  bool writesAssembly = false;     // -S
  std::string language;            // -x: "c++" or "c"; else by the file's name
  // For the compiler: those of the command line, then those of the targets.
  std::vector<std::string> compilerFlags;
  std::vector<std::string> targets;
};

class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

const std::vector<std::string> &knownTargets();
std::string helpText();

// Throws UsageError.
Options parseOptions(const std::vector<std::string> &arguments);

} // namespace popc
