// Stochastic gradient descent with momentum, dampening and weight decay.
#pragma once

#include <popart/optimizer.hpp>

namespace popart {

enum class SGDAccumulatorAndMomentum { Combined = 0, Separate };

class SGD : public Optimizer {
public:
  // Keys and defaults, all constant: defaultLearningRate 0.1,
  // defaultWeightDecay 0, defaultMomentum 0, defaultDampening 0,
  // defaultVelocityScaling 1, lossScaling 1, nesterov 0.
  explicit SGD(const Values &values,
               std::vector<ClipNormSettings> clipNormSettings = {},
               SGDAccumulatorAndMomentum accumulatorAndMomentum =
                   SGDAccumulatorAndMomentum::Combined,
               DataType accumType = DataType::UNDEFINED,
               DataType accl1Type = DataType::UNDEFINED);

  OptimizerType type() const override { return OptimizerType::SGD; }
  std::string type_s() const override { return "SGD"; }
  std::unique_ptr<Optimizer> clone() const override;

  const OptimizerValueMap &learningRates() const;
  const OptimizerValueMap &weightDecays() const;
  const OptimizerValueMap &momentums() const;
  const OptimizerValueMap &dampenings() const;
  const OptimizerValueMap &velocityScalings() const;
  const OptimizerValueMap &nesterovs() const; // 0 or 1
  SGDAccumulatorAndMomentum getSGDAccumulatorAndMomentum() const {
    return accumulatorAndMomentum_;
  }
  DataType accumType() const { return accumType_; }
  DataType accl1Type() const { return accl1Type_; }

protected:
  std::string modes() const override;
  void check(const TensorId &weight) const override;

private:
  SGDAccumulatorAndMomentum accumulatorAndMomentum_;
  DataType accumType_;
  DataType accl1Type_;
};

// SGD whose values are all compiled in.
class ConstSGD : public SGD {
public:
  explicit ConstSGD(float learningRate, float weightDecay = 0,
                    float lossScaling = 1,
                    std::vector<ClipNormSettings> clipNormSettings = {});
  std::unique_ptr<Optimizer> clone() const override;
};

} // namespace popart
