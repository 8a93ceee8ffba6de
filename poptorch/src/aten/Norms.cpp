// Normalisations and softmax.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <algorithm>
#include <numeric>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// The affine parameter at `i`, or a constant where the layer has none.
TensorId parameter(CallLowering &call, std::size_t i, double fallback,
                   std::int64_t channels, DataType type) {
  return call.isTensor(i)
             ? call.tensorAs(i, type)
             : call.filled(fallback, popart::TensorInfo(type, {channels}));
}

TensorId groupNorm(CallLowering &call, const TensorId &x, std::int64_t groups,
                   std::size_t weight, std::size_t bias, double epsilon) {
  DataType type = call.info(x).dataType();
  std::int64_t channels = call.shape(x)[1];
  Attributes attributes;
  attributes.set("num_groups", groups)
      .set("epsilon", static_cast<float>(epsilon));
  return call.addSeveral("ai.graphcore", "GroupNormalization",
                         {x, parameter(call, weight, 1, channels, type),
                          parameter(call, bias, 0, channels, type)},
                         3, attributes)[0];
}

// group_norm(x, groups, weight, bias, epsilon)
void lowerGroupNorm(CallLowering &call) {
  call.setResult(
      0, groupNorm(call, call.tensor(0), call.integer(1), 2, 3, call.real(4)));
}

// layer_norm(x, shape, weight, bias, epsilon): the normalised dimensions become
// the channels of a single group.
void lowerLayerNorm(CallLowering &call) {
  TensorId x = call.tensor(0);
  popart::Shape shape = call.shape(x);
  auto normalised = call.integers(1);
  std::int64_t channels = std::accumulate(normalised.begin(), normalised.end(),
                                          std::int64_t{1}, std::multiplies<>());
  TensorId rows = call.reshape(x, {call.info(x).nelms() / channels, channels});
  DataType type = call.info(x).dataType();
  Attributes attributes;
  attributes.set("num_groups", Attributes::Int{1})
      .set("epsilon", static_cast<float>(call.real(4)));
  TensorId weight =
      call.reshape(parameter(call, 2, 1, channels, type), {channels});
  TensorId bias =
      call.reshape(parameter(call, 3, 0, channels, type), {channels});
  TensorId y = call.addSeveral("ai.graphcore", "GroupNormalization",
                               {rows, weight, bias}, 3, attributes)[0];
  call.setResult(0, call.reshape(y, shape));
}

// Elements that each channel has.
double countPerChannel(CallLowering &call, const TensorId &x) {
  return static_cast<double>(call.info(x).nelms()) /
         static_cast<double>(call.shape(x)[1]);
}

// A running statistic, argument and result `i` of the call (its place there
// less 2), moved towards the batch's.
void setRunning(CallLowering &call, std::size_t i, const TensorId &batch,
                double momentum) {
  TensorId running = call.tensor(i);
  TensorId moved = call.times(call.cast(batch, call.type(running)), momentum);
  call.setResult(i - 2,
                 call.add("Add", {call.times(running, 1 - momentum), moved}));
}

// Inputs of rank 2 get a dimension: a field of one element.
TensorId withField(CallLowering &call, const TensorId &x) {
  popart::Shape shape = call.shape(x);
  shape.resize(std::max<std::size_t>(3, shape.size()), 1);
  return call.reshape(x, shape);
}

// batch_norm(x, weight, bias, mean, variance, training, momentum, epsilon);
// when training, the results behind the first are the running statistics, the
// variance being the unbiased one.
void lowerBatchNorm(CallLowering &call) {
  TensorId x = withField(call, call.tensor(0));
  DataType type = call.type(x);
  auto channels = call.shape(x)[1];
  DataType statistics = call.isTensor(3) ? call.type(call.tensor(3)) : type;
  bool isTraining = call.boolean(5);
  Attributes attributes;
  attributes.set("epsilon", static_cast<float>(call.real(7)));
  auto y = call.addSeveral("ai.onnx", "BatchNormalization",
                           {x, parameter(call, 1, 1, channels, type),
                            parameter(call, 2, 0, channels, type),
                            parameter(call, 3, 0, channels, statistics),
                            parameter(call, 4, 1, channels, statistics)},
                           isTraining ? 5 : 1, attributes);
  call.setResult(0, call.reshape(y[0], call.resultInfo().shape()));
  if (isTraining && call.isTensor(3)) {
    double n = countPerChannel(call, x);
    setRunning(call, 3, y[3], call.real(6));
    setRunning(call, 4, call.times(y[4], n / (n - 1)), call.real(6));
  }
}

// The means over instances of each channel's mean and unbiased variance.
void setInstanceStatistics(CallLowering &call, const TensorId &x) {
  Ints field = numbersTo(call.rank(x));
  field.erase(field.begin(), field.begin() + 2);
  TensorId mean = reducedOver(call, "ReduceMean", x, field, true);
  TensorId squares = reducedOver(
      call, "ReduceMean", call.add("Square", {call.add("Sub", {x, mean})}),
      field, true);
  double n = countPerChannel(call, x) / static_cast<double>(call.shape(x)[0]);
  Ints others = numbersTo(call.rank(x));
  others.erase(others.begin() + 1);
  setRunning(call, 3, reducedOver(call, "ReduceMean", mean, others, false),
             call.real(6));
  setRunning(call, 4,
             call.times(reducedOver(call, "ReduceMean", squares, others, false),
                        n / (n - 1)),
             call.real(6));
}

// instance_norm, with the arguments of batch_norm: one group for each channel.
void lowerInstanceNorm(CallLowering &call) {
  if (!call.boolean(5)) {
    lowerBatchNorm(call);
    return;
  }
  TensorId x = call.tensor(0);
  call.setResult(0, groupNorm(call, x, call.shape(x)[1], 1, 2, call.real(7)));
  if (call.isTensor(3)) {
    setInstanceStatistics(call, x);
  }
}

// _weight_norm_interface(v, g, dim): v with norms g over all dimensions but
// one; the second result is the norms of v.
void lowerWeightNorm(CallLowering &call) {
  TensorId v = call.tensor(0);
  Ints dims = numbersTo(call.rank(v));
  dims.erase(dims.begin() + dimOf(call, 2, call.rank(v)));
  TensorId norm = normOver(call, v, 2, dims, true);
  TensorId factor = call.add("Div", {call.tensor(1), norm});
  call.setResult(0, call.add("Mul", {v, factor}));
  call.setResult(1, norm);
}

// softmax(x, dim, dtype) over one dimension, brought last.
void lowerSoftmax(CallLowering &call) {
  TensorId x = withDims(call, call.tensorAs(0, call.resultInfo().dataType()));
  popart::Rank rank = call.rank(x);
  std::int64_t dim = CallLowering::normalise(call.integer(1), rank);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(dim)], order.back());
  Attributes attributes;
  attributes.set("axis", std::int64_t{rank - 1});
  TensorId y =
      call.add(call.popartType(), {call.transpose(x, order)}, attributes);
  call.setResult(0, call.transpose(y, order));
}

} // namespace

std::vector<AtenRow> normRows() {
  return {
      {"aten::batch_norm", lowerBatchNorm},
      {"aten::instance_norm", lowerInstanceNorm},
      {"aten::group_norm", lowerGroupNorm},
      {"aten::layer_norm", lowerLayerNorm},
      {"aten::_weight_norm_interface", lowerWeightNorm},
      {"aten::softmax.int", lowerSoftmax, "Softmax"},
      {"aten::log_softmax.int", lowerSoftmax, "LogSoftmax"},
      {"aten::_softmax", lowerSoftmax, "Softmax"},
      {"aten::_log_softmax", lowerSoftmax, "LogSoftmax"},
  };
}

} // namespace poptorch
