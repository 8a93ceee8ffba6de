// Losses: element-wise terms and a reduction, or PopART's own operation.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

#include <numeric>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// torch's numbers; PopART's are Sum, Mean, None.
enum class Reduction { None = 0, Mean = 1, Sum = 2 };

Attributes::Int popartReduction(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
    return 0;
  case Reduction::Mean:
    return 1;
  default:
    return 2;
  }
}

// The loss from its terms.
TensorId reduced(CallLowering &call, const TensorId &terms,
                 std::int64_t reduction) {
  Attributes attributes;
  attributes.set("reduction",
                 popartReduction(static_cast<Reduction>(reduction)));
  return call.addGraphcore("IdentityLoss", {terms}, attributes);
}

// Log-probabilities with the classes last, as PopART wants them; torch has
// them second.
TensorId classesLast(CallLowering &call, const TensorId &x) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(call.rank(x)));
  std::iota(order.begin(), order.end(), 0);
  if (order.size() > 2) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  }
  return call.transpose(x, order);
}

// nll_loss(x, labels, weight, reduction, ignore_index), the log-probabilities
// being given; cross_entropy_loss has its arguments in the same places.
void setNllLoss(CallLowering &call, const TensorId &logProbabilities) {
  if (!call.isNone(2)) {
    call.fail("Parameter \"weight\" is unsupported for " + call.call().op);
  }
  auto reduction = static_cast<Reduction>(call.integer(3));
  Attributes attributes;
  attributes.set("reduction", popartReduction(reduction))
      .set("ignoreIndex", call.integer(4))
      .set("inputIsLogProbability", Attributes::Int{1});
  TensorId labels = call.tensorAs(1, DataType::INT32);
  call.setResult(
      0, call.addGraphcore("Nllloss", {logProbabilities, labels}, attributes));
}

void lowerNllLoss(CallLowering &call) {
  setNllLoss(call, classesLast(call, call.tensor(0)));
}

// cross_entropy_loss(x, labels, weight, reduction, ignore_index, smoothing)
void lowerCrossEntropy(CallLowering &call) {
  if (call.real(5) != 0) {
    call.fail("label_smoothing is not supported yet");
  }
  if (call.shape(call.tensor(0)) == call.shape(call.tensor(1))) {
    call.fail("targets that are probabilities are not supported yet");
  }
  TensorId x = classesLast(call, call.tensor(0));
  Attributes attributes;
  attributes.set("axis", std::int64_t{call.rank(x) - 1});
  setNllLoss(call, call.add("LogSoftmax", {x}, attributes));
}

void lowerMse(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId difference =
      call.add("Sub", {call.tensorAs(0, type), call.tensorAs(1, type)});
  call.setResult(
      0, reduced(call, call.add("Square", {difference}), call.integer(2)));
}

void lowerL1(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId difference =
      call.add("Sub", {call.tensorAs(0, type), call.tensorAs(1, type)});
  call.setResult(0,
                 reduced(call, call.add("Abs", {difference}), call.integer(2)));
}

// With d = |x - t|: d^2 / (2 beta) below beta, d - beta / 2 above. The minimum
// m of d and beta says both: m * (d - m / 2) / beta.
TensorId smoothTerms(CallLowering &call, double beta, double scale) {
  DataType type = call.resultInfo().dataType();
  TensorId difference =
      call.add("Sub", {call.tensorAs(0, type), call.tensorAs(1, type)});
  TensorId d = call.add("Abs", {difference});
  TensorId m = call.add("Min", {d, call.scalar(beta, type)});
  TensorId terms =
      call.add("Mul", {m, call.add("Sub", {d, call.times(m, 0.5)})});
  return call.times(terms, scale);
}

// smooth_l1_loss(x, t, reduction, beta)
void lowerSmoothL1(CallLowering &call) {
  double beta = call.real(3);
  if (beta == 0) {
    lowerL1(call);
    return;
  }
  call.setResult(
      0, reduced(call, smoothTerms(call, beta, 1 / beta), call.integer(2)));
}

// huber_loss(x, t, reduction, delta)
void lowerHuber(CallLowering &call) {
  call.setResult(
      0, reduced(call, smoothTerms(call, call.real(3), 1), call.integer(2)));
}

// max(x, 0) - x * t + log(1 + exp(-|x|)), weighted.
void lowerBceWithLogits(CallLowering &call) {
  if (!call.isNone(3)) {
    call.fail("Parameter \"pos_weight\" is not supported yet");
  }
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId product = call.add("Mul", {x, call.tensorAs(1, type)});
  TensorId tail = call.add(
      "Log1p", {call.add("Exp", {call.add("Neg", {call.add("Abs", {x})})})});
  TensorId terms = call.add(
      "Add", {call.add("Sub", {call.add("Relu", {x}), product}), tail});
  if (call.isTensor(2)) {
    terms = call.add("Mul", {terms, call.tensorAs(2, type)});
  }
  call.setResult(0, reduced(call, terms, call.integer(4)));
}

// -(t * log(x) + (1 - t) * log(1 - x)), the logarithms at least -100.
void lowerBce(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId t = call.tensorAs(1, type);
  TensorId one = call.scalar(1, type);
  TensorId least = call.scalar(-100, type);
  TensorId logX = call.add("Max", {call.add("Log", {x}), least});
  TensorId logNotX =
      call.add("Max", {call.add("Log", {call.add("Sub", {one, x})}), least});
  TensorId sum =
      call.add("Add", {call.add("Mul", {t, logX}),
                       call.add("Mul", {call.add("Sub", {one, t}), logNotX})});
  TensorId terms = call.add("Neg", {sum});
  if (call.isTensor(2)) {
    terms = call.add("Mul", {terms, call.tensorAs(2, type)});
  }
  call.setResult(0, reduced(call, terms, call.integer(3)));
}

// poptorch::identity_loss(x, reduction), whose numbers are sum, mean, none.
void lowerIdentityLoss(CallLowering &call) {
  Attributes attributes;
  attributes.set("reduction", call.integer(1));
  call.setResult(
      0, call.addGraphcore("IdentityLoss", {call.tensor(0)}, attributes));
}

} // namespace

std::vector<AtenRow> lossRows() {
  std::vector<AtenRow> rows = {
      {"aten::nll_loss", lowerNllLoss},
      {"aten::nll_loss2d", lowerNllLoss},
      {"aten::nll_loss_nd", lowerNllLoss},
      {"aten::nll_loss_forward", lowerNllLoss},
      {"aten::cross_entropy_loss", lowerCrossEntropy},
      {"aten::mse_loss", lowerMse},
      {"aten::l1_loss", lowerL1},
      {"aten::smooth_l1_loss", lowerSmoothL1},
      {"aten::huber_loss", lowerHuber},
      {"aten::binary_cross_entropy", lowerBce},
      {"aten::binary_cross_entropy_with_logits", lowerBceWithLogits},
      {"poptorch::identity_loss", lowerIdentityLoss},
  };
  for (AtenRow &row : rows) {
    row.isLoss = true;
  }
  return rows;
}

} // namespace poptorch
