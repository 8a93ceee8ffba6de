// SGD's hyper-parameters and their limits.
#include <popart/sgd.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <utility>

namespace popart {
namespace {

std::vector<Optimizer::Hyperparameter> sgdTable() {
  return {
      {"learningRate", "learningRate", OptimizerValueMap(OptimizerValue(0.1f))},
      {"weightDecay", "weightDecay", OptimizerValueMap(OptimizerValue(0.0f))},
      {"momentum", "sgdMomentum", OptimizerValueMap(OptimizerValue(0.0f))},
      {"dampening", "sgdDampening", OptimizerValueMap(OptimizerValue(0.0f))},
      {"velocityScaling", "sgdVelocityScaling",
       OptimizerValueMap(OptimizerValue(1.0f))},
      {"nesterov", "sgdNesterov", OptimizerValueMap(OptimizerValue(0.0f)),
       "nesterov"},
      // Not PopART's but PyTorch's rule, for PopTorch: 1 where dampening has no
      // part in the first step, nor in any without momentum.
      {"dampsLater", "sgdDampsLater", OptimizerValueMap(OptimizerValue(0.0f)),
       "dampsLater"}};
}

} // namespace

SGD::SGD(const Values &values, std::vector<ClipNormSettings> clipNormSettings,
         SGDAccumulatorAndMomentum accumulatorAndMomentum, DataType accumType,
         DataType accl1Type)
    : Optimizer("SGD", sgdTable(), values, std::move(clipNormSettings)),
      accumulatorAndMomentum_(accumulatorAndMomentum), accumType_(accumType),
      accl1Type_(accl1Type) {
  SGD::check("");
}

void SGD::check(const TensorId &weight) const {
  for (const char *key :
       {"learningRate", "weightDecay", "momentum", "dampening"}) {
    requireNonNegative(key, weight);
  }
  OptimizerValue rate = learningRates().get(weight);
  support::requireUser<error>(!rate.isConst() || rate.val() != 0,
                              "Constant, zero learning rate in SGD, bailing "
                              "as this might be a user error.");
  float scaling = velocityScalings().get(weight).val();
  support::requireUser<error>(
      scaling > 0, "Non-positive velocity scaling ({}) in SGD is not supported",
      scaling);
  support::requireUser<error>(
      nesterovs().get(weight).val() == 0 || dampenings().get(weight).val() == 0,
      "Nesterov momentum in SGD needs a dampening of 0, not {}",
      dampenings().get(weight).val());
}

std::string SGD::modes() const {
  std::string text = fmt::format(
      "nesterov {}, damps later {}, accumulator and momentum {}, types {} {}",
      nesterovs().getDefault().val(),
      hyperparameter("dampsLater").getDefault().val(),
      static_cast<int>(accumulatorAndMomentum_), static_cast<int>(accumType_),
      static_cast<int>(accl1Type_));
  for (const auto &[weight, value] : nesterovs().getSpecific()) {
    text += fmt::format(", nesterov of {} {}", weight, value.val());
  }
  return text;
}

std::unique_ptr<Optimizer> SGD::clone() const {
  return std::make_unique<SGD>(*this);
}

const OptimizerValueMap &SGD::learningRates() const {
  return hyperparameter("learningRate");
}
const OptimizerValueMap &SGD::weightDecays() const {
  return hyperparameter("weightDecay");
}
const OptimizerValueMap &SGD::momentums() const {
  return hyperparameter("momentum");
}
const OptimizerValueMap &SGD::dampenings() const {
  return hyperparameter("dampening");
}
const OptimizerValueMap &SGD::velocityScalings() const {
  return hyperparameter("velocityScaling");
}
const OptimizerValueMap &SGD::nesterovs() const {
  return hyperparameter("nesterov");
}

ConstSGD::ConstSGD(float learningRate, float weightDecay, float lossScaling,
                   std::vector<ClipNormSettings> clipNormSettings)
    : SGD({{"defaultLearningRate", {learningRate, true}},
           {"defaultWeightDecay", {weightDecay, true}},
           {"lossScaling", {lossScaling, true}}},
          std::move(clipNormSettings)) {}

std::unique_ptr<Optimizer> ConstSGD::clone() const {
  return std::make_unique<ConstSGD>(*this);
}

} // namespace popart
