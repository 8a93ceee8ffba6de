#include "compiler/Pipeline.hpp"

#include "compiler/Print.hpp"
#include "compiler/Verify.hpp"
#include "compiler/passes/ChooseKernels.hpp"
#include "compiler/passes/EliminateDeadCode.hpp"
#include "compiler/passes/ForwardCopies.hpp"
#include "compiler/passes/FuseElementwise.hpp"
#include "compiler/passes/FuseEpilogues.hpp"
#include "compiler/passes/ResolveHazards.hpp"
#include "compiler/passes/StoreTransposed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace poplar::compiler {
namespace {

struct Pass {
  const char *name;
  void (*run)(ValueProgram &);
  bool isRequired = false;
};

constexpr Pass passes[] = {
    {"eliminateDeadCode", eliminateDeadCode},
    {"forwardCopies", forwardCopies},
    {"eliminateDeadCode", eliminateDeadCode},
    {"forwardResults", forwardResults},
    {"fuseEpilogues", fuseEpilogues},
    {"fuseElementwise", fuseElementwise},
    {"eliminateDeadCode", eliminateDeadCode},
    {"storeTransposed", storeTransposed},
    {"resolveHazards", resolveHazards, true},
    {"chooseKernels", chooseKernels, true},
};

bool isSet(const char *variable) {
  const char *text = std::getenv(variable);
  return text != nullptr && *text != '\0' && std::string_view(text) != "0";
}

void runPass(const Pass &pass, ValueProgram &program,
             const PipelineOptions &options) {
  const auto &disabled = options.disabled;
  if (!pass.isRequired && std::find(disabled.begin(), disabled.end(),
                                    pass.name) != disabled.end()) {
    return;
  }
  const std::string before = options.isDumped ? toString(program) : "";
  const auto start = std::chrono::steady_clock::now();
  pass.run(program);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  if (options.isVerified) {
    verify(program, pass.name);
  }
  if (options.isDumped) {
    const std::string after = toString(program);
    fmt::print(stderr, "---- {}: {:.3f} ms{}\n{}", pass.name,
               std::chrono::duration<double, std::milli>(elapsed).count(),
               after == before ? ", nothing changed" : "",
               after == before ? "" : after);
  }
}

} // namespace

PipelineOptions PipelineOptions::fromEnvironment() {
  PipelineOptions options;
  options.isVerified = isSet("ASPEN_VERIFY_VALUE_IR");
  options.isDumped = isSet("ASPEN_DUMP_VALUE_IR");
  if (const char *names = std::getenv("ASPEN_DISABLE_PASSES")) {
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) {
      options.disabled.push_back(name);
    }
  }
  return options;
}

void runPasses(ValueProgram &program, const PipelineOptions &options) {
  if (options.isVerified) {
    verify(program, "lift");
  }
  if (options.isDumped) {
    fmt::print(stderr, "---- lift\n{}", toString(program));
  }
  for (const Pass &pass : passes) {
    runPass(pass, program, options);
  }
}

std::vector<std::string> passNames() {
  std::vector<std::string> names;
  for (const Pass &pass : passes) {
    names.emplace_back(pass.name);
  }
  return names;
}

} // namespace poplar::compiler
