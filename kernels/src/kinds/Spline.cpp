// "splineBasis" and "splineWeighting": B-spline kernels over continuous
// coordinates (Fey et al., "SplineCNN", 2018).
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

std::vector<TensorType> inferBasis(const Attributes &attributes,
                                   std::span<const TensorType> inputs) {
  constexpr std::string_view kind = "splineBasis";
  requireInputCount(kind, inputs, 3);
  requireFloating(kind, "pseudo", inputs[0]);
  requireRank(kind, "pseudo", inputs[0], 2);
  const std::int64_t dimensions = inputs[0].shape[1];
  requireType(kind, "kernelSize", inputs[1], {DataType::Int});
  requireShape(kind, "kernelSize", inputs[1], {dimensions});
  requireType(kind, "isOpenSpline", inputs[2], {DataType::UnsignedChar});
  requireShape(kind, "isOpenSpline", inputs[2], {dimensions});
  const std::int64_t degree = attributes.getInt("degree");
  require(degree >= 1 && degree <= 3,
          "[splineBasis] degree {}; it must be 1, 2 or 3", degree);
  std::int64_t splines = 1;
  for (std::int64_t d = 0; d < dimensions; ++d) {
    splines *= degree + 1;
  }
  const Shape shape{inputs[0].shape[0], splines};
  return {{inputs[0].type, shape}, {DataType::Int, shape}};
}

// Piece `k` of the B-spline of a degree at v in [0, 1).
double basisOf(std::int64_t degree, std::int64_t k, double v) {
  const double u = 1 - v;
  switch (degree) {
  case 1:
    return k == 0 ? u : v;
  case 2:
    return k == 0 ? u * u / 2 : k == 1 ? -v * v + v + 0.5 : v * v / 2;
  default:
    return k == 0   ? u * u * u / 6
           : k == 1 ? (3 * v * v * v - 6 * v * v + 4) / 6
           : k == 2 ? (-3 * v * v * v + 3 * v * v + 3 * v + 1) / 6
                    : v * v * v / 6;
  }
}

// A spline of every dimension's piece; the first dimension runs fastest, in the
// pieces and in the weights.
void referenceBasis(const ReferenceCall &call) {
  const std::int64_t degree = call.signature.attributes.getInt("degree");
  const View pseudo = inputView(call, 0), sizes = inputView(call, 1);
  const View isOpen = inputView(call, 2);
  const View basis = outputView(call, 0), weightIndex = outputView(call, 1);
  forEachIndex(basis.shape(), [&](std::span<const std::int64_t> at) {
    double product = 1;
    std::int64_t weight = 0, stride = 1, pieces = at[1];
    for (std::int64_t d = 0; d < pseudo.extent(1); ++d) {
      const auto size = static_cast<std::int64_t>(sizes(d));
      const std::int64_t piece = pieces % (degree + 1);
      pieces /= degree + 1;
      // In float, because the machine's product decides which piece it is.
      const float scaled =
          static_cast<float>(pseudo(at[0], d)) *
          static_cast<float>(size - (isOpen(d) != 0 ? degree : 0));
      const float whole = std::floor(scaled);
      weight += (static_cast<std::int64_t>(whole) + piece) % size * stride;
      stride *= size;
      product *= basisOf(degree, piece, double{scaled - whole});
    }
    basis.store(at, product);
    weightIndex.store(at, static_cast<double>(weight));
  });
}

std::vector<TensorType> inferWeighting(const Attributes &,
                                       std::span<const TensorType> inputs) {
  constexpr std::string_view kind = "splineWeighting";
  requireInputCount(kind, inputs, 4);
  requireFloating(kind, "input", inputs[0]);
  requireRank(kind, "input", inputs[0], 2);
  requireType(kind, "weight", inputs[1], {inputs[0].type});
  requireRank(kind, "weight", inputs[1], 3);
  const std::int64_t edges = inputs[0].shape[0];
  requireShape(kind, "weight", inputs[1],
               {inputs[1].shape[0], inputs[0].shape[1], inputs[1].shape[2]});
  requireType(kind, "basis", inputs[2], {inputs[0].type});
  requireRank(kind, "basis", inputs[2], 2);
  requireShape(kind, "basis", inputs[2], {edges, inputs[2].shape[1]});
  requireType(kind, "weightIndex", inputs[3], {DataType::Int});
  requireShape(kind, "weightIndex", inputs[3], inputs[2].shape);
  return {{inputs[0].type, {edges, inputs[1].shape[2]}}};
}

// Weights that there are none of add nothing.
void referenceWeighting(const ReferenceCall &call) {
  const View x = inputView(call, 0), weights = inputView(call, 1);
  const View basis = inputView(call, 2), weightIndex = inputView(call, 3);
  const View y = outputView(call, 0);
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> at) {
    double sum = 0;
    for (std::int64_t s = 0; s < basis.extent(1); ++s) {
      const auto kernel = static_cast<std::int64_t>(weightIndex(at[0], s));
      if (kernel < 0 || kernel >= weights.extent(0)) {
        continue;
      }
      for (std::int64_t i = 0; i < x.extent(1); ++i) {
        sum += basis(at[0], s) * weights(kernel, i, at[1]) * x(at[0], i);
      }
    }
    y.store(at, sum);
  });
}

} // namespace

const Kind &splineBasisKind() {
  static const Kind kind{"splineBasis", inferBasis, referenceBasis,
                         splineBasisKernels()};
  return kind;
}

const Kind &splineWeightingKind() {
  static const Kind kind{"splineWeighting", inferWeighting, referenceWeighting,
                         splineWeightingKernels()};
  return kind;
}

} // namespace kernels
