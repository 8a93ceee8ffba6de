// Normalisations, softmax and dropout.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

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

// softmax(x, dim, dtype) over one dimension, brought last.
void lowerSoftmax(CallLowering &call) {
  TensorId x = call.tensorAs(0, call.resultInfo().dataType());
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

// dropout(x, p, train)
void lowerDropout(CallLowering &call) {
  if (!call.boolean(2) || call.real(1) == 0) {
    call.setResult(0, call.tensor(0));
    return;
  }
  Attributes attributes;
  attributes.set("ratio", static_cast<float>(call.real(1)));
  call.setResult(0, call.add("Dropout", {call.tensor(0)}, attributes));
}

} // namespace

std::vector<AtenRow> normRows() {
  return {
      {"aten::group_norm", lowerGroupNorm},
      {"aten::layer_norm", lowerLayerNorm},
      {"aten::softmax.int", lowerSoftmax, "Softmax"},
      {"aten::log_softmax.int", lowerSoftmax, "LogSoftmax"},
      {"aten::_softmax", lowerSoftmax, "Softmax"},
      {"aten::_log_softmax", lowerSoftmax, "LogSoftmax"},
      {"aten::dropout", lowerDropout},
  };
}

} // namespace poptorch
