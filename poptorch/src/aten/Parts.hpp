// Building blocks that several families of operators are put together from.
#pragma once

#include "CallLowering.hpp"

#include <cstdint>
#include <vector>

namespace poptorch {

using Ints = std::vector<std::int64_t>;

bool isFloat(popart::DataType type);

// 0, 1, ..., count - 1.
Ints numbersTo(std::int64_t count);
// A shape with another size at `dim`.
popart::Shape withSize(popart::Shape shape, std::int64_t dim,
                       std::int64_t size);

// Argument `i` as dimensions of a tensor of this rank, counted from the front;
// all of them where there is none.
Ints dimsOf(const CallLowering &call, std::size_t i, popart::Rank rank);
std::int64_t dimOf(const CallLowering &call, std::size_t i, popart::Rank rank);

// Elements start, start + step, ... before `end` of a dimension.
popart::TensorId sliced(CallLowering &call, const popart::TensorId &x,
                        std::int64_t dim, std::int64_t start, std::int64_t end,
                        std::int64_t step = 1);
popart::TensorId reversed(CallLowering &call, const popart::TensorId &x,
                          std::int64_t dim);
popart::TensorId joined(CallLowering &call,
                        const std::vector<popart::TensorId> &parts,
                        std::int64_t dim);
popart::TensorId expanded(CallLowering &call, const popart::TensorId &x,
                          const popart::Shape &shape);
// Dimension `from` at place `to`, the others in their order.
popart::TensorId moved(CallLowering &call, const popart::TensorId &x,
                       std::int64_t from, std::int64_t to);
// "constant", "reflect" or "edge"; negative numbers take elements away.
popart::TensorId padded(CallLowering &call, const popart::TensorId &x,
                        const Ints &before, const Ints &after,
                        const char *mode = "constant", double value = 0);

// a where the condition holds, else b.
popart::TensorId chosen(CallLowering &call, const popart::TensorId &condition,
                        const popart::TensorId &a, const popart::TensorId &b);
popart::TensorId reducedOver(CallLowering &call, const char *type,
                             const popart::TensorId &x, const Ints &dims,
                             bool keeps);
// ln(1 + exp(x)), without overflow.
popart::TensorId softplusOf(CallLowering &call, const popart::TensorId &x);
// (sum of |x|^p)^(1/p) over dimensions, for any p.
popart::TensorId normOver(CallLowering &call, const popart::TensorId &x,
                          double p, const Ints &dims, bool keeps);

// Entries of `dim` by indices of any shape, which takes its place.
popart::TensorId gathered(CallLowering &call, const popart::TensorId &x,
                          const popart::TensorId &indices, std::int64_t dim);
// Elements by indices along `dim`, each at its own place in the others.
popart::TensorId gatheredElements(CallLowering &call, const popart::TensorId &x,
                                  const popart::TensorId &indices,
                                  std::int64_t dim);
// x with elements replaced, or with `isSum` added to, where indices say.
popart::TensorId scattered(CallLowering &call, const popart::TensorId &x,
                           const popart::TensorId &indices,
                           const popart::TensorId &updates, std::int64_t dim,
                           bool isSum);

} // namespace poptorch
