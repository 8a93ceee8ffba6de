// Losses over margins, distances and distributions.
#include "AtenTable.hpp"
#include "Losses.hpp"
#include "Parts.hpp"

#include <cmath>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

// kl_div(x, target, reduction, log_target), x being logarithms: t (log t - x).
void lowerKlDiv(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId t = call.tensorAs(1, type);
  TensorId terms;
  if (call.boolean(3)) {
    terms = call.add("Mul", {call.add("Exp", {t}), call.add("Sub", {t, x})});
  } else {
    // Nothing where the target is nothing.
    TensorId isThere = call.add("Greater", {t, call.scalar(0, type)});
    TensorId safe = chosen(call, isThere, t, call.scalar(1, type));
    TensorId difference = call.add("Sub", {call.add("Log", {safe}), x});
    terms = chosen(call, isThere, call.add("Mul", {t, difference}),
                   call.scalar(0, type));
  }
  call.setResult(0, reducedLoss(call, terms, call.integer(2)));
}

// Stirling's approximation of log t!, for t > 1.
TensorId stirling(CallLowering &call, const TensorId &t) {
  DataType type = call.type(t);
  TensorId isLarge = call.add("Greater", {t, call.scalar(1, type)});
  TensorId safe = chosen(call, isLarge, t, call.scalar(1, type));
  TensorId logarithm = call.add("Log", {safe});
  TensorId value = call.add("Sub", {call.add("Mul", {t, logarithm}), t});
  TensorId half = call.times(call.plus(logarithm, std::log(2 * M_PI)), 0.5);
  return chosen(call, isLarge, call.add("Add", {value, half}),
                call.scalar(0, type));
}

// poisson_nll_loss(x, target, log_input, full, eps, reduction)
void lowerPoissonNll(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId t = call.tensorAs(1, type);
  bool isLog = call.boolean(2);
  TensorId rate = isLog ? call.add("Exp", {x}) : x;
  TensorId logarithm =
      isLog ? x : call.add("Log", {call.plus(x, call.real(4))});
  TensorId terms = call.add("Sub", {rate, call.add("Mul", {t, logarithm})});
  if (call.boolean(3)) {
    terms = call.add("Add", {terms, stirling(call, t)});
  }
  call.setResult(0, reducedLoss(call, terms, call.integer(5)));
}

// `value` where the target is not `other`, else nothing.
TensorId unlessTarget(CallLowering &call, const TensorId &target, double other,
                      const TensorId &value) {
  DataType type = call.type(value);
  TensorId compared = call.cast(target, type);
  TensorId isOther = call.add("Equal", {compared, call.scalar(other, type)});
  return chosen(call, isOther, call.scalar(0, type), value);
}

// hinge_embedding_loss(x, target, margin, reduction): x for targets of 1, what
// is missing to the margin for those of -1.
void lowerHingeEmbedding(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId x = call.tensorAs(0, type);
  TensorId target = call.tensor(1);
  TensorId missing =
      call.add("Relu", {call.plus(call.add("Neg", {x}), call.real(2))});
  TensorId terms = call.add("Add", {unlessTarget(call, target, 1, missing),
                                    unlessTarget(call, target, -1, x)});
  call.setResult(0, reducedLoss(call, terms, call.integer(3)));
}

// soft_margin_loss(x, target, reduction): log(1 + exp(-t x))
void lowerSoftMargin(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId product =
      call.add("Mul", {call.tensorAs(0, type), call.tensorAs(1, type)});
  TensorId terms = softplusOf(call, call.add("Neg", {product}));
  call.setResult(0, reducedLoss(call, terms, call.integer(2)));
}

// cosine_embedding_loss(a, b, target, margin, reduction)
void lowerCosineEmbedding(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId a = call.tensorAs(0, type);
  TensorId b = call.tensorAs(1, type);
  TensorId target = call.tensor(2);
  auto sum = [&](const TensorId &x, const TensorId &y) {
    TensorId product = call.add("Mul", {x, y});
    auto last = std::int64_t{call.rank(product)} - 1;
    return reducedOver(call, "ReduceSum", product, {last}, false);
  };
  constexpr double smallest = 1e-12;
  TensorId sizes = call.add(
      "Mul", {call.plus(sum(a, a), smallest), call.plus(sum(b, b), smallest)});
  TensorId cosine = call.add("Div", {sum(a, b), call.add("Sqrt", {sizes})});
  TensorId alike = call.plus(call.add("Neg", {cosine}), 1);
  TensorId unlike = call.add("Relu", {call.plus(cosine, -call.real(3))});
  TensorId terms = call.add("Add", {unlessTarget(call, target, -1, alike),
                                    unlessTarget(call, target, 1, unlike)});
  call.setResult(0, reducedLoss(call, terms, call.integer(4)));
}

// margin_ranking_loss(a, b, target, margin, reduction)
void lowerMarginRanking(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  TensorId difference =
      call.add("Sub", {call.tensorAs(1, type), call.tensorAs(0, type)});
  TensorId product = call.add("Mul", {difference, call.tensorAs(2, type)});
  TensorId terms = call.add("Relu", {call.plus(product, call.real(3))});
  call.setResult(0, reducedLoss(call, terms, call.integer(4)));
}

// triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
// reduction)
void lowerTripletMargin(CallLowering &call) {
  DataType type = call.resultInfo().dataType();
  auto distance = [&](std::size_t i, std::size_t j) {
    TensorId difference =
        call.add("Sub", {call.tensorAs(i, type), call.tensorAs(j, type)});
    auto last = std::int64_t{call.rank(difference)} - 1;
    return normOver(call, call.plus(difference, call.real(5)), call.real(4),
                    {last}, false);
  };
  TensorId far = distance(0, 2);
  if (call.boolean(6)) {
    far = call.add("Min", {far, distance(1, 2)});
  }
  TensorId excess = call.add("Sub", {distance(0, 1), far});
  TensorId terms = call.add("Relu", {call.plus(excess, call.real(3))});
  call.setResult(0, reducedLoss(call, terms, call.integer(7)));
}

// Scores as [samples, classes], targets as [samples, ...].
TensorId asRows(CallLowering &call, const TensorId &x, std::int64_t samples) {
  return call.reshape(x, {samples, call.info(x).nelms() / samples});
}

std::int64_t samplesOf(CallLowering &call, const TensorId &x) {
  return call.rank(x) == 2 ? call.shape(x)[0] : 1;
}

// multi_margin_loss(x, target, p, margin, weight, reduction): what other
// classes lack to the margin below the right one, by the number of classes.
void lowerMultiMargin(CallLowering &call) {
  TensorId x = call.tensor(0);
  DataType type = call.type(x);
  auto samples = samplesOf(call, x);
  x = asRows(call, x, samples);
  auto classes = call.shape(x)[1];
  TensorId target =
      asRows(call, call.tensorAs(1, DataType::INT32), samples); // [samples, 1]
  TensorId right = gatheredElements(call, x, target, 1);
  TensorId missing =
      call.add("Relu", {call.plus(call.add("Sub", {x, right}), call.real(3))});
  missing = call.real(2) == 2 ? call.add("Square", {missing}) : missing;
  TensorId isRight =
      call.add("Equal", {target, call.constant(numbersTo(classes), {classes})});
  missing = chosen(call, isRight, call.scalar(0, type), missing);
  if (!call.isNone(4)) {
    missing = call.add(
        "Mul", {missing, gathered(call, call.tensorAs(4, type), target, 0)});
  }
  // The weight of a sample has a dimension more behind.
  missing = call.reshape(missing, {samples, classes});
  TensorId terms =
      call.times(reducedOver(call, "ReduceSum", missing, {1}, false),
                 1 / static_cast<double>(classes));
  bool isOne = call.rank(call.tensor(0)) < 2 && call.integer(5) == 0;
  call.setResult(0, reducedLoss(call, isOne ? call.reshape(terms, {}) : terms,
                                call.integer(5)));
}

// multilabel_margin_loss_forward(x, target, reduction): targets are classes up
// to the first negative number. The second result is 1 for classes among them.
void lowerMultilabelMargin(CallLowering &call) {
  TensorId x = call.tensor(0);
  DataType type = call.type(x);
  auto samples = samplesOf(call, x);
  x = asRows(call, x, samples);
  auto classes = call.shape(x)[1];
  TensorId target = asRows(call, call.tensorAs(1, DataType::INT32), samples);
  TensorId zero = call.scalar(0, DataType::INT32);
  TensorId isEnd = call.cast(call.add("Less", {target, zero}), DataType::INT32);
  TensorId ends = call.add("CumSum", {isEnd},
                           popart::Attributes().set("axis", std::int64_t{1}));
  TensorId isThere = call.add("Equal", {ends, zero});
  TensorId inside = chosen(call, isThere, target, zero);
  TensorId right =
      call.reshape(gatheredElements(call, x, inside, 1), {samples, classes, 1});
  TensorId isClass =
      call.add("Equal", {call.reshape(target, {samples, classes, 1}),
                         call.constant(numbersTo(classes), {1, 1, classes})});
  isThere = call.reshape(isThere, {samples, classes, 1});
  TensorId isTarget = reducedOver(
      call, "ReduceMax",
      call.cast(call.add("And", {isClass, isThere}), DataType::INT32), {1},
      true);
  TensorId missing = call.add(
      "Relu",
      {call.plus(
          call.add("Sub", {call.reshape(x, {samples, 1, classes}), right}),
          1)});
  TensorId counts = call.add(
      "Mul", {call.cast(isThere, DataType::INT32),
              call.add("Sub", {call.scalar(1, DataType::INT32), isTarget})});
  missing = call.add("Mul", {missing, call.cast(counts, type)});
  TensorId terms =
      call.times(reducedOver(call, "ReduceSum", missing, {1, 2}, false),
                 1 / static_cast<double>(classes));
  bool isOne = call.rank(call.tensor(0)) < 2 && call.integer(2) == 0;
  call.setResult(0, reducedLoss(call, isOne ? call.reshape(terms, {}) : terms,
                                call.integer(2)));
  call.setResult(1, call.reshape(isTarget, call.resultInfo(1).shape()));
}

} // namespace

std::vector<AtenRow> marginLossRows() {
  std::vector<AtenRow> rows = {
      {"aten::kl_div", lowerKlDiv},
      {"aten::poisson_nll_loss", lowerPoissonNll},
      {"aten::hinge_embedding_loss", lowerHingeEmbedding},
      {"aten::soft_margin_loss", lowerSoftMargin},
      {"aten::cosine_embedding_loss", lowerCosineEmbedding},
      {"aten::margin_ranking_loss", lowerMarginRanking},
      {"aten::triplet_margin_loss", lowerTripletMargin},
      {"aten::multi_margin_loss", lowerMultiMargin},
      {"aten::multilabel_margin_loss_forward", lowerMultilabelMargin},
  };
  for (AtenRow &row : rows) {
    row.isLoss = true;
  }
  return rows;
}

} // namespace poptorch
