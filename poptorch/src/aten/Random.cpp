// Random numbers: every distribution is made of uniform or normal numbers.
#include "Random.hpp"

#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// FLOAT unless the result is FLOAT16; of the result's shape.
popart::TensorInfo drawnInfo(const CallLowering &call) {
  const popart::TensorInfo &info = call.resultInfo();
  bool isHalf = info.dataType() == DataType::FLOAT16;
  return {isHalf ? DataType::FLOAT16 : DataType::FLOAT, info.shape()};
}

TensorId draw(CallLowering &call, const char *type,
              const popart::TensorInfo &info, Attributes attributes) {
  // ONNX's numbers of the types.
  Attributes::Int dtype = info.dataType() == DataType::FLOAT16 ? 10 : 1;
  attributes.set("shape", info.shape()).set("dtype", dtype);
  return call.add(type, {}, attributes);
}

TensorId normal(CallLowering &call, double mean, double deviation) {
  return draw(call, "RandomNormal", drawnInfo(call),
              Attributes()
                  .set("mean", static_cast<float>(mean))
                  .set("scale", static_cast<float>(deviation)));
}

void lowerRand(CallLowering &call) {
  call.setResult(0, uniform(call, drawnInfo(call), 0, 1));
}

void lowerRandn(CallLowering &call) {
  call.setResult(0, normal(call, 0, 1));
}

// uniform_(x, from, to)
void lowerUniform(CallLowering &call) {
  call.setResult(0, uniform(call, drawnInfo(call), call.real(1), call.real(2)));
}

// normal_(x, mean, deviation)
void lowerNormalInPlace(CallLowering &call) {
  call.setResult(0, normal(call, call.real(1), call.real(2)));
}

// normal(mean, deviation), either of which may be a tensor.
void lowerNormal(CallLowering &call) {
  DataType type = drawnInfo(call).dataType();
  TensorId noise =
      call.add("Mul", {normal(call, 0, 1), call.tensorAs(1, type)});
  call.setResult(0, call.add("Add", {noise, call.tensorAs(0, type)}));
}

// exponential_(x, rate): the inverse of the distribution.
void lowerExponential(CallLowering &call) {
  TensorId u = uniform(call, drawnInfo(call), 0, 1);
  TensorId logarithm = call.add("Log1p", {call.add("Neg", {u})});
  call.setResult(0, call.times(logarithm, -1 / call.real(1)));
}

// bernoulli(p), bernoulli_(x, p): 1 with a probability.
void lowerBernoulli(CallLowering &call) {
  std::size_t p = call.call().op == "aten::bernoulli" ? 0 : 1;
  TensorId u =
      uniform(call, {DataType::FLOAT, call.resultInfo().shape()}, 0, 1);
  call.setResult(0, call.add("Less", {u, call.tensorAs(p, DataType::FLOAT)}));
}

// Whole numbers of [low, high).
TensorId whole(CallLowering &call, double low, double high) {
  DataType type = DataType::FLOAT;
  TensorId u = uniform(call, {type, call.resultInfo().shape()}, low, high);
  // The upper end may be rounded to.
  return call.add("Min", {call.add("Floor", {u}), call.scalar(high - 1, type)});
}

// randint(high, ...) and randint(low, high, ...); randint_like has a tensor
// first.
void lowerRandint(CallLowering &call) {
  const std::string &op = call.call().op;
  std::size_t first = op.starts_with("aten::randint_like") ? 1 : 0;
  bool hasLow = op.find(".low") != std::string::npos;
  double low = hasLow ? call.real(first) : 0;
  call.setResult(0, whole(call, low, call.real(first + (hasLow ? 1 : 0))));
}

// random_(x), random_(x, to), random_(x, from, to): as many numbers as FLOAT
// can tell apart where no end is given.
void lowerRandomInPlace(CallLowering &call) {
  bool hasFrom = call.call().op == "aten::random.from";
  double low = hasFrom ? call.real(1) : 0;
  std::size_t end = hasFrom ? 2 : 1;
  bool hasEnd = call.call().op != "aten::random" && !call.isNone(end);
  call.setResult(0, whole(call, low, hasEnd ? call.real(end) : 1 << 24));
}

// randperm(n): the order of random numbers.
void lowerRandperm(CallLowering &call) {
  auto count = call.resultInfo().shape()[0];
  TensorId u = uniform(call, {DataType::FLOAT, {count}}, 0, 1);
  call.setResult(
      0, call.addSeveral(
             "ai.onnx", "TopK", {u}, 2,
             Attributes().set("axis", Attributes::Int{0}).set("k", count))[1]);
}

// dropout(x, p, train), and feature_dropout, which drops whole channels.
void lowerDropout(CallLowering &call) {
  TensorId x = call.tensor(0);
  double p = call.real(1);
  if (!call.boolean(2) || p == 0) {
    call.setResult(0, x);
    return;
  }
  if (p == 1) {
    call.setResult(0, call.times(x, 0));
    return;
  }
  Attributes attributes;
  attributes.set("ratio", static_cast<float>(p));
  if (call.call().op == "aten::dropout") {
    call.setResult(0, call.add("Dropout", {x}, attributes));
    return;
  }
  popart::Shape shape(call.shape(x).size(), 1);
  std::copy_n(call.shape(x).begin(), 2, shape.begin());
  attributes.set("shape", shape);
  call.setResult(0, call.addGraphcore("ShapedDropout", {x}, attributes));
}

} // namespace

TensorId uniform(CallLowering &call, const popart::TensorInfo &info, double low,
                 double high) {
  return draw(call, "RandomUniform", info,
              Attributes()
                  .set("low", static_cast<float>(low))
                  .set("high", static_cast<float>(high)));
}

std::vector<AtenRow> randomRows() {
  return {
      {"aten::rand", lowerRand},
      {"aten::rand_like", lowerRand},
      {"aten::randn", lowerRandn},
      {"aten::randn_like", lowerRandn},
      {"aten::uniform", lowerUniform},
      {"aten::normal", lowerNormalInPlace},
      {"aten::normal.float_float", lowerNormal},
      {"aten::normal.Tensor_float", lowerNormal},
      {"aten::normal.float_Tensor", lowerNormal},
      {"aten::normal.Tensor_Tensor", lowerNormal},
      {"aten::exponential", lowerExponential},
      {"aten::bernoulli", lowerBernoulli},
      {"aten::bernoulli.float", lowerBernoulli},
      {"aten::bernoulli.Tensor", lowerBernoulli},
      {"aten::randint", lowerRandint},
      {"aten::randint.low", lowerRandint},
      {"aten::randint_like", lowerRandint},
      {"aten::randint_like.low_dtype", lowerRandint},
      {"aten::random", lowerRandomInPlace},
      {"aten::random.to", lowerRandomInPlace},
      {"aten::random.from", lowerRandomInPlace},
      {"aten::randperm", lowerRandperm},
      {"aten::dropout", lowerDropout},
      {"aten::feature_dropout", lowerDropout},
  };
}

} // namespace poptorch
