// Building blocks that several families of operators are put together from.
#pragma once

#include "CallLowering.hpp"

#include <cstdint>
#include <vector>

namespace poptorch {

using Ints = std::vector<std::int64_t>;

bool isFloat(popart::DataType type);
// Truth values are added and multiplied as numbers.
popart::DataType arithmeticType(popart::DataType type);

// 0, 1, ..., count - 1.
Ints numbersTo(std::int64_t count);
// A shape with another size at `dim`.
popart::Shape withSize(popart::Shape shape, std::int64_t dim,
                       std::int64_t size);

// Argument `i` as dimensions of a tensor of this rank, counted from the front;
// all of them where there is none. A scalar has none, whatever is named.
Ints dimsOf(const CallLowering &call, std::size_t i, popart::Rank rank);
std::int64_t dimOf(const CallLowering &call, std::size_t i, popart::Rank rank);

// An operand of an operator along a dimension: torch takes a scalar for a
// vector of one element there, whose only dimension is 0 or -1.
popart::TensorId withDims(CallLowering &call, const popart::TensorId &x);

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

// The type that the operands are brought to: the result's, unless that is BOOL
// (comparisons), where it is the widest operand's.
popart::DataType operandType(CallLowering &call, std::size_t count);
// An element-wise function of operands a, b and c of one type: infix text, as
// kernels::Expression reads it, and the gradients by operand, over g (the
// result's gradient) and y (the result) too. "0" is a gradient of zeros; where
// there is none, it stops.
popart::TensorId byFormula(CallLowering &call,
                           const std::vector<popart::TensorId> &operands,
                           const std::string &value,
                           const std::vector<std::string> &gradients,
                           bool isPredicate = false);
// A number as such text has it.
std::string numberText(double number);

// a where the condition holds, else b.
popart::TensorId chosen(CallLowering &call, const popart::TensorId &condition,
                        const popart::TensorId &a, const popart::TensorId &b);
popart::TensorId reducedOver(CallLowering &call, const char *type,
                             const popart::TensorId &x, const Ints &dims,
                             bool keeps);
// a / b, rounded down, as Python has it: what the remainder leaves is a
// multiple of b. Rounding a / b instead would round twice: 1 // 0.1 is 9,
// not 10.
popart::TensorId flooredQuotient(CallLowering &call, const popart::TensorId &a,
                                 const popart::TensorId &b);
// ln(1 + exp(x)), without overflow.
popart::TensorId softplusOf(CallLowering &call, const popart::TensorId &x);
// (sum of |x|^p)^(1/p) over dimensions, for any p.
popart::TensorId normOver(CallLowering &call, const popart::TensorId &x,
                          double p, const Ints &dims, bool keeps);

// x; where any element of `isWrong` is true, the run ends with an error that
// says so.
popart::TensorId required(CallLowering &call, const popart::TensorId &x,
                          const popart::TensorId &isWrong,
                          const std::string &message);

// Entries of `dim` by indices of any shape, which takes its place.
popart::TensorId gathered(CallLowering &call, const popart::TensorId &x,
                          const popart::TensorId &indices, std::int64_t dim);
// Elements by indices along `dim`, each at its own place in the others.
popart::TensorId gatheredElements(CallLowering &call, const popart::TensorId &x,
                                  const popart::TensorId &indices,
                                  std::int64_t dim);
// In a type whose elements are updated in place: truth values and small
// integers are not.
popart::TensorId updatable(CallLowering &call, const popart::TensorId &x);
// x with elements replaced, or with `isSum` added to, where indices say.
popart::TensorId scattered(CallLowering &call, const popart::TensorId &x,
                           const popart::TensorId &indices,
                           const popart::TensorId &updates, std::int64_t dim,
                           bool isSum);

} // namespace poptorch
