// Losses of predictions: element-wise terms and a reduction, or PopART's own
// operation.
#include "Losses.hpp"

#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

void lowerMse(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId difference =
      call.add("Sub", {call.tensorAs(0, type), call.tensorAs(1, type)});
  call.setResult(
      0, reducedLoss(call, call.add("Square", {difference}), call.integer(2)));
}

void lowerL1(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId difference =
      call.add("Sub", {call.tensorAs(0, type), call.tensorAs(1, type)});
  call.setResult(
      0, reducedLoss(call, call.add("Abs", {difference}), call.integer(2)));
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
      0, reducedLoss(call, smoothTerms(call, beta, 1 / beta), call.integer(2)));
}

// huber_loss(x, t, reduction, delta)
void lowerHuber(CallLowering &call) {
  call.setResult(0, reducedLoss(call, smoothTerms(call, call.real(3), 1),
                                call.integer(2)));
}

// (1 - t) * x + (1 + (w - 1) * t) * softplus(-x), where w is the weight of
// positive ones; with w = 1 that is softplus(x) - t * x.
void lowerBceWithLogits(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId t = call.tensorAs(1, type);
  TensorId terms;
  if (call.isNone(3)) {
    terms = call.add("Sub", {softplusOf(call, x), call.add("Mul", {x, t})});
  } else {
    TensorId w = call.plus(call.tensorAs(3, type), -1);
    TensorId factor = call.plus(call.add("Mul", {w, t}), 1);
    TensorId tail = softplusOf(call, call.add("Neg", {x}));
    TensorId rest = call.plus(call.add("Neg", {t}), 1);
    terms = call.add(
        "Add", {call.add("Mul", {rest, x}), call.add("Mul", {factor, tail})});
  }
  if (call.isTensor(2)) {
    terms = call.add("Mul", {terms, call.tensorAs(2, type)});
  }
  call.setResult(0, reducedLoss(call, terms, call.integer(4)));
}

// -(t * log(x) + (1 - t) * log(1 - x)), the logarithms at least -100. What the
// gradient divides by is not 0 where x is 0 or 1, which sigmoids round to.
void lowerBce(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  std::string gradient = fmt::format(
      "g*(a-b)/max((1-a)*a,{})", type == DataType::FLOAT16 ? 6.104e-5 : 1e-12);
  TensorId terms =
      byFormula(call, {call.tensorAs(0, type), call.tensorAs(1, type)},
                "-(b*max(log(a),-100)+(1-b)*max(log(1-a),-100))",
                {gradient, "g*(max(log(1-a),-100)-max(log(a),-100))"});
  if (call.isTensor(2)) {
    terms = call.add("Mul", {terms, call.tensorAs(2, type)});
  }
  call.setResult(0, reducedLoss(call, terms, call.integer(3)));
}

// The lengths at argument `i`, a list or a tensor.
TensorId lengthsOf(CallLowering &call, std::size_t i) {
  if (call.isTensor(i)) {
    return call.tensorAs(i, DataType::INT32);
  }
  auto lengths = call.integers(i);
  return call.constant(lengths, {static_cast<std::int64_t>(lengths.size())});
}

// ctc_loss(x, targets, input_lengths, target_lengths, blank, reduction,
// zero_infinity)
void lowerCtc(CallLowering &call) {
  auto reduction = static_cast<Reduction>(call.integer(5));
  if (reduction == Reduction::None) {
    call.fail("CTCLoss with reduction=\"none\" is currently not supported");
  }
  TensorId targets = call.tensorAs(1, DataType::INT32);
  if (call.rank(call.tensor(0)) != 3 || call.rank(targets) != 2) {
    call.fail("log probabilities must be [time, batch, classes] and targets "
              "[batch, length], padded");
  }
  call.setResult(
      0, call.addGraphcore(
             "Ctcloss",
             {call.tensor(0), targets, lengthsOf(call, 2), lengthsOf(call, 3)},
             Attributes()
                 .set("reduction", popartReduction(reduction))
                 .set("blank", call.integer(4))
                 .set("zeroInfinity", Attributes::Int{call.boolean(6)})));
}

// poptorch::identity_loss(x, reduction), whose numbers are sum, mean, none.
void lowerIdentityLoss(CallLowering &call) {
  Attributes attributes;
  attributes.set("reduction", call.integer(1));
  call.setResult(
      0, call.addGraphcore("IdentityLoss", {call.tensor(0)}, attributes));
}

} // namespace

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

TensorId reducedLoss(CallLowering &call, const TensorId &terms,
                     std::int64_t reduction) {
  Attributes attributes;
  attributes.set("reduction",
                 popartReduction(static_cast<Reduction>(reduction)));
  return call.addGraphcore("IdentityLoss", {terms}, attributes);
}

std::vector<AtenRow> lossRows() {
  std::vector<AtenRow> rows = {
      {"aten::mse_loss", lowerMse},
      {"aten::l1_loss", lowerL1},
      {"aten::smooth_l1_loss", lowerSmoothL1},
      {"aten::huber_loss", lowerHuber},
      {"aten::binary_cross_entropy", lowerBce},
      {"aten::binary_cross_entropy_with_logits", lowerBceWithLogits},
      {"aten::ctc_loss.IntList", lowerCtc},
      {"aten::ctc_loss.Tensor", lowerCtc},
      {"poptorch::identity_loss", lowerIdentityLoss},
  };
  for (AtenRow &row : rows) {
    row.isLoss = true;
  }
  return rows;
}

} // namespace poptorch
