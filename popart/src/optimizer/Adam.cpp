// Adam's hyper-parameters and their limits.
#include <popart/adam.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <utility>

namespace popart {
namespace {

std::vector<Optimizer::Hyperparameter> adamTable() {
  return {
      {"learningRate", "learningRate", OptimizerValueMap(OptimizerValue(0.1f))},
      {"weightDecay", "weightDecay", OptimizerValueMap(OptimizerValue(0.0f))},
      {"beta1", "adamBeta1", OptimizerValueMap(OptimizerValue(0.9f))},
      {"beta2", "adamBeta2", OptimizerValueMap(OptimizerValue(0.999f))},
      {"eps", "adamEps", OptimizerValueMap(OptimizerValue(1e-6f))},
      {"maxWeightNorm", "maxWeightNorm",
       OptimizerValueMap(OptimizerValue(10.0f))}};
}

// Programs know the largest norm by its older name, too.
Optimizer::Values withNewKeys(Optimizer::Values values) {
  auto old = values.find("maxWeightNorm");
  if (old != values.end()) {
    values["defaultMaxWeightNorm"] = old->second;
    values.erase(old);
  }
  return values;
}

} // namespace

Adam::Adam(const Values &values, AdamMode mode, WeightDecayMode weightDecayMode,
           DataType accumType, DataType accl1Type, DataType accl2Type,
           std::vector<ClipNormSettings> clipNormSettings,
           bool scaledOptimizerState)
    : Optimizer("Adam", adamTable(), withNewKeys(values),
                std::move(clipNormSettings)),
      mode_(mode), weightDecayMode_(weightDecayMode), accumType_(accumType),
      accl1Type_(accl1Type), accl2Type_(accl2Type),
      scaledOptimizerState_(scaledOptimizerState) {
  Adam::check("");
}

void Adam::check(const TensorId &weight) const {
  for (const char *key :
       {"learningRate", "weightDecay", "eps", "maxWeightNorm"}) {
    requireNonNegative(key, weight);
  }
  for (const char *key : {"beta1", "beta2"}) {
    float value = hyperparameter(key).get(weight).val();
    support::requireUser<error>(0 <= value && value < 1,
                                "{} ({}) in Adam must be in [0, 1)", key,
                                value);
  }
}

std::string Adam::modes() const {
  return fmt::format("mode {}, weight decay {}, scaled {}, types {} {} {}",
                     static_cast<int>(mode_),
                     static_cast<int>(weightDecayMode_), scaledOptimizerState_,
                     static_cast<int>(accumType_), static_cast<int>(accl1Type_),
                     static_cast<int>(accl2Type_));
}

std::unique_ptr<Optimizer> Adam::clone() const {
  return std::make_unique<Adam>(*this);
}

const OptimizerValueMap &Adam::learningRates() const {
  return hyperparameter("learningRate");
}
const OptimizerValueMap &Adam::weightDecays() const {
  return hyperparameter("weightDecay");
}
const OptimizerValueMap &Adam::beta1s() const {
  return hyperparameter("beta1");
}
const OptimizerValueMap &Adam::beta2s() const {
  return hyperparameter("beta2");
}
const OptimizerValueMap &Adam::epss() const {
  return hyperparameter("eps");
}
const OptimizerValueMap &Adam::maxWeightNorms() const {
  return hyperparameter("maxWeightNorm");
}

} // namespace popart
