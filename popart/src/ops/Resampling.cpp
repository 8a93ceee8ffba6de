// Coordinates and weights of resized grids.
#include <ops/Resampling.hpp>

#include <ops/Common.hpp>

#include <algorithm>
#include <cmath>

namespace popart {
namespace {

// Where place i lies in the original grid.
double coordinateOf(const Resampling &resampling, std::int64_t i,
                    std::int64_t size, std::int64_t places, double scale) {
  auto x = static_cast<double>(i);
  if (resampling.coordinates == "asymmetric") {
    return x / scale;
  }
  if (resampling.coordinates == "align_corners") {
    // ONNX takes the size that was meant, with its fraction.
    double length = scale * static_cast<double>(size);
    return places == 1 ? 0 : x * static_cast<double>(size - 1) / (length - 1);
  }
  if (resampling.coordinates == "tf_half_pixel_for_nn") {
    return (x + 0.5) / scale;
  }
  if (resampling.coordinates == "pytorch_half_pixel" &&
      static_cast<double>(size) * scale <= 1) {
    return 0;
  }
  return (x + 0.5) / scale - 0.5;
}

// `x` is the coordinate of place i.
double nearest(const std::string &rounding, double x, double i, double scale) {
  if (rounding == "pytorch") {
    return std::floor(i / scale); // wherever the coordinates are
  }
  if (rounding == "floor") {
    return std::floor(x);
  }
  if (rounding == "ceil") {
    return std::ceil(x);
  }
  return rounding == "round_prefer_ceil" ? std::floor(x + 0.5)
                                         : std::ceil(x - 0.5);
}

// The weight of an element at this distance.
double weightAt(const Resampling &resampling, double distance) {
  distance = std::abs(distance);
  if (resampling.mode == "linear") {
    return std::max(0.0, 1 - distance);
  }
  double a = resampling.cubicCoefficient;
  if (distance <= 1) {
    return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  }
  return distance < 2
             ? ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
             : 0;
}

std::string choiceOf(const Op &op, const std::string &name,
                     const std::string &fallback,
                     const std::vector<std::string> &choices) {
  std::string value = op.attributes.getString(name, fallback);
  requireOp(op,
            std::find(choices.begin(), choices.end(), value) != choices.end(),
            "{} {} is not supported; it is one of {}", name, value,
            fmt::join(choices, ", "));
  return value;
}

// `x` is the coordinate of place i.
void addPlace(std::vector<Tap> &taps, const Resampling &resampling, double x,
              std::int64_t i, std::int64_t size, double scale) {
  auto inside = [&](double index) {
    return static_cast<std::int64_t>(
        std::clamp(index, 0.0, static_cast<double>(size - 1)));
  };
  if (resampling.mode == "nearest") {
    taps[0].indices.push_back(
        inside(nearest(resampling.rounding, x, static_cast<double>(i), scale)));
    taps[0].weights.push_back(1);
    return;
  }
  double first = std::floor(x) - static_cast<double>(taps.size()) / 2 + 1;
  std::vector<double> weights;
  double total = 0;
  for (std::size_t t = 0; t < taps.size(); ++t) {
    double index = first + static_cast<double>(t);
    bool isOutside = index < 0 || index >= static_cast<double>(size);
    weights.push_back(isOutside && resampling.isOutsideExcluded
                          ? 0
                          : weightAt(resampling, x - index));
    total += weights.back();
  }
  for (std::size_t t = 0; t < taps.size(); ++t) {
    taps[t].indices.push_back(inside(first + static_cast<double>(t)));
    taps[t].weights.push_back(static_cast<float>(weights[t] / total));
  }
}

} // namespace

Resampling resamplingOf(const Op &op) {
  // ONNX's Upsample and Resize-10 have one way to place and to round. PopART
  // has all of Resize-11's for Resize-10, too, with defaults of its own.
  bool isUpsample = meaningOf(op) == "Upsample";
  bool isOld = isUpsample || op.opid.version < 11;
  Resampling result;
  result.mode = choiceOf(op, "mode", "nearest", {"nearest", "linear", "cubic"});
  result.coordinates =
      choiceOf(op, "coordinate_transformation_mode",
               isUpsample ? "asymmetric" : "half_pixel",
               {"half_pixel", "pytorch_half_pixel", "asymmetric",
                "align_corners", "tf_half_pixel_for_nn"});
  result.rounding = choiceOf(
      op, "nearest_mode", isOld ? "pytorch" : "round_prefer_floor",
      {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "pytorch"});
  result.cubicCoefficient =
      double{op.attributes.getFloat("cubic_coeff_a", -0.75f)};
  result.isOutsideExcluded = op.attributes.getInt("exclude_outside", 0) != 0;
  return result;
}

std::vector<Tap> tapsOf(const Resampling &resampling, std::int64_t size,
                        std::int64_t places, double scale) {
  std::vector<Tap> taps(resampling.mode == "nearest"  ? 1
                        : resampling.mode == "linear" ? 2
                                                      : 4);
  for (std::int64_t i = 0; i < places; ++i) {
    addPlace(taps, resampling, coordinateOf(resampling, i, size, places, scale),
             i, size, scale);
  }
  return taps;
}

} // namespace popart
