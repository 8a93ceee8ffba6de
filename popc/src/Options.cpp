#include "Options.hpp"

#include "Files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

namespace popc {

namespace {

// Options of the compiler, which pass through. Those that would change the
// machine (-m...) or what is linked are left out: a codelet file says which
// machine it is for and stands alone.
constexpr std::string_view joinedFlags[] = {"-O", "-g", "-W", "-f", "-std="};
constexpr std::string_view plainFlags[] = {"-w", "-pedantic",
                                           "-pedantic-errors"};
// With a value, in the same argument or the next.
constexpr std::string_view valueFlags[] = {"-I",       "-D",       "-U",
                                           "-include", "-isystem", "-iquote"};

bool contains(const auto &list, std::string_view value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

class Parser {
public:
  explicit Parser(std::vector<std::string> arguments)
      : arguments_(std::move(arguments)) {}

  Options parse() {
    while (next_ < arguments_.size()) {
      // A copy, because an options file moves the arguments.
      const std::string argument = arguments_[next_++];
      parseOne(argument);
    }
    if (options_.action == Options::Action::Compile &&
        options_.inputs.empty()) {
      throw UsageError("no input files; popc --help says how to use it");
    }
    if (options_.targets.empty()) {
      options_.targets = knownTargets();
    }
    return std::move(options_);
  }

private:
  void parseOne(const std::string &argument) {
    if (argument.empty() || argument[0] != '-' || argument == "-") {
      options_.inputs.push_back(argument);
    } else if (argument == "--help" || argument == "-h") {
      options_.action = Options::Action::PrintHelp;
    } else if (argument == "--version") {
      options_.action = Options::Action::PrintVersion;
    } else if (argument == "--list-targets") {
      options_.action = Options::Action::ListTargets;
    } else if (argument == "-S") {
      options_.writesAssembly = true;
    } else if (auto output = valueOf(argument, "-o", "")) {
      options_.output = *output;
    } else if (auto sameOutput = valueOf(argument, "--output-file", "=")) {
      options_.output = *sameOutput;
    } else if (auto file = valueOf(argument, "--options-file", "=")) {
      insertOptionsOf(*file);
    } else if (auto language = valueOf(argument, "-x", "")) {
      setLanguage(*language);
    } else if (auto target = valueOf(argument, "--target", "=")) {
      addTargets(*target);
    } else if (auto sameTarget = valueOf(argument, "-target", "=")) {
      addTargets(*sameTarget);
    } else if (!passOn(argument)) {
      throw UsageError(fmt::format(
          "unknown option {}; popc --help names those there are", argument));
    }
  }

  // The words of a file take the place of the option that names it.
  void insertOptionsOf(const std::string &file) {
    constexpr std::size_t maxArguments = 10000; // a file may name itself
    const std::optional<std::string> text = readFile(file);
    if (!text) {
      throw UsageError(fmt::format("cannot read the options file {}", file));
    }
    std::istringstream stream(*text);
    const std::vector<std::string> words(
        std::istream_iterator<std::string>{stream}, {});
    if (arguments_.size() + words.size() > maxArguments) {
      throw UsageError(fmt::format(
          "the options file {} brings the options to more than {}; does it "
          "name itself?",
          file, maxArguments));
    }
    arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(next_),
                      words.begin(), words.end());
  }

  // The value of option `name`: after `separator` in the same argument, or the
  // next argument.
  std::optional<std::string> valueOf(const std::string &argument,
                                     std::string_view name,
                                     std::string_view separator) {
    if (argument == name) {
      if (next_ == arguments_.size()) {
        throw UsageError(fmt::format("option {} needs a value", name));
      }
      return arguments_[next_++];
    }
    const std::string prefix = std::string(name) + std::string(separator);
    if (argument.starts_with(prefix)) {
      return argument.substr(prefix.size());
    }
    return std::nullopt;
  }

  void setLanguage(const std::string &language) {
    if (language != "c++" && language != "c") {
      throw UsageError(fmt::format(
          "unknown language '{}' for -x; there are c++ and c", language));
    }
    options_.language = language;
  }

  bool passOn(const std::string &argument) {
    for (std::string_view name : valueFlags) {
      if (auto value = valueOf(argument, name, "")) {
        options_.compilerFlags.insert(options_.compilerFlags.end(),
                                      {std::string(name), *value});
        return true;
      }
    }
    const bool isFlag =
        contains(plainFlags, argument) ||
        std::ranges::any_of(joinedFlags, [&](std::string_view prefix) {
          return argument.starts_with(prefix);
        });
    if (isFlag) {
      options_.compilerFlags.push_back(argument);
    }
    return isFlag;
  }

  void addTargets(const std::string &text) {
    if (text.find_first_of("[{\"") != std::string::npos) {
      addJsonTargets(text);
      return;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      addTarget(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  void addTarget(const std::string &name) {
    if (!contains(knownTargets(), name)) {
      throw UsageError(fmt::format("unknown target '{}'; there are: {}", name,
                                   fmt::join(knownTargets(), ",")));
    }
    options_.targets.push_back(name);
  }

  // "ipu2", {"name": ..., "arch": ..., "compile-flags": [...]}, or a list of
  // these.
  void addJsonTargets(const std::string &text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      throw UsageError(fmt::format("--target is no valid JSON: {}", text));
    }
    if (!json.is_array()) {
      addJsonTarget(json);
      return;
    }
    for (const auto &entry : json) {
      addJsonTarget(entry);
    }
  }

  void addJsonTarget(const nlohmann::json &entry) {
    try {
      if (entry.is_string()) {
        addTarget(entry);
        return;
      }
      addTarget(entry.contains("arch") ? entry.at("arch") : entry.at("name"));
      for (const std::string flag :
           entry.value("compile-flags", nlohmann::json::array())) {
        if (!contains(options_.compilerFlags, flag)) {
          options_.compilerFlags.push_back(flag);
        }
      }
    } catch (const nlohmann::json::exception &) {
      throw UsageError(fmt::format(
          "a target is a name or an object with \"name\", \"arch\" and "
          "\"compile-flags\"; given: {}",
          entry.dump()));
    }
  }

  std::vector<std::string> arguments_; // grows by those of --options-file
  std::size_t next_ = 0;
  Options options_;
};

} // namespace

const std::vector<std::string> &knownTargets() {
  static const std::vector<std::string> names = {"cpu", "ipu1", "ipu2",
                                                 "ipu21"};
  return names;
}

std::string helpText() {
  return R"(Usage: popc [options] inputs...

Compiles codelets (.cpp, .c) and links codelet files (.gp) with them.

  -o, --output-file <file>
                      the codelet file to write (a.gp)
  --options-file <file>
                      takes more options from a file, between spaces or lines
  -O0, -O1, -O2, -O3  how much to optimise (-O3)
  -g                  with debug information
  -I, -isystem <dir>  a folder for #include
  -include <file>     a file to include first
  -D <name>[=value]   defines a macro
  -U <name>           undefines one
  -std=<standard>     the language (c++17)
  -W<warning>, -w     warnings, as for clang
  -f<feature>         code generation, as for clang
  -x c++, -x c        the language of the inputs, whatever their names end in
  -S                  writes the assembly of the code instead
  --target <targets>  names with commas, or JSON; the code is the same for all
  --list-targets      prints the targets
  --version           prints the version
  --help              prints this
)";
}

Options parseOptions(const std::vector<std::string> &arguments) {
  return Parser(arguments).parse();
}

} // namespace popc
