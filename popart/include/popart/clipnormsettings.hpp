// Which weights' gradients are limited together, and to what norm.
#pragma once

#include <popart/names.hpp>

#include <utility>
#include <vector>

namespace popart {

class ClipNormSettings {
public:
  enum class Mode { ClipSpecifiedWeights, ClipAllWeights };

  // The same as clipWeights.
  ClipNormSettings(std::vector<TensorId> weightIds, float maxNorm)
      : ClipNormSettings(std::move(weightIds), maxNorm,
                         Mode::ClipSpecifiedWeights) {}

  static ClipNormSettings clipWeights(std::vector<TensorId> weightIds,
                                      float maxNorm) {
    return ClipNormSettings(std::move(weightIds), maxNorm,
                            Mode::ClipSpecifiedWeights);
  }
  static ClipNormSettings clipAllWeights(float maxNorm) {
    return ClipNormSettings({}, maxNorm, Mode::ClipAllWeights);
  }

  const std::vector<TensorId> &getWeightIds() const { return weightIds_; }
  float getMaxNorm() const { return maxNorm_; }
  Mode getMode() const { return mode_; }

  friend bool operator==(const ClipNormSettings &a, const ClipNormSettings &b) {
    return a.weightIds_ == b.weightIds_ && a.maxNorm_ == b.maxNorm_ &&
           a.mode_ == b.mode_;
  }

private:
  ClipNormSettings(std::vector<TensorId> weightIds, float maxNorm, Mode mode)
      : weightIds_(std::move(weightIds)), maxNorm_(maxNorm), mode_(mode) {}

  std::vector<TensorId> weightIds_;
  float maxNorm_;
  Mode mode_;
};

} // namespace popart
