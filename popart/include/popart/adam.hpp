// Adam and its relatives.
#pragma once

#include <popart/optimizer.hpp>

namespace popart {

enum class AdamMode { Adam = 0, AdamNoBias, AdaMax, Lamb, LambNoBias };

class Adam : public Optimizer {
public:
  // Keys and defaults, all constant: defaultLearningRate 0.1,
  // defaultWeightDecay 0, defaultBeta1 0.9, defaultBeta2 0.999, defaultEps
  // 1e-6, defaultMaxWeightNorm 10 (or maxWeightNorm), lossScaling 1.
  explicit Adam(const Values &values, AdamMode mode = AdamMode::Adam,
                WeightDecayMode weightDecayMode = WeightDecayMode::Decay,
                DataType accumType = DataType::UNDEFINED,
                DataType accl1Type = DataType::FLOAT,
                DataType accl2Type = DataType::FLOAT,
                std::vector<ClipNormSettings> clipNormSettings = {},
                bool scaledOptimizerState = false);

  OptimizerType type() const override { return OptimizerType::Adam; }
  std::string type_s() const override { return "Adam"; }
  std::unique_ptr<Optimizer> clone() const override;

  const OptimizerValueMap &learningRates() const;
  const OptimizerValueMap &weightDecays() const;
  const OptimizerValueMap &beta1s() const;
  const OptimizerValueMap &beta2s() const;
  const OptimizerValueMap &epss() const;
  const OptimizerValueMap &maxWeightNorms() const;
  AdamMode mode() const { return mode_; }
  WeightDecayMode weightDecayMode() const { return weightDecayMode_; }
  DataType accumType() const { return accumType_; }
  DataType accl1Type() const { return accl1Type_; }
  DataType accl2Type() const { return accl2Type_; }
  // The moments are kept multiplied by the loss scaling (and its square).
  bool scaledOptimizerState() const { return scaledOptimizerState_; }

protected:
  std::string modes() const override;
  void check(const TensorId &weight) const override;

private:
  AdamMode mode_;
  WeightDecayMode weightDecayMode_;
  DataType accumType_;
  DataType accl1Type_;
  DataType accl2Type_;
  bool scaledOptimizerState_;
};

} // namespace popart
