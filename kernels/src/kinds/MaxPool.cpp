// "maxPool", which remembers where each maximum was, and its gradient.
#include "Kinds.hpp"

#include "PoolShape.hpp"
#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  requireInputCount("maxPool", inputs, 1);
  requireFloating("maxPool", "x", inputs[0]);
  const auto shape = poolShape("maxPool", attributes, inputs[0].shape);
  return {{inputs[0].type, shape.outputShape()},
          {DataType::UnsignedChar, shape.outputShape()}};
}

std::vector<TensorType> inferGrad(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  requireInputCount("maxPoolGrad", inputs, 2);
  requireFloating("maxPoolGrad", "dy", inputs[0]);
  requireType("maxPoolGrad", "indices", inputs[1], {DataType::UnsignedChar});
  const auto shape =
      poolShape("maxPoolGrad", attributes, attributes.getInts("inputShape"));
  requireShape("maxPoolGrad", "dy", inputs[0], shape.outputShape());
  requireShape("maxPoolGrad", "indices", inputs[1], shape.outputShape());
  return {{inputs[0].type, shape.inputShape()}};
}

// The position in the input of position (p, q) of a window.
struct Position {
  std::int64_t i, j;
  bool isInside;
};
Position inputPosition(const PoolShape &shape, std::int64_t oy, std::int64_t ox,
                       std::int64_t p, std::int64_t q) {
  const auto i = oy * shape.strides[0] + p - shape.padLower[0];
  const auto j = ox * shape.strides[1] + q - shape.padLower[1];
  return {i, j, i >= 0 && i < shape.in[0] && j >= 0 && j < shape.in[1]};
}

void referenceForward(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const View indices = outputView(call, 1);
  const auto shape = poolShape("maxPool", call.signature.attributes, x.shape());
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> at) {
    double best = -std::numeric_limits<double>::infinity();
    std::int64_t bestPosition = -1;
    for (std::int64_t p = 0; p < shape.kernel[0]; ++p) {
      for (std::int64_t q = 0; q < shape.kernel[1]; ++q) {
        const auto from = inputPosition(shape, at[2], at[3], p, q);
        if (!from.isInside) {
          continue;
        }
        double value = x(at[0], at[1], from.i, from.j);
        value = shape.hasRelu ? std::max(value, 0.0) : value;
        if (bestPosition < 0 || value > best) {
          best = value;
          bestPosition = p * shape.kernel[1] + q;
        }
      }
    }
    y.store(at, best);
    const bool isDead = shape.hasRelu && best <= 0;
    indices.store(at, isDead ? PoolShape::noPosition
                             : static_cast<double>(bestPosition));
  });
}

void referenceGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View indices = inputView(call, 1);
  const View dx = outputView(call, 0);
  const auto shape =
      poolShape("maxPoolGrad", call.signature.attributes, dx.shape());
  forEachIndex(dx.shape(), [&](std::span<const std::int64_t> at) {
    double sum = 0;
    for (std::int64_t oy = 0; oy < shape.out[0]; ++oy) {
      for (std::int64_t ox = 0; ox < shape.out[1]; ++ox) {
        const auto position =
            static_cast<std::int64_t>(indices(at[0], at[1], oy, ox));
        const auto to = inputPosition(shape, oy, ox, position / shape.kernel[1],
                                      position % shape.kernel[1]);
        const bool isDead = shape.hasRelu && position == PoolShape::noPosition;
        if (!isDead && to.i == at[2] && to.j == at[3]) {
          sum += dy(at[0], at[1], oy, ox);
        }
      }
    }
    dx.store(at, sum);
  });
}

} // namespace

const Kind &maxPoolKind() {
  static const Kind kind{"maxPool", inferForward, referenceForward,
                         maxPoolKernels()};
  return kind;
}

const Kind &maxPoolGradKind() {
  static const Kind kind{"maxPoolGrad", inferGrad, referenceGrad,
                         maxPoolGradKernels()};
  return kind;
}

} // namespace kernels
