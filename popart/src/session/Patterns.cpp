// The documented names of patterns and their defaults.
#include <popart/patterns/patterns.hpp>

#include <popart/error.hpp>
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

const std::map<std::string, Use> &uses() {
  static const std::map<std::string, Use> table = [] {
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
  }();
  return table;
}

Use useOf(const std::string &name) {
  auto found = uses().find(name);
  support::requireUser<error>(
      found != uses().end(), "Unknown pattern {}{}", name,
      name == "Inplace" ? ", did you mean InPlace?" : "");
  return found->second;
}

} // namespace

Patterns::Patterns(PatternsLevel level) {
  for (const auto &[name, use] : uses()) {
    switch (level) {
    case PatternsLevel::NoPatterns:
      enabled_[name] = false;
      break;
    case PatternsLevel::Minimal:
      enabled_[name] = use == Use::Mandatory;
      break;
    case PatternsLevel::Default:
      enabled_[name] = use != Use::Off;
      break;
    case PatternsLevel::All:
      enabled_[name] = name != "UpdateInplacePrioritiesForIpu";
      break;
    }
  }
}

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
  enabled_[name] = enable;
  return *this;
}

bool Patterns::isPatternEnabled(const std::string &name) const {
  useOf(name);
  return enabled_.at(name);
}

void Patterns::ensureAllMandatoryPatternsAreEnabled() const {
  for (const auto &[name, use] : uses()) {
    support::requireUser<error>(!runtimeAsserts_ || use != Use::Mandatory ||
                                    enabled_.at(name),
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
