// An operator's own attributes over the session's options.
#include <ops/PlanOptions.hpp>

#include <lowering/LoweringContext.hpp>
#include <popart/error.hpp>
#include <popart/sessionoptions.hpp>
#include <support/Error.hpp>
#include <support/Text.hpp>

#include <fmt/format.h>

#include <map>
#include <string>

namespace popart {
namespace {

constexpr const char *memory = "__available_memory";
constexpr const char *partials = "__partials_type";
constexpr const char *dithering = "__enable_conv_dithering";

void setAll(poplar::OptionFlags &flags,
            const std::map<std::string, std::string> &options) {
  for (const auto &[name, value] : options) {
    flags.set(name, value);
  }
}

void setOwn(poplar::OptionFlags &flags, const Attributes &own) {
  if (own.hasAttribute(memory)) {
    flags.set("availableMemoryProportion",
              fmt::format("{}", own.getAttribute<Attributes::Float>(memory)));
  }
  if (own.hasAttribute(partials)) {
    flags.set(
        "partialsType",
        support::lowerCase(own.getAttribute<Attributes::String>(partials)));
  }
}

} // namespace

poplar::OptionFlags convOptions(const LoweringContext &context,
                                const Attributes &own) {
  poplar::OptionFlags flags;
  setAll(flags, context.options().convolutionOptions);
  setOwn(flags, own);
  if (own.hasAttribute(dithering)) {
    flags.set("enableConvDithering",
              own.getInt(dithering, 0) != 0 ? "true" : "false");
  }
  return flags;
}

poplar::OptionFlags matMulOptions(const LoweringContext &context,
                                  const Attributes &own) {
  poplar::OptionFlags flags;
  if (!context.options().partialsTypeMatMuls.empty()) {
    flags.set("partialsType", context.options().partialsTypeMatMuls);
  }
  setAll(flags, context.options().matmulOptions);
  setOwn(flags, own);
  return flags;
}

poplar::OptionFlags lstmOptions(const LoweringContext &context,
                                const Attributes &own) {
  poplar::OptionFlags flags;
  setAll(flags, context.options().lstmOptions);
  setOwn(flags, own);
  return flags;
}

Attributes withPlanOf(const Attributes &forward, Attributes attributes) {
  if (forward.hasAttribute(memory)) {
    attributes.set(memory, forward.getAttribute<Attributes::Float>(memory));
  }
  if (forward.hasAttribute(partials)) {
    attributes.set(partials,
                   forward.getAttribute<Attributes::String>(partials));
  }
  if (forward.hasAttribute(dithering)) {
    attributes.set(dithering, forward.getAttribute<Attributes::Int>(dithering));
  }
  return attributes;
}

void checkPlan(const Attributes &attributes) {
  if (attributes.hasAttribute(memory)) {
    auto proportion = attributes.getAttribute<Attributes::Float>(memory);
    support::requireUser<error>(0 < proportion && proportion <= 1,
                                "attribute {} must be in (0,1], but it is {}",
                                memory, proportion);
  }
  if (attributes.hasAttribute(partials)) {
    auto type = attributes.getAttribute<Attributes::String>(partials);
    std::string lower = support::lowerCase(type);
    support::requireUser<error>(
        lower == "float" || lower == "half",
        "attribute {} must be 'float' or 'half', but it is '{}'", partials,
        type);
  }
}

} // namespace popart
