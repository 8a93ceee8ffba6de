// The fast kernels of reductions against the reference, over random shapes and
// views on both sides of every size at which they change their ways.
#include "RandomOperands.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

using enum DataType;

Attributes reduceOf(std::string op, Attributes::Ints dims, double scale = 1) {
  return {{"op", std::move(op)}, {"dims", std::move(dims)}, {"scale", scale}};
}

// Room for what a sum of that many floats loses.
double toleranceOf(const Call &call, DataType type, const std::string &op) {
  if (!support::isFloatingPoint(type)) {
    return 0;
  }
  if (op == "MIN" || op == "MAX") {
    return type == Half ? 1e-3 : 1e-6; // by the scale
  }
  const auto results = support::elementCount(call.outputTypes()[0].shape);
  const auto count = static_cast<double>(call.inputValues(0).size()) /
                     static_cast<double>(std::max<std::int64_t>(results, 1));
  return (type == Half ? 2e-3 : 1e-5) + 2e-7 * count;
}

Call randomReduction(RandomOperands &random, DataType type,
                     const std::string &op) {
  const bool isFloating = support::isFloatingPoint(type);
  const auto rank = static_cast<std::size_t>(random.between(0, 5));
  // Without any, a sum of exponentials has no logarithm.
  const Shape shape = random.shape(rank, 1 << 16, op != "LOG_ADD");
  Attributes::Ints dims;
  for (std::size_t d = 0; d < rank; ++d) {
    if (random.oneIn(2)) {
      dims.push_back(static_cast<std::int64_t>(d));
    }
  }
  auto attributes = reduceOf(op, dims, isFloating && random.oneIn(2) ? 0.5 : 1);
  if (isFloating && random.oneIn(4)) {
    attributes.set("outType",
                   std::int64_t(random.oneOf<DataType>({Float, Half})));
  }
  Call call("reduce", attributes, {random.view(type, shape)});
  call.outputStrides(0, random.strides(call.outputTypes()[0].shape, false));
  return call;
}

TEST(FastRandomReduce, MatchesForEveryTypeAndOperation) {
  forRandomCalls(400, [](RandomOperands &random) {
    const auto type =
        random.oneOf<DataType>({Float, Float, Half, Int, UnsignedInt, LongLong,
                                UnsignedLongLong, Bool});
    std::vector<std::string> ops{"ADD", "SQUARE_ADD", "MUL", "MIN", "MAX"};
    if (type == Bool) {
      ops = {"LOGICAL_AND", "LOGICAL_OR"};
    } else if (support::isFloatingPoint(type)) {
      ops.emplace_back("LOG_ADD");
    }
    const auto op = random.oneOf(ops);
    const auto call = randomReduction(random, type, op);
    expectFastMatchesReference(
        call, std::max(toleranceOf(call, type, op),
                       toleranceOf(call, call.outputTypes()[0].type, op)));
  });
}

// Two or more before it, two or more in it, more than a block behind it: what
// is kept is cut twice.
TEST(FastRandomReduce, TakesAMiddleDimensionOfManyColumns) {
  for (const auto type : {Float, Half, Int}) {
    for (const Shape &shape :
         {Shape{2, 3, 1025}, Shape{2, 2, 3, 1030}, Shape{1026, 2, 2},
          Shape{5, 3, 7, 1500}, Shape{3, 2, 5000}}) {
      for (const Attributes::Ints &dims : {Attributes::Ints{1}, {0}, {2}}) {
        expectFastMatchesReference(
            {"reduce", reduceOf("ADD", dims), {{{type, shape}, {}, {}}}},
            type == Half ? 2e-3 : 1e-4);
      }
    }
    // Permuted, at smaller sizes: [40, 50] kept around what is reduced.
    expectFastMatchesReference({"reduce",
                                reduceOf("MAX", {1}),
                                {{{type, {40, 3, 50}}, {1, 40, 120}, {}}}},
                               0);
  }
}

} // namespace
} // namespace kernels::testing
