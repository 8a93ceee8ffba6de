#include "codelets/CallPopc.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/CodeletFormat.hpp>
#include <support/Error.hpp>
#include <support/Process.hpp>

#include <dlfcn.h>
#include <filesystem>
#include <ostream>
#include <system_error>

namespace poplar::codelets {

namespace fs = std::filesystem;

namespace {

// bin/ lies beside lib/, in the SDK and in a build folder.
std::string findPopc() {
  Dl_info library;
  static const char here = 0;
  support::requireInternal(dladdr(&here, &library) != 0,
                           "the path of libpoplar is not known");
  const fs::path folder =
      fs::canonical(library.dli_fname).parent_path().parent_path();
  const fs::path popc = folder / "bin/popc";
  support::requireUser<no_environment>(
      fs::exists(popc),
      "[codelets] codelets are compiled by popc, and there is no {}; is the "
      "SDK complete?",
      popc.string());
  return popc;
}

support::ProcessResult run(const std::vector<std::string> &command,
                           const std::string &input) {
  try {
    return support::runProcess(command, input);
  } catch (const std::system_error &error) {
    throw no_environment(std::string("[codelets] cannot run popc: ") +
                         error.what());
  }
}

} // namespace

std::string callPopc(const std::vector<std::string> &inputs,
                     const std::vector<std::string> &flags,
                     const std::string &source, std::ostream &output) {
  std::vector<std::string> command = {findPopc()};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-o", "-"});
  command.insert(command.end(), inputs.begin(), inputs.end());
  support::ProcessResult result = run(command, source);
  output << result.errors;
  using internal::PopcExit;
  const auto exit = static_cast<PopcExit>(result.exitCode);
  if (exit == PopcExit::NoCompiler) {
    throw no_environment("[codelets] " + result.errors);
  }
  if (exit != PopcExit::Success) {
    throw graph_program_compilation_error("[codelets] compilation failed:\n" +
                                          result.errors);
  }
  return std::move(result.output);
}

std::vector<std::string> splitFlags(const std::string &flags) {
  std::vector<std::string> parts;
  bool isInside = false; // of a part, which may be an empty pair of quotes
  char quote = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const char c = flags[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      isInside = false;
      continue;
    }
    if (!isInside) {
      parts.emplace_back();
      isInside = true;
    }
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < flags.size()) {
      parts.back() += flags[++i];
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

} // namespace poplar::codelets
