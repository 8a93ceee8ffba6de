// "softmax" and "logSoftmax" over the last dimension, and their gradients.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernels {

namespace {

void requireRow(std::string_view kind, const TensorType &x) {
  requireFloating(kind, "x", x);
  require(!x.shape.empty() && x.shape.back() >= 1,
          "[{}] x has shape {}; it must have a last dimension", kind,
          support::toString(x.shape));
}

std::vector<TensorType> inferForward(const Attributes &,
                                     std::span<const TensorType> inputs) {
  requireInputCount("softmax", inputs, 1);
  requireRow("softmax", inputs[0]);
  return {inputs[0]};
}

std::vector<TensorType> inferGrad(const Attributes &,
                                  std::span<const TensorType> inputs) {
  requireInputCount("softmaxGrad", inputs, 2);
  requireRow("softmaxGrad", inputs[0]);
  requireType("softmaxGrad", "y", inputs[1], {inputs[0].type});
  requireShape("softmaxGrad", "y", inputs[1], inputs[0].shape);
  return {inputs[0]};
}

// Calls visit(index) with the index of the first element of every row; visit
// may move along the last dimension.
template <typename Visit>
void forEachRow(const Shape &shape, const Visit &visit) {
  Shape rows = shape;
  rows.back() = 1;
  forEachIndex(rows, [&](std::span<const std::int64_t> at) {
    Shape index(at.begin(), at.end());
    visit(index);
  });
}

// The sum of f(index) along the row.
template <typename Function>
double sumRow(Shape &index, std::int64_t length, const Function &function) {
  double sum = 0;
  for (index.back() = 0; index.back() < length; ++index.back()) {
    sum += function(index);
  }
  return sum;
}

// y = f(x - max, log of the sum of exp(x - max)).
template <typename Function>
void forward(const ReferenceCall &call, const Function &function) {
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const std::int64_t length = x.shape().back();
  forEachRow(x.shape(), [&](Shape &index) {
    double top = -std::numeric_limits<double>::infinity();
    sumRow(index, length, [&](const Shape &at) {
      top = std::max(top, x.load(at));
      return 0.0;
    });
    const double logSum = std::log(sumRow(index, length, [&](const Shape &at) {
      return std::exp(x.load(at) - top);
    }));
    for (index.back() = 0; index.back() < length; ++index.back()) {
      y.store(index, function(x.load(index) - top, logSum));
    }
  });
}

void referenceSoftmax(const ReferenceCall &call) {
  forward(call, [](double x, double logSum) { return std::exp(x - logSum); });
}

void referenceLogSoftmax(const ReferenceCall &call) {
  forward(call, [](double x, double logSum) { return x - logSum; });
}

// dx = y * (dy - sum(dy * y)).
void referenceSoftmaxGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View y = inputView(call, 1);
  const View dx = outputView(call, 0);
  const std::int64_t length = dy.shape().back();
  forEachRow(dy.shape(), [&](Shape &index) {
    const double sum = sumRow(index, length, [&](const Shape &at) {
      return dy.load(at) * y.load(at);
    });
    for (index.back() = 0; index.back() < length; ++index.back()) {
      dx.store(index, y.load(index) * (dy.load(index) - sum));
    }
  });
}

// dx = dy - exp(y) * sum(dy).
void referenceLogSoftmaxGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View y = inputView(call, 1);
  const View dx = outputView(call, 0);
  const std::int64_t length = dy.shape().back();
  forEachRow(dy.shape(), [&](Shape &index) {
    const double sum =
        sumRow(index, length, [&](const Shape &at) { return dy.load(at); });
    for (index.back() = 0; index.back() < length; ++index.back()) {
      dx.store(index, dy.load(index) - std::exp(y.load(index)) * sum);
    }
  });
}

// A row is read before it is written, element by element.
constexpr InPlacePair forwardInPlace[] = {{0, 0}};
constexpr InPlacePair gradInPlace[] = {{0, 0}, {1, 0}};

} // namespace

const Kind &softmaxKind() {
  static const Kind kind{"softmax", inferForward, referenceSoftmax,
                         softmaxKernels(), forwardInPlace};
  return kind;
}

const Kind &softmaxGradKind() {
  static const Kind kind{"softmaxGrad", inferGrad, referenceSoftmaxGrad,
                         softmaxGradKernels(), gradInPlace};
  return kind;
}

const Kind &logSoftmaxKind() {
  static const Kind kind{"logSoftmax", inferForward, referenceLogSoftmax,
                         logSoftmaxKernels(), forwardInPlace};
  return kind;
}

const Kind &logSoftmaxGradKind() {
  static const Kind kind{"logSoftmaxGrad", inferGrad, referenceLogSoftmaxGrad,
                         logSoftmaxGradKernels(), gradInPlace};
  return kind;
}

} // namespace kernels
