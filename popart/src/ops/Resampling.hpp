// Where the elements of a resized grid come from, by ONNX's modes.
#pragma once

#include <popart/op.hpp>

#include <string>
#include <vector>

namespace popart {

// One element of each weighted sum: for every place of the result an index and
// a weight.
struct Tap {
  std::vector<std::int64_t> indices;
  std::vector<float> weights;
};

struct Resampling {
  std::string mode;        // nearest, linear, cubic
  std::string coordinates; // ONNX's coordinate_transformation_mode
  std::string rounding;    // ONNX's nearest_mode
  double cubicCoefficient = -0.75;
  bool isOutsideExcluded = false;
};

// From the attributes; throws popart::error for those that there are not.
Resampling resamplingOf(const Op &op);

// One, two or four taps for a dimension of `size` elements that becomes
// `places`.
std::vector<Tap> tapsOf(const Resampling &resampling, std::int64_t size,
                        std::int64_t places, double scale);

} // namespace popart
