// popc: compiles codelets into codelet files. Users call it, and libpoplar when
// a program adds codelets from a source.
#include "Build.hpp"
#include "Compiler.hpp"
#include "Options.hpp"

#include <clang-c/Index.h>
#include <poplar/internal/CodeletFormat.hpp>
#include <poplar/internal/Version.hpp>

#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

namespace {

using poplar::internal::PopcExit;

void printVersion() {
  CXString clang = clang_getClangVersion();
  // Programs take the first word of ten or more small letters and digits for
  // the package's hash.
  std::cout << fmt::format(
      "POPLAR version {} ({})\n{}; Aspen {}, code for {}\n",
      poplar::internal::interfaceVersion, poplar::internal::packageHash,
      clang_getCString(clang), ASPEN_VERSION, poplar::internal::hostMachine());
  clang_disposeString(clang);
}

void run(const popc::Options &options) {
  switch (options.action) {
  case popc::Options::Action::PrintHelp:
    std::cout << popc::helpText();
    break;
  case popc::Options::Action::PrintVersion:
    printVersion();
    break;
  case popc::Options::Action::ListTargets:
    std::cout << fmt::format("{}\n", fmt::join(popc::knownTargets(), ","));
    break;
  case popc::Options::Action::Compile:
    popc::build(options);
    break;
  }
}

PopcExit runPopc(const std::vector<std::string> &arguments) {
  try {
    run(popc::parseOptions(arguments));
    return PopcExit::Success;
  } catch (const popc::CompileError &error) {
    std::cerr << error.what();
  } catch (const popc::NoCompilerError &error) {
    std::cerr << "popc: " << error.what() << '\n';
    return PopcExit::NoCompiler;
  } catch (const std::exception &error) {
    std::cerr << "popc: " << error.what() << '\n';
  }
  return PopcExit::Failure;
}

} // namespace

int main(int argc, char **argv) {
  return static_cast<int>(runPopc({argv + 1, argv + argc}));
}
