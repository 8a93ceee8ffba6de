// Naming, timing, dumping, verifying and disabling passes.
#include <transforms/Pass.hpp>

#include <ir/Print.hpp>
#include <ir/Verify.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>

namespace popart {
namespace {

bool isDisabled(const Pass &pass) {
  const char *list = std::getenv("ASPEN_DISABLE_PASSES");
  std::istringstream names(list ? list : "");
  for (std::string name; std::getline(names, name, ',');) {
    if (name == pass.name) {
      support::requireUser<error>(
          pass.isOptional, "[ASPEN_DISABLE_PASSES] pass {} cannot be left out",
          name);
      return true;
    }
  }
  return false;
}

} // namespace

void runPasses(std::span<const Pass> passes, PassContext &context) {
  constexpr support::Logger logger(support::LogChannel::Popart, "transform");
  for (const Pass &pass : passes) {
    if (isDisabled(pass)) {
      continue;
    }
    auto start = std::chrono::steady_clock::now();
    pass.run(context);
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    verifyGraph(context.graph);
    logger.debug("{}: {:.2f} ms, {} operations", pass.name, time.count(),
                 context.graph.getOps().size());
    if (logger.isEnabled(support::LogLevel::Trace)) {
      logger.trace("after {}:\n{}", pass.name, printGraph(context.graph));
    }
  }
}

} // namespace popart
