// The parts of a normalisation, for any grouping: "normStatistics" of
// activations, "normStatisticsGrad" back through them, and "normParamGrad".
// Activations are [outer, rows, channels, size]; statistics [outer, channels].
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

Shape statisticsShape(const Shape &x) {
  return {x[0], x[2]};
}

std::vector<TensorType> inferStatistics(const Attributes &attributes,
                                        std::span<const TensorType> inputs) {
  requireInputCount("normStatistics", inputs, 1);
  requireFloating("normStatistics", "x", inputs[0]);
  requireRank("normStatistics", "x", inputs[0], 4);
  require(attributes.getFloat("epsilon") >= 0,
          "[normStatistics] epsilon is {}; it must not be negative",
          attributes.getFloat("epsilon"));
  const TensorType statistics{inputs[0].type, statisticsShape(inputs[0].shape)};
  return {statistics, statistics};
}

void requirePair(std::string_view kind, std::span<const TensorType> inputs) {
  requireFloating(kind, "dy", inputs[0]);
  requireRank(kind, "dy", inputs[0], 4);
  requireType(kind, "whitened", inputs[1], {inputs[0].type});
  requireShape(kind, "whitened", inputs[1], inputs[0].shape);
}

std::vector<TensorType> inferGrad(const Attributes &,
                                  std::span<const TensorType> inputs) {
  requireInputCount("normStatisticsGrad", inputs, 3);
  requirePair("normStatisticsGrad", inputs);
  requireType("normStatisticsGrad", "invStdDev", inputs[2], {inputs[0].type});
  requireShape("normStatisticsGrad", "invStdDev", inputs[2],
               statisticsShape(inputs[0].shape));
  return {inputs[0]};
}

std::vector<TensorType> inferParamGrad(const Attributes &,
                                       std::span<const TensorType> inputs) {
  requireInputCount("normParamGrad", inputs, 2);
  requirePair("normParamGrad", inputs);
  const TensorType sums{inputs[0].type, statisticsShape(inputs[0].shape)};
  return {sums, sums};
}

// The sum of function(o, r, c, s) over the elements of a statistic.
template <typename Function>
double sumOver(const Shape &shape, std::int64_t o, std::int64_t c,
               const Function &function) {
  double sum = 0;
  for (std::int64_t r = 0; r < shape[1]; ++r) {
    for (std::int64_t s = 0; s < shape[3]; ++s) {
      sum += function(o, r, c, s);
    }
  }
  return sum;
}

void referenceStatistics(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const auto &attributes = call.signature.attributes;
  const auto count = static_cast<double>(x.extent(1) * x.extent(3));
  const double divisor = attributes.getInt("unbiased") != 0 ? count - 1 : count;
  for (std::int64_t o = 0; o < x.extent(0); ++o) {
    for (std::int64_t c = 0; c < x.extent(2); ++c) {
      const double mean = sumOver(x.shape(), o, c, x) / count;
      const double squares = sumOver(x.shape(), o, c, [&](auto... at) {
        return (x(at...) - mean) * (x(at...) - mean);
      });
      outputView(call, 0).set(mean, o, c);
      outputView(call, 1).set(
          1 / std::sqrt(squares / divisor + attributes.getFloat("epsilon")), o,
          c);
    }
  }
}

// dx = invStdDev * (dy - mean(dy) - whitened * mean(dy * whitened)).
void referenceGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View whitened = inputView(call, 1);
  const View dx = outputView(call, 0);
  const auto count = static_cast<double>(dy.extent(1) * dy.extent(3));
  for (std::int64_t o = 0; o < dy.extent(0); ++o) {
    for (std::int64_t c = 0; c < dy.extent(2); ++c) {
      const double mean = sumOver(dy.shape(), o, c, dy) / count;
      const double product =
          sumOver(dy.shape(), o, c,
                  [&](auto... at) { return dy(at...) * whitened(at...); }) /
          count;
      sumOver(dy.shape(), o, c, [&](auto... at) {
        dx.set(inputView(call, 2)(o, c) *
                   (dy(at...) - mean - whitened(at...) * product),
               at...);
        return 0.0;
      });
    }
  }
}

void referenceParamGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View whitened = inputView(call, 1);
  for (std::int64_t o = 0; o < dy.extent(0); ++o) {
    for (std::int64_t c = 0; c < dy.extent(2); ++c) {
      outputView(call, 0).set(
          sumOver(dy.shape(), o, c,
                  [&](auto... at) { return dy(at...) * whitened(at...); }),
          o, c);
      outputView(call, 1).set(sumOver(dy.shape(), o, c, dy), o, c);
    }
  }
}

} // namespace

const Kind &normStatisticsKind() {
  static const Kind kind{"normStatistics", inferStatistics, referenceStatistics,
                         normStatisticsKernels()};
  return kind;
}

const Kind &normStatisticsGradKind() {
  static const Kind kind{"normStatisticsGrad", inferGrad, referenceGrad,
                         normStatisticsGradKernels()};
  return kind;
}

const Kind &normParamGradKind() {
  static const Kind kind{"normParamGrad", inferParamGrad, referenceParamGrad,
                         normParamGradKernels()};
  return kind;
}

} // namespace kernels
