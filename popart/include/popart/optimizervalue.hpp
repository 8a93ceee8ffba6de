// A hyper-parameter: its value, and whether the host may change it later.
#pragma once

#include <popart/names.hpp>

#include <map>
#include <utility>

namespace popart {

class OptimizerValue {
public:
  OptimizerValue() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a plain number is a constant
  OptimizerValue(float value, bool isConst = true)
      : value_(value), isConst_(isConst) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as the documentation spells it
  OptimizerValue(std::pair<float, bool> value)
      : value_(value.first), isConst_(value.second) {}

  float val() const { return value_; }
  bool isConst() const { return isConst_; }

  friend bool operator==(const OptimizerValue &a, const OptimizerValue &b) {
    return a.value_ == b.value_ && a.isConst_ == b.isConst_;
  }
  friend bool operator!=(const OptimizerValue &a, const OptimizerValue &b) {
    return !(a == b);
  }

private:
  float value_ = 0;
  bool isConst_ = false;
};

// A default, and the values of the weights that have their own.
class OptimizerValueMap {
public:
  explicit OptimizerValueMap(OptimizerValue defaultValue)
      : default_(defaultValue) {}

  OptimizerValue getDefault() const { return default_; }
  OptimizerValue get(const TensorId &weight) const {
    auto found = specific_.find(weight);
    return found == specific_.end() ? default_ : found->second;
  }
  bool hasSpecific() const { return !specific_.empty(); }
  bool hasSpecific(const TensorId &weight) const {
    return specific_.count(weight) > 0;
  }
  void setDefault(OptimizerValue value) { default_ = value; }
  void insertSpecific(const TensorId &weight, OptimizerValue value) {
    specific_[weight] = value;
  }
  const std::map<TensorId, OptimizerValue> &getSpecific() const {
    return specific_;
  }

private:
  OptimizerValue default_;
  std::map<TensorId, OptimizerValue> specific_;
};

} // namespace popart
