#include "engine/FloatTraps.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <cfenv>

namespace poplar::engine {
namespace {

bool isTrue(const OptionFlags &options, const char *name) {
  const auto found = options.find(name);
  return found != options.end() && found->second == "true";
}

} // namespace

FloatTraps::FloatTraps(const OptionFlags &options) {
  if (isTrue(options, "debug.floatPointOpException")) {
    watched_ |= FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  }
  if (isTrue(options, "debug.nanOverflowException")) {
    watched_ |= FE_OVERFLOW;
  }
}

void FloatTraps::begin() const {
  std::feclearexcept(watched_);
}

void FloatTraps::end(const std::string &name) const {
  const int raised = std::fetestexcept(watched_);
  support::requireUser<application_runtime_error>(
      raised == 0, "Floating point exception in '{}': {}", name,
      (raised & FE_DIVBYZERO) != 0  ? "division by zero"
      : (raised & FE_OVERFLOW) != 0 ? "overflow"
                                    : "invalid operation");
}

} // namespace poplar::engine
