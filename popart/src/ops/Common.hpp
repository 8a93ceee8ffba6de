// What the rules of several operations share: checks, axes and broadcasting.
#pragma once

#include <kernels/Attributes.hpp>
#include <popart/error.hpp>
#include <popart/op.hpp>
#include <popart/sessionoptions.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <string>
#include <vector>

namespace popart {

// Throws popart::error, starting with the operation, when `condition` is false.
template <typename... Args>
void requireOp(const Op &op, bool condition,
               fmt::format_string<Args...> message, Args &&...args) {
  if (!condition) {
    throw error("[" + op.str() + "] " +
                fmt::format(message, std::forward<Args>(args)...));
  }
}

// The type of the built-in operator that it is, or whose class it is derived
// from: "Softmax" of a SoftmaxInplace.
const std::string &meaningOf(const Op &op);

// Inputs [0, least) are there and there are at most `most`.
void requireInputCount(const Op &op, int least, int most);
void requireRank(const Op &op, InIndex input, Rank rank);
void requireFloat(const Op &op, InIndex input);
bool isFloat(DataType type);
// Whether anything reads an output, in its graph or where that is called.
bool isRead(const Op &op, OutIndex output);

// The shape that NumPy's rules broadcast both to.
Shape broadcastShapes(const Op &op, const Shape &a, const Shape &b);
Shape broadcastInputs(const Op &op); // all of them

// `axis` counted from the front, whether or not it was given from the back.
std::int64_t normaliseAxis(const Op &op, std::int64_t axis, Rank rank);

// The "reduction" attribute, by name or by number; Mean when there is none.
ReductionType reductionOf(const Op &op);

// The type that a number of ONNX's TensorProto.DataType stands for.
DataType typeOfOnnx(const Op &op, std::int64_t number);

// A rank of ints from an attribute, or `count` times `fallback`.
Attributes::Ints intsOf(const Op &op, const std::string &name, int count,
                        std::int64_t fallback);

// The elements of an input that ONNX wants at compile time (a shape, axes,
// starts): it must be a constant INT64 or INT32 tensor.
Attributes::Ints constantInts(const Op &op, InIndex input);
// The elements of a constant FLOAT input.
std::vector<double> constantNumbers(const Op &op, InIndex input);
// The only element of a constant input, of any numeric type.
double constantScalar(const Op &op, InIndex input);
// The same of any tensor of one element.
double scalarOf(const Op &op, const TensorInfo &info,
                const std::vector<char> &data);

// The elements of a tensor of any numeric type; throws popart::error for
// others.
std::vector<double> numbersOf(const TensorInfo &info,
                              const std::vector<char> &data);

} // namespace popart
