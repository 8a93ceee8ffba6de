// RMSProp's hyper-parameters and their limits.
#include <popart/adaptive.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

std::vector<Optimizer::Hyperparameter> adaptiveTable() {
  return {
      {"learningRate", "learningRate",
       OptimizerValueMap(OptimizerValue(0.01f))},
      {"weightDecay", "weightDecay", OptimizerValueMap(OptimizerValue(0.0f))},
      {"alpha", "adaptiveAlpha", OptimizerValueMap(OptimizerValue(0.99f))},
      {"momentum", "adaptiveMomentum", OptimizerValueMap(OptimizerValue(0.0f))},
      {"eps", "adaptiveEps", OptimizerValueMap(OptimizerValue(1e-6f))}};
}

} // namespace

Adaptive::Adaptive(const Values &values, AdaptiveMode mode,
                   WeightDecayMode weightDecayMode, DataType accumType,
                   DataType accl1Type, DataType accl2Type, DataType accl3Type,
                   bool rmspropTFVariant)
    : Optimizer("Adaptive", adaptiveTable(), values, {}), mode_(mode),
      weightDecayMode_(weightDecayMode), accumType_(accumType),
      accl1Type_(accl1Type), accl2Type_(accl2Type), accl3Type_(accl3Type),
      rmspropTFVariant_(rmspropTFVariant) {
  Adaptive::check("");
}

void Adaptive::check(const TensorId &weight) const {
  for (const char *key :
       {"learningRate", "weightDecay", "alpha", "momentum", "eps"}) {
    requireNonNegative(key, weight);
  }
}

std::string Adaptive::modes() const {
  return fmt::format("mode {}, weight decay {}, TF variant {}, types {} {} {} "
                     "{}",
                     static_cast<int>(mode_),
                     static_cast<int>(weightDecayMode_), rmspropTFVariant_,
                     static_cast<int>(accumType_), static_cast<int>(accl1Type_),
                     static_cast<int>(accl2Type_),
                     static_cast<int>(accl3Type_));
}

std::unique_ptr<Optimizer> Adaptive::clone() const {
  return std::make_unique<Adaptive>(*this);
}

const OptimizerValueMap &Adaptive::learningRates() const {
  return hyperparameter("learningRate");
}
const OptimizerValueMap &Adaptive::weightDecays() const {
  return hyperparameter("weightDecay");
}
const OptimizerValueMap &Adaptive::alphas() const {
  return hyperparameter("alpha");
}
const OptimizerValueMap &Adaptive::momentums() const {
  return hyperparameter("momentum");
}
const OptimizerValueMap &Adaptive::epss() const {
  return hyperparameter("eps");
}

} // namespace popart
