#include "OptimizerDescription.hpp"

#include "Error.hpp"

#include <popart/adam.hpp>
#include <popart/adaptive.hpp>
#include <popart/sgd.hpp>

namespace poptorch {
namespace {

popart::DataType dataType(const std::string &name) {
  return popart::TensorInfo(name, {}).dataType();
}

std::shared_ptr<popart::Optimizer>
makeBare(const OptimizerDescription &description) {
  using namespace popart;
  auto accum = dataType(description.accumType);
  auto first = dataType(description.velocityType);
  auto second = dataType(description.secondOrderType);
  std::vector<ClipNormSettings> clipping;
  if (description.maxGradientNorm) {
    clipping.push_back(
        ClipNormSettings::clipAllWeights(*description.maxGradientNorm));
  }
  const std::string &type = description.type;
  if (type == "SGD") {
    auto variant = description.useCombinedAccumulator
                       ? SGDAccumulatorAndMomentum::Combined
                       : SGDAccumulatorAndMomentum::Separate;
    Optimizer::Values defaults = description.defaults;
    defaults["dampsLater"] = {1.0f, true};
    return std::make_shared<SGD>(defaults, clipping, variant, accum, first);
  }
  if (type == "RMSprop" || type == "RMSpropCentered") {
    auto mode = type == "RMSprop" ? AdaptiveMode::RMSProp
                                  : AdaptiveMode::CenteredRMSProp;
    return std::make_shared<Adaptive>(
        description.defaults, mode, WeightDecayMode::L2Regularization, accum,
        first, second, DataType::UNDEFINED, description.useTfVariant);
  }
  const std::map<std::string, AdamMode> modes = {
      {"Adam", AdamMode::Adam},
      {"AdamW", AdamMode::Adam},
      {"LAMB", AdamMode::Lamb},
      {"LAMBNoBias", AdamMode::LambNoBias}};
  auto mode = modes.find(type);
  if (mode == modes.end()) {
    throw Error("Unsupported optimizer type " + type);
  }
  auto decay = type == "Adam" ? WeightDecayMode::L2Regularization
                              : WeightDecayMode::Decay;
  return std::make_shared<Adam>(description.defaults, mode->second, decay,
                                accum, first, second, clipping);
}

} // namespace

std::shared_ptr<popart::Optimizer>
makeOptimizer(const OptimizerDescription &description) {
  auto optimizer = makeBare(description);
  for (const auto &group : description.groups) {
    for (const std::string &parameter : group.parameters) {
      optimizer->insertSpecific(parameter, group.values);
    }
  }
  return optimizer;
}

} // namespace poptorch
