// The documented names of patterns and their defaults.
#include <popart/patterns/patterns.hpp>

#include <popart/error.hpp>
#include <popart/patterns/patterncreator.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

enum class Use { Mandatory, On, Off };

constexpr const char *mandatory[] = {"AllReduceToIdentity",
                                     "AbsGradOp",
                                     "Atan2Arg0GradOp",
                                     "Atan2Arg1GradOp",
                                     "ConvDataGrad",
                                     "ConvFlipWeightsGradOp",
                                     "ConvTranspose",
                                     "CosGradOp",
                                     "CoshOp",
                                     "DivArg0GradOp",
                                     "DivArg1GradOp",
                                     "ExpGradOp",
                                     "Expm1GradOp",
                                     "FmodArg0GradOp",
                                     "LogGradOp",
                                     "Log1pGradOp",
                                     "LoopScanOut",
                                     "MatMulOp",
                                     "MatMulLhsGradOp",
                                     "MatMulRhsGradOp",
                                     "MulArgGradOp",
                                     "PowArg0GradOp",
                                     "PowArg1GradOp",
                                     "RandomNormalLikeOpPattern",
                                     "RandomUniformLikeOpPattern",
                                     "ReciprocalGradOp",
                                     "ScanToLoop",
                                     "SinGradOp",
                                     "SqrtGradOp",
                                     "SubtractArg1GradOp",
                                     "ZerosLikeOpPattern"};

constexpr const char *usual[] = {"ConvFlipWeightsDoubleFlip",
                                 "DecomposeBinaryConstScalar",
                                 "ExpandCast",
                                 "InPlace",
                                 "InitAccumulate",
                                 "LambSerialisedWeight",
                                 "NegativeOneScale",
                                 "NlllWithSoftmaxGradDirect",
                                 "OpToIdentity",
                                 "PackedDataBlock",
                                 "PadSum",
                                 "PostNRepl",
                                 "PreUniRepl",
                                 "RemoveUnnecessaryLossGradCast",
                                 "SoftmaxGradDirect",
                                 "SplitGradOpToConcat",
                                 "SplitOp",
                                 "SumToAdd",
                                 "TransposeToIdentityOrReshapePattern",
                                 "UpsampleToResize"};

constexpr const char *unusual[] = {
    "LSTMOp",     "Slice2SliceSubsample", "SplitGather",
    "TiedGather", "TiedGatherAccumulate", "UpdateInplacePrioritiesForIpu"};

std::map<std::string, Use> documentedUses() {
  std::map<std::string, Use> all;
  for (const char *name : mandatory) {
    all[name] = Use::Mandatory;
  }
  for (const char *name : usual) {
    all[name] = Use::On;
  }
  for (const char *name : unusual) {
    all[name] = Use::Off;
  }
  return all;
}

// With those that shared objects have brought so far.
std::map<std::string, Use> uses() {
  static const std::map<std::string, Use> documented = documentedUses();
  std::map<std::string, Use> all = documented;
  for (const RegisteredPattern &pattern : registeredPatterns()) {
    all[pattern.name] = pattern.isMandatory ? Use::Mandatory
                        : pattern.isEnabled ? Use::On
                                            : Use::Off;
  }
  return all;
}

Use useOf(const std::string &name) {
  auto all = uses();
  auto found = all.find(name);
  support::requireUser<error>(found != all.end(), "Unknown pattern {}{}", name,
                              name == "Inplace" ? ", did you mean InPlace?"
                                                : "");
  return found->second;
}

bool isOn(PatternsLevel level, const std::string &name, Use use) {
  switch (level) {
  case PatternsLevel::NoPatterns:
    return false;
  case PatternsLevel::Minimal:
    return use == Use::Mandatory;
  case PatternsLevel::Default:
    return use != Use::Off;
  case PatternsLevel::All:
    return name != "UpdateInplacePrioritiesForIpu";
  }
  return false;
}

} // namespace

Patterns::Patterns(PatternsLevel level) : level_(level) {}

Patterns::Patterns(const std::vector<std::string> &patterns)
    : Patterns(PatternsLevel::Minimal) {
  for (const std::string &name : patterns) {
    enablePattern(name, true);
  }
}

Patterns &Patterns::enablePattern(const std::string &name, bool enable) {
  support::requireUser<error>(enable || useOf(name) != Use::Mandatory,
                              "Pattern '{}' is mandatory and cannot be "
                              "disabled",
                              name);
  useOf(name);
  chosen_[name] = enable;
  return *this;
}

bool Patterns::isPatternEnabled(const std::string &name) const {
  Use use = useOf(name);
  auto chosen = chosen_.find(name);
  return chosen == chosen_.end() ? isOn(level_, name, use) : chosen->second;
}

void Patterns::ensureAllMandatoryPatternsAreEnabled() const {
  for (const auto &[name, use] : uses()) {
    support::requireUser<error>(!runtimeAsserts_ || use != Use::Mandatory ||
                                    isPatternEnabled(name),
                                "Pattern '{}' must be enabled", name);
  }
}

std::vector<std::string> Patterns::getAllPreAliasPatternNames() {
  std::vector<std::string> names;
  for (const auto &[name, use] : uses()) {
    names.push_back(name);
  }
  return names;
}

bool Patterns::isMandatory(const std::string &name) {
  return useOf(name) == Use::Mandatory;
}

} // namespace popart
