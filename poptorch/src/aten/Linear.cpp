// Matrix products and convolutions.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

#include <fmt/format.h>

#include <numeric>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

TensorId transposed(CallLowering &call, const TensorId &id) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(call.rank(id)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return call.transpose(id, order);
}

void lowerLinear(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId weight = transposed(call, call.tensorAs(1, type));
  TensorId y = call.add("MatMul", {call.tensorAs(0, type), weight});
  if (call.isTensor(2)) {
    y = call.add("Add", {y, call.tensorAs(2, type)});
  }
  call.setResult(0, y);
}

void lowerMatMul(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  TensorId b = call.tensorAs(1, type);
  // A vector is a matrix of one row (left) or one column (right).
  if (call.rank(a) == 1) {
    a = call.reshape(a, {1, call.shape(a)[0]});
  }
  if (call.rank(b) == 1) {
    b = call.reshape(b, {call.shape(b)[0], 1});
  }
  TensorId y = call.add("MatMul", {a, b});
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

// addmm, baddbmm, addmv: beta * input + alpha * (a @ b)
void lowerAddMatMul(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId b = call.tensorAs(2, type);
  if (call.rank(b) == 1) {
    b = call.reshape(b, {call.shape(b)[0], 1});
  }
  TensorId product =
      call.reshape(call.add("MatMul", {call.tensorAs(1, type), b}),
                   call.resultInfo().shape());
  TensorId input = call.times(call.tensorAs(0, type), call.real(3));
  call.setResult(0,
                 call.add("Add", {input, call.times(product, call.real(4))}));
}

// convolution(x, w, bias, stride, padding, dilation, transposed,
// outputPadding, groups); weights and bias take the type of the input.
void lowerConvolution(CallLowering &call) {
  TensorId x = call.tensor(0);
  DataType type = call.info(x).dataType();
  TensorId w = call.tensorAs(1, type);
  auto spatial = static_cast<std::size_t>(call.rank(x)) - 2;
  if (call.boolean(6)) {
    call.fail("transposed convolutions are not supported yet");
  }
  auto pads = call.integers(4, spatial, 0);
  pads.insert(pads.end(), pads.begin(), pads.end());
  Attributes attributes;
  attributes.set("strides", call.integers(3, spatial, 1))
      .set("pads", pads)
      .set("dilations", call.integers(5, spatial, 1))
      .set("group", call.integer(8));
  std::vector<TensorId> inputs = {x, w};
  if (call.isTensor(2)) {
    inputs.push_back(call.tensorAs(2, type));
  }
  call.setResult(0, call.add("Conv", inputs, attributes));
}

} // namespace

std::vector<AtenRow> linearRows() {
  return {
      {"aten::linear", lowerLinear},   {"aten::matmul", lowerMatMul},
      {"aten::mm", lowerMatMul},       {"aten::bmm", lowerMatMul},
      {"aten::mv", lowerMatMul},       {"aten::dot", lowerMatMul},
      {"aten::addmm", lowerAddMatMul}, {"aten::baddbmm", lowerAddMatMul},
      {"aten::addmv", lowerAddMatMul}, {"aten::convolution", lowerConvolution},
  };
}

} // namespace poptorch
