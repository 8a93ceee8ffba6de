// RMSProp and the other optimisers that scale by running squared gradients.
#pragma once

#include <popart/optimizer.hpp>

namespace popart {

enum class AdaptiveMode { AdaGrad = 0, RMSProp, CenteredRMSProp, AdaDelta };

class Adaptive : public Optimizer {
public:
  // Keys and defaults, all constant: defaultLearningRate 0.01,
  // defaultWeightDecay 0, defaultAlpha 0.99, defaultMomentum 0, defaultEps
  // 1e-6, lossScaling 1.
  explicit Adaptive(const Values &values,
                    AdaptiveMode mode = AdaptiveMode::RMSProp,
                    WeightDecayMode weightDecayMode = WeightDecayMode::Decay,
                    DataType accumType = DataType::UNDEFINED,
                    DataType accl1Type = DataType::FLOAT,
                    DataType accl2Type = DataType::FLOAT,
                    DataType accl3Type = DataType::UNDEFINED,
                    bool rmspropTFVariant = false);

  OptimizerType type() const override { return OptimizerType::Adaptive; }
  std::string type_s() const override { return "Adaptive"; }
  std::unique_ptr<Optimizer> clone() const override;

  const OptimizerValueMap &learningRates() const;
  const OptimizerValueMap &weightDecays() const;
  const OptimizerValueMap &alphas() const;
  const OptimizerValueMap &momentums() const;
  const OptimizerValueMap &epss() const;
  AdaptiveMode mode() const { return mode_; }
  WeightDecayMode weightDecayMode() const { return weightDecayMode_; }
  bool rmspropTFVariant() const { return rmspropTFVariant_; }
  DataType accumType() const { return accumType_; }
  DataType accl1Type() const { return accl1Type_; }
  DataType accl2Type() const { return accl2Type_; }
  DataType accl3Type() const { return accl3Type_; }

protected:
  std::string modes() const override;
  void check(const TensorId &weight) const override;

private:
  AdaptiveMode mode_;
  WeightDecayMode weightDecayMode_;
  DataType accumType_;
  DataType accl1Type_;
  DataType accl2Type_;
  DataType accl3Type_;
  bool rmspropTFVariant_;
};

} // namespace popart
