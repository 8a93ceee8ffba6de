// "pool": the largest element, the mean or the sum of each window of the field;
// and "poolGrad". Elements of a window that lie in the padding do not count.
#include "Kinds.hpp"

#include "FieldPool.hpp"
#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

std::vector<TensorType> inferForward(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  requireInputCount("pool", inputs, 1);
  requireFloating("pool", "x", inputs[0]);
  const auto pool = fieldPool("pool", attributes, inputs[0].shape);
  return {{inputs[0].type, pool.outputShape()}};
}

std::vector<TensorType> inferGrad(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  const auto &shape = attributes.getInts("inputShape");
  const auto pool = fieldPool("poolGrad", attributes, shape);
  requireInputCount("poolGrad", inputs, pool.op == PoolOp::Max ? 3 : 1);
  requireFloating("poolGrad", "dy", inputs[0]);
  requireShape("poolGrad", "dy", inputs[0], pool.outputShape());
  if (pool.op == PoolOp::Max) {
    requireType("poolGrad", "x", inputs[1], {inputs[0].type});
    requireShape("poolGrad", "x", inputs[1], shape);
    requireType("poolGrad", "y", inputs[2], {inputs[0].type});
    requireShape("poolGrad", "y", inputs[2], pool.outputShape());
  }
  return {{inputs[0].type, shape}};
}

// Calls visit(index in the input) for the elements inside the window of an
// output.
template <typename Visit>
void forEachInWindow(const FieldPool &pool, std::span<const std::int64_t> at,
                     const Visit &visit) {
  Shape from(at.begin(), at.end());
  forEachIndex(pool.kernelShape(), [&](std::span<const std::int64_t> k) {
    bool isInside = true;
    for (std::size_t d = 0; d < pool.dims.size(); ++d) {
      from[d + 2] = pool.dims[d].inputOf(at[d + 2], k[d]);
      isInside = isInside && pool.dims[d].isInside(from[d + 2]);
    }
    if (isInside) {
      visit(std::span<const std::int64_t>(from));
    }
  });
}

void referenceForward(const ReferenceCall &call) {
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const auto pool = fieldPool("pool", call.signature.attributes, x.shape());
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> at) {
    double top = -std::numeric_limits<double>::infinity();
    double sum = 0;
    double count = 0;
    forEachInWindow(pool, at, [&](std::span<const std::int64_t> from) {
      top = std::max(top, x.load(from));
      sum += x.load(from);
      ++count;
    });
    y.store(at, pool.op == PoolOp::Max   ? top
                : pool.op == PoolOp::Sum ? sum
                                         : sum / std::max(count, 1.0));
  });
}

// The gradient of an output goes to every element of its window: an equal part
// for a mean, all of it for a sum, to those equal to the maximum otherwise,
// divided by their number when `scaled`.
void referenceGrad(const ReferenceCall &call) {
  const View dy = inputView(call, 0);
  const View dx = outputView(call, 0);
  const auto &attributes = call.signature.attributes;
  const auto pool = fieldPool("poolGrad", attributes, dx.shape());
  const bool isMax = pool.op == PoolOp::Max;
  const bool isDivided =
      pool.op == PoolOp::Average || (isMax && attributes.getInt("scaled") != 0);
  std::vector<double> sums(
      static_cast<std::size_t>(support::elementCount(dx.shape())));
  const auto strides = support::rowMajorStrides(dx.shape());
  forEachIndex(dy.shape(), [&](std::span<const std::int64_t> at) {
    const auto takes = [&](std::span<const std::int64_t> from) {
      return !isMax ||
             inputView(call, 1).load(from) == inputView(call, 2).load(at);
    };
    double count = 0;
    forEachInWindow(pool, at, [&](auto from) { count += takes(from) ? 1 : 0; });
    const double share = dy.load(at) / (isDivided ? std::max(count, 1.0) : 1);
    forEachInWindow(pool, at, [&](std::span<const std::int64_t> from) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < from.size(); ++d) {
        offset += from[d] * strides[d];
      }
      sums[static_cast<std::size_t>(offset)] += takes(from) ? share : 0;
    });
  });
  std::size_t next = 0;
  forEachIndex(dx.shape(), [&](auto at) { dx.store(at, sums[next++]); });
}

} // namespace

const Kind &poolKind() {
  static const Kind kind{"pool", inferForward, referenceForward, poolKernels()};
  return kind;
}

const Kind &poolGradKind() {
  static const Kind kind{"poolGrad", inferGrad, referenceGrad,
                         poolGradKernels()};
  return kind;
}

} // namespace kernels
