// Operators that move elements without changing them, and casts.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <numeric>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

// Every kind of view with the same elements in the same order: torch worked
// out the shape.
void lowerReshape(CallLowering &call) {
  call.setResult(0, call.reshape(call.tensor(0), call.resultInfo().shape()));
}

void lowerIdentity(CallLowering &call) {
  call.setResult(0, call.tensor(0));
}

void lowerDetach(CallLowering &call) {
  call.setResult(0, call.isTraining()
                        ? call.addGraphcore("Detach", {call.tensor(0)})
                        : call.tensor(0));
}

void lowerPermute(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto order = call.integers(1);
  for (std::int64_t &d : order) {
    d = CallLowering::normalise(d, call.rank(x));
  }
  call.setResult(0, call.transpose(x, order));
}

// t(x) and transpose(x, a, b)
void lowerTranspose(CallLowering &call) {
  TensorId x = call.tensor(0);
  popart::Rank rank = call.rank(x);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (rank >= 2) {
    bool isGiven = call.argumentCount() > 1;
    auto a = CallLowering::normalise(isGiven ? call.integer(1) : 0, rank);
    auto b = CallLowering::normalise(isGiven ? call.integer(2) : 1, rank);
    std::swap(order[static_cast<std::size_t>(a)],
              order[static_cast<std::size_t>(b)]);
  }
  call.setResult(0, call.transpose(x, order));
}

// _to_copy and copy: the result's type says what to cast to.
void lowerCast(CallLowering &call) {
  TensorId x = call.tensor(0);
  DataType type = call.resultInfo().dataType();
  bool isSmall = type == DataType::INT8 || type == DataType::UINT8 ||
                 type == DataType::INT16;
  if (isSmall && isFloat(call.type(x))) {
    x = call.cast(x, DataType::INT32); // wraps, as torch's do
  }
  call.setResult(0, call.cast(x, type));
}

// x = value everywhere, in x's shape.
void lowerFill(CallLowering &call) {
  double value = call.call().op == "aten::zero" ? 0 : call.real(1);
  call.setResult(0, call.filled(value, call.resultInfo()));
}

// copy(x, source): the source, broadcast to x's shape.
void lowerCopy(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId source = call.tensorAs(1, type);
  if (call.shape(source) != call.resultInfo().shape()) {
    source = call.add(
        "Add",
        {call.filled(0, popart::TensorInfo(type, call.resultInfo().shape())),
         source});
  }
  call.setResult(0, source);
}

} // namespace

std::vector<AtenRow> shapeRows() {
  return {
      {"aten::view", lowerReshape},
      {"aten::reshape", lowerReshape},
      {"aten::_reshape_alias", lowerReshape},
      {"aten::_unsafe_view", lowerReshape},
      {"aten::flatten.using_ints", lowerReshape},
      {"aten::unsqueeze", lowerReshape},
      {"aten::squeeze", lowerReshape},
      {"aten::squeeze.dim", lowerReshape},
      {"aten::alias", lowerIdentity},
      {"aten::clone", lowerIdentity},
      {"aten::contiguous", lowerIdentity},
      {"aten::lift_fresh", lowerIdentity},
      {"aten::detach", lowerDetach},
      {"aten::permute", lowerPermute},
      {"aten::t", lowerTranspose},
      {"aten::transpose.int", lowerTranspose},
      {"aten::_to_copy", lowerCast},
      {"aten::copy", lowerCopy},
      {"aten::fill.Scalar", lowerFill},
      {"aten::zero", lowerFill},
      {"aten::fill.Tensor", lowerCopy},
  };
}

} // namespace poptorch
