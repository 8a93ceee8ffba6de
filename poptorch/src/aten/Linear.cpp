// Matrix products and convolutions.
#include "AtenTable.hpp"
#include "Parts.hpp"

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

// beta * input + alpha * product, the input being argument 0 and the factors
// arguments 3 and 4. What a factor of 0 leaves out is not looked at: it may be
// NaN. Outer products are (`isAlwaysRead`), as they are in torch.
void setWeightedSum(CallLowering &call, const TensorId &product,
                    bool isAlwaysRead = false) {
  TensorId input = call.tensorAs(0, call.type(product));
  double beta = call.real(3);
  double alpha = call.real(4);
  TensorId scaled = call.times(product, alpha);
  if (beta == 0) {
    call.setResult(0, scaled);
  } else if (alpha == 0 && !isAlwaysRead) {
    call.setResult(
        0, expanded(call, call.times(input, beta), call.resultInfo().shape()));
  } else {
    call.setResult(0, call.add("Add", {call.times(input, beta), scaled}));
  }
}

// addmm, baddbmm, addmv: beta * input + alpha * (a @ b)
void lowerAddMatMul(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId b = call.tensorAs(2, type);
  if (call.rank(b) == 1) {
    b = call.reshape(b, {call.shape(b)[0], 1});
  }
  setWeightedSum(call,
                 call.reshape(call.add("MatMul", {call.tensorAs(1, type), b}),
                              call.resultInfo().shape()));
}

// convolution(x, w, bias, stride, padding, dilation, transposed,
// outputPadding, groups); weights and bias take the type of the input.
void lowerConvolution(CallLowering &call) {
  TensorId x = call.tensor(0);
  DataType type = call.info(x).dataType();
  TensorId w = call.tensorAs(1, type);
  auto spatial = static_cast<std::size_t>(call.rank(x)) - 2;
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
  bool isTransposed = call.boolean(6);
  if (isTransposed) {
    attributes.set("output_padding", call.integers(7, spatial, 0));
  }
  call.setResult(
      0, call.add(isTransposed ? "ConvTranspose" : "Conv", inputs, attributes));
}

// addbmm(input, a, b, beta, alpha): the products of a batch are summed.
void lowerAddBmm(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId product =
      call.add("MatMul", {call.tensorAs(1, type), call.tensorAs(2, type)});
  setWeightedSum(call, reducedOver(call, "ReduceSum", product, {0}, false));
}

// addr(input, a, b, beta, alpha): the outer product.
void lowerAddr(CallLowering &call) {
  DataType type = arithmeticType(call.resultInfo().dataType());
  TensorId a = call.tensorAs(1, type);
  TensorId product = call.add(
      "Mul", {call.reshape(a, {call.shape(a)[0], 1}), call.tensorAs(2, type)});
  setWeightedSum(call, product, true);
}

// linalg_cross(a, b, dim): a[1] b[2] - a[2] b[1] and so on round.
void lowerCross(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  TensorId b = call.tensorAs(1, type);
  auto dim = dimOf(call, 2, call.rank(a));
  TensorId next = call.constant(Ints{1, 2, 0}, {3});
  TensorId last = call.constant(Ints{2, 0, 1}, {3});
  auto product = [&](const TensorId &i, const TensorId &j) {
    return call.add("Mul",
                    {gathered(call, a, i, dim), gathered(call, b, j, dim)});
  };
  call.setResult(0,
                 call.add("Sub", {product(next, last), product(last, next)}));
}

// _cdist_forward(a, b, p): distances of all rows of a from all rows of b.
void lowerCdist(CallLowering &call) {
  TensorId a = call.tensor(0);
  TensorId b = call.tensor(1);
  popart::Shape left = call.shape(a);
  popart::Shape right = call.shape(b);
  left.insert(left.end() - 1, 1);
  right.insert(right.end() - 2, 1);
  TensorId difference =
      call.add("Sub", {call.reshape(a, left), call.reshape(b, right)});
  auto last = static_cast<std::int64_t>(call.rank(difference)) - 1;
  call.setResult(0, normOver(call, difference, call.real(2), {last}, false));
}

// _trilinear(a, b, c, expand1, expand2, expand3, sumdim): the product of the
// three, each given the dimensions it lacks, summed over some.
void lowerTrilinear(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId product;
  for (std::size_t i = 0; i < 3; ++i) {
    TensorId x = call.tensorAs(i, type);
    popart::Shape shape = call.shape(x);
    for (std::int64_t dim : call.integers(3 + i)) {
      shape.insert(shape.begin() + dim, 1);
    }
    x = call.reshape(x, shape);
    product = product.empty() ? x : call.add("Mul", {product, x});
  }
  call.setResult(0, reducedOver(call, "ReduceSum", product,
                                dimsOf(call, 6, call.rank(product)), false));
}

} // namespace

std::vector<AtenRow> linearRows() {
  return {
      {"aten::linear", lowerLinear},
      {"aten::matmul", lowerMatMul},
      {"aten::mm", lowerMatMul},
      {"aten::bmm", lowerMatMul},
      {"aten::mv", lowerMatMul},
      {"aten::dot", lowerMatMul},
      {"aten::addmm", lowerAddMatMul},
      {"aten::baddbmm", lowerAddMatMul},
      {"aten::addmv", lowerAddMatMul},
      {"aten::convolution", lowerConvolution},
      {"aten::addbmm", lowerAddBmm},
      {"aten::addr", lowerAddr},
      {"aten::linalg_cross", lowerCross},
      {"aten::_cdist_forward", lowerCdist},
      {"aten::_trilinear", lowerTrilinear},
  };
}

} // namespace poptorch
