// What all optimisers have in common: named hyper-parameters, each with a
// default and values for single weights, and a loss scaling.
#pragma once

#include <popart/clipnormsettings.hpp>
#include <popart/optimizervalue.hpp>
#include <popart/tensorinfo.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace popart {

enum class OptimizerType { SGD = 0, Adam, Adaptive };
enum class WeightDecayMode { Decay, L2Regularization };

class Optimizer {
public:
  using Values = std::map<std::string, std::pair<float, bool>>;

  // One row of an optimiser's table of hyper-parameters.
  struct Hyperparameter {
    std::string key;    // "learningRate"; its default is "defaultLearningRate"
    std::string scalar; // prefix of the device scalar, e.g. "adamBeta1"
    OptimizerValueMap values;
    std::string defaultKey = {}; // where it is not "default" and the key
  };

  virtual ~Optimizer() = default;
  virtual OptimizerType type() const = 0;
  virtual std::string type_s() const = 0;
  virtual std::unique_ptr<Optimizer> clone() const = 0;

  // Gives one weight its own values; absent keys take the defaults.
  void insertSpecific(const TensorId &weight, const Values &values);
  bool hasSpecific(const TensorId &weight) const;
  bool hasSpecific() const;

  const OptimizerValue &lossScaling() const { return lossScaling_; }
  float getLossScalingVal() const { return lossScaling_.val(); }

  const std::vector<Hyperparameter> &hyperparameters() const {
    return hyperparameters_;
  }
  const OptimizerValueMap &hyperparameter(const std::string &key) const;
  const std::vector<ClipNormSettings> &clipNormSettings() const {
    return clipNormSettings_;
  }

  // Throws popart::error when `other` cannot take this one's place in a
  // compiled session; the message says why.
  void validReplacement(const Optimizer &other) const;

protected:
  // `table` holds the defaults; `values` overrides them by "default..." key.
  // "lossScaling" is taken too.
  Optimizer(std::string name, std::vector<Hyperparameter> table,
            const Values &values, std::vector<ClipNormSettings> clipping);

  // Modes and types that a replacement must share, as text for the message.
  virtual std::string modes() const { return {}; }
  // Called for the defaults and for each specific weight.
  virtual void check(const TensorId &weight) const;

  void requireNonNegative(const std::string &key, const TensorId &weight) const;
  const std::string &name() const { return name_; }

private:
  std::string name_; // "SGD", for messages
  std::vector<Hyperparameter> hyperparameters_;
  OptimizerValue lossScaling_{1.0f, true};
  std::vector<ClipNormSettings> clipNormSettings_;
};

} // namespace popart
