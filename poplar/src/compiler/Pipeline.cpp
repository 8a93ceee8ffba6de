#include "compiler/Pipeline.hpp"

#include "compiler/Print.hpp"
#include "compiler/Verify.hpp"
#include "compiler/passes/AssembleSums.hpp"
#include "compiler/passes/ChooseKernels.hpp"
#include "compiler/passes/EliminateDeadCode.hpp"
#include "compiler/passes/FoldChannelFactors.hpp"
#include "compiler/passes/ForwardCopies.hpp"
#include "compiler/passes/FuseAttention.hpp"
#include "compiler/passes/FuseElementwise.hpp"
#include "compiler/passes/FuseEpilogues.hpp"
#include "compiler/passes/FusePoolActivations.hpp"
#include "compiler/passes/ReadDropped.hpp"
#include "compiler/passes/ResolveHazards.hpp"
#include "compiler/passes/SplitGroups.hpp"
#include "compiler/passes/StoreTransposed.hpp"

#include <fmt/ostream.h>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace poplar::compiler {
namespace {

constexpr support::Logger logger(support::LogChannel::Poplar, "ENGINE");

struct Pass {
  const char *name;
  void (*run)(ValueProgram &);
  bool isRequired = false;
};

constexpr Pass passes[] = {
    {"eliminateDeadCode", eliminateDeadCode},
    {"assembleSums", assembleSums},
    {"forwardCopies", forwardCopies},
    {"eliminateDeadCode", eliminateDeadCode},
    {"splitGroups", splitGroups},
    {"forwardCopies", forwardCopies},
    {"eliminateDeadCode", eliminateDeadCode},
    {"forwardResults", forwardResults},
    {"readDropped", readDropped},
    {"fuseAttention", fuseAttention},
    {"fuseEpilogues", fuseEpilogues},
    {"foldChannelFactors", foldChannelFactors},
    {"fuseEpilogues", fuseEpilogues},
    {"fusePoolActivations", fusePoolActivations},
    {"fuseElementwise", fuseElementwise},
    {"storeTransposed", storeTransposed},
    {"forwardCopies", forwardCopies},
    {"eliminateDeadCode", eliminateDeadCode},
    {"resolveHazards", resolveHazards, true},
    {"chooseKernels", chooseKernels, true},
};

bool isDisabled(const Pass &pass, const PipelineOptions &options) {
  const auto &names = options.disabled;
  return !pass.isRequired &&
         std::find(names.begin(), names.end(), pass.name) != names.end();
}

// Writes `<name>-<step>-<pass>.txt`: what the pass made, and how long it took.
void dump(const ValueProgram &program, const PipelineOptions &options,
          std::size_t step, const char *pass, double milliseconds) {
  if (options.dumpFolder.empty()) {
    return;
  }
  std::filesystem::create_directories(options.dumpFolder);
  const std::filesystem::path path =
      std::filesystem::path(options.dumpFolder) /
      fmt::format("{}-{:02}-{}.txt", options.dumpName, step, pass);
  std::ofstream file(path);
  fmt::print(file, "# after {}, which took {:.3f} ms\n{}", pass, milliseconds,
             toString(program));
  support::requireUser<poplar_error>(
      file.good(), "ASPEN_DUMP_VALUE_IR: cannot write '{}'", path.string());
}

} // namespace

PipelineOptions PipelineOptions::fromEnvironment() {
  PipelineOptions options;
  if (const char *folder = std::getenv("ASPEN_DUMP_VALUE_IR")) {
    options.dumpFolder = folder;
  }
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
  std::size_t step = 0;
  dump(program, options, step++, "lift", 0);
  for (const Pass &pass : passes) {
    if (isDisabled(pass, options)) {
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    pass.run(program);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    logger.debug("{}: {:.2f} ms", pass.name, elapsed.count());
    if (options.isVerified) {
      verify(program, pass.name);
    }
    dump(program, options, step++, pass.name, elapsed.count());
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
