#include "Compiler.hpp"

#include <poplar/internal/CodeletFormat.hpp>
#include <support/Process.hpp>

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace popc {

namespace fs = std::filesystem;

namespace {

using Flags = std::vector<std::string>;

void append(Flags &to, const Flags &from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The first of the programs `names` in the folders of PATH, or "".
std::string findProgram(std::initializer_list<std::string_view> names) {
  const char *variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/bin:/bin";
  for (std::string_view name : names) {
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      const fs::path program = fs::path(path.substr(begin, end - begin)) / name;
      if (program.is_absolute() && access(program.c_str(), X_OK) == 0) {
        return program;
      }
      begin = end + 1;
    }
  }
  return "";
}

// include/ lies beside bin/, in the SDK and in a build folder.
std::string findIncludeFolder() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path folder = program.parent_path().parent_path() / "include";
  if (!fs::exists(folder / "poplar/Vertex.hpp")) {
    throw NoCompilerError(fmt::format(
        "the headers of codelets are not in {}; is the SDK complete?",
        folder.string()));
  }
  return folder;
}

// Standards of C for C++, or the reverse; and of C++ those before 17, which
// poplar/popc/Register.hpp needs: their code is C++17 as well.
bool isForOtherLanguage(std::string_view flag, bool isC) {
  if (!flag.starts_with("-std=")) {
    return false;
  }
  const bool isCxx = flag.find("++") != flag.npos;
  const std::string_view year = flag.substr(flag.size() - 2);
  const bool isOld = isCxx && (year == "98" || year == "03" || year == "0x" ||
                               year == "11" || year == "1y" || year == "14");
  return isCxx == isC || isOld;
}

bool hasStandard(const Flags &flags) {
  return std::ranges::any_of(
      flags, [](const std::string &flag) { return flag.starts_with("-std="); });
}

// Runs a step in which only the user's code can be at fault.
support::ProcessResult runOrFail(const Flags &command,
                                 const std::string &input = "") {
  support::ProcessResult result = support::runProcess(command, input);
  if (result.exitCode != 0) {
    throw CompileError(result.errors.empty()
                           ? fmt::format("{} ended with code {}\n", command[0],
                                         result.exitCode)
                           : result.errors);
  }
  return result;
}

} // namespace

Compiler::Compiler(const Options &options)
    : clang_(findProgram({"clang++-14", "clang++"})),
      userFlags_(options.compilerFlags) {
  if (clang_.empty()) {
    throw NoCompilerError(
        "codelets are compiled with clang++, which is not on "
        "PATH; install clang (Debian: apt-get install clang)");
  }
  includeFolder_ = findIncludeFolder();
}

std::string Compiler::identity() const {
  std::string text;
  for (const fs::path file : {clang_.c_str(), "/proc/self/exe"}) {
    const fs::path program = fs::canonical(file);
    text +=
        fmt::format("{} {} {}\n", program.string(), fs::file_size(program),
                    fs::last_write_time(program).time_since_epoch().count());
  }
  return text;
}

// The machine is named in every step: headers may ask for its features.
Flags Compiler::languageFlags(bool isC) const {
  Flags flags;
#ifdef __x86_64__
  flags.push_back(fmt::format("-march={}", poplar::internal::hostMachine()));
#endif
  append(flags, userFlags_);
  std::erase_if(flags, [&](const std::string &flag) {
    return isForOtherLanguage(flag, isC);
  });
  if (!isC && !hasStandard(flags)) {
    flags.push_back("-std=c++17");
  }
  // Attributes of the machine's own compiler mean nothing here.
  append(flags, {"-Wno-ignored-attributes", "-Wno-unknown-attributes"});
  return flags;
}

Flags Compiler::sourceFlags(const Source &source) const {
  Flags flags = {"-D__POPC__", "-isystem", includeFolder_};
  append(flags, languageFlags(source.isC));
  append(flags, {"-x", source.isC ? "c" : "c++", source.path});
  return flags;
}

std::string Compiler::preprocess(const Source &source) const {
  Flags command = {clang_, "-E"};
  append(command, sourceFlags(source));
  return runOrFail(command, source.text).output;
}

std::string Compiler::check(const Source &source) const {
  Flags command = {clang_, "-fsyntax-only"};
  append(command, sourceFlags(source));
  return runOrFail(command, source.text).errors;
}

Flags Compiler::reflectionFlags(bool isC) const {
  Flags flags = languageFlags(isC);
  append(flags, {"-w", "-x", isC ? "cpp-output" : "c++-cpp-output"});
  return flags;
}

// No contraction: a codelet's sums are those of the same C++ on any host. No
// access control: what describes the vertices reads their private fields.
// Warnings were given for the source as written (see check).
void Compiler::compile(const fs::path &source, bool isC, CodeKind kind,
                       const fs::path &output) const {
  Flags command = {clang_,
                   "-O3",
                   "-fPIC",
                   "-ffp-contract=off",
                   "-fno-builtin-printf",
                   "-fvisibility=hidden"};
  append(command, languageFlags(isC));
  append(command,
         {"-fno-access-control", "-Qunused-arguments", "-w",
          kind == CodeKind::Assembly ? "-S" : "-c", "-o", output.string(), "-x",
          isC ? "cpp-output" : "c++-cpp-output", source.string()});
  runOrFail(command);
}

void Compiler::link(const std::vector<fs::path> &objects,
                    const fs::path &output) const {
  Flags command = {clang_, "-shared", "-Wl,-z,defs", "-o", output.string()};
  for (const fs::path &object : objects) {
    command.push_back(object.string());
  }
  runOrFail(command);
}

} // namespace popc
